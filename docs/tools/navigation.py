"""Navigation by pattern: an entry of ``nav`` such as ``decisions/*.md`` stands for all pages that match, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    config.nav = _expanded(config.nav, Path(config.docs_dir))
    return config


def _expanded(entries: list[Any], folder: Path) -> list[Any]:
    found: list[Any] = []
    for entry in entries:
        if isinstance(entry, str) and "*" in entry:
            found += [page.relative_to(folder).as_posix() for page in sorted(folder.glob(entry))]
        elif isinstance(entry, dict):
            found += [{title: _expanded(x, folder) if isinstance(x, list) else x} for title, x in entry.items()]
        else:
            found.append(entry)
    return found
