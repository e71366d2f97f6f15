"""Readers: one file format each, all giving a `Description` and a `Report`."""
