"""What is going on, in one line on the terminal; no thread redraws it, which would take time from what is timed."""

from __future__ import annotations

import shutil
import sys


def tell(text: str) -> None:
    """Over the last line on a terminal, below it in a file; an empty text wipes it."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[2K{text[:width]}")
    elif text:
        sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
