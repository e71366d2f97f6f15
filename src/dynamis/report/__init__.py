"""A report of a robot as one page. ``dynamis.report(…)`` writes one: the package is called like the function in it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """The function and the package share their name: whichever was imported first, calling it writes a report."""

    def __call__(self, *arguments: Any, **options: Any) -> Path:
        from dynamis.report.report import report

        return report(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
