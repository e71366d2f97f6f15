"""Robots: editable descriptions, the frozen model, file formats, and the library."""
