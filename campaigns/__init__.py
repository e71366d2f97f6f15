"""Long randomised runs of every reader: see `python -m campaigns --help`."""
