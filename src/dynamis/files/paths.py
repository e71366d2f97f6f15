"""Paths as users give them."""

from __future__ import annotations

import os
from pathlib import Path

from dynamis.errors import InputError


def path_of(given: str | os.PathLike[str]) -> Path:
    """The path of a file or folder.

    >>> path_of(3)
    Traceback (most recent call last):
    dynamis.errors.InputError: a path is text, such as 'results/arm.csv', or a pathlib.Path; got int
    """
    if isinstance(given, str | os.PathLike) and isinstance(path := os.fspath(given), str):
        return Path(path)
    raise InputError(f"a path is text, such as 'results/arm.csv', or a pathlib.Path; got {type(given).__name__}")
