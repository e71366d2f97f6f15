"""Files: atomic writing, and limits of what is read."""
