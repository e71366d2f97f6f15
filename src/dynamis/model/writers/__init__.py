"""Writers: one file format each."""
