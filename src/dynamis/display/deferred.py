"""Functions called by name: results do not import what draws or documents them."""

from __future__ import annotations

import importlib
from typing import Any


def call_by_name(name: str, *arguments: Any, **options: Any) -> Any:
    """Call "module:function". Results know only the names of what is made from them: figures, files, documents."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)(*arguments, **options)


def plotted(module: str, result: Any, *arguments: Any, function: str = "plot") -> Any:
    """Draw a result by a function of the package `plotting`."""
    return call_by_name(f"dynamis.plotting.{module}:{function}", result, *arguments)
