"""Matplotlib figures of results: a module for each, which the method ``plot`` of the result calls by name."""
