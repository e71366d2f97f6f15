"""Numbers or other symbols in place of the symbols of a description."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from dynamis.scalar import Node
from dynamis.scalar.substitution import substituted


def with_values(thing: Any, table: Mapping[Node, Any]) -> Any:
    """A description, or a part of one, with these numbers or expressions in place of symbols."""
    if isinstance(thing, Node):
        return substituted([thing], list(table), list(table.values()))[0]
    if isinstance(thing, np.ndarray):
        if thing.dtype != object:
            return thing
        values = [with_values(x, table) for x in thing.flat]
        return np.array(values, dtype=object if any(isinstance(x, Node) for x in values) else float).reshape(thing.shape)
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return type(thing)(*(with_values(x, table) for x in thing))
    if isinstance(thing, list | tuple):
        return type(thing)(with_values(x, table) for x in thing)
    if isinstance(thing, dict):
        return {name: with_values(x, table) for name, x in thing.items()}
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return dataclasses.replace(
            thing, **{f.name: with_values(getattr(thing, f.name), table) for f in dataclasses.fields(thing)}
        )
    return thing
