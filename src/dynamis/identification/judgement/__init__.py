"""Judging an identification: statistics of a fit, validation on held-out motion, a verdict in words, pictures, a report."""
