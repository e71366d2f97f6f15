"""Compiled functions as functions and models of other libraries."""
