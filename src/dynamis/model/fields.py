"""Objects that are edited by their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from dynamis.errors import InputError, near_names, unknown_name


class Fields:
    """Objects with given fields: others cannot be set, which would have no effect."""

    def __setattr__(self, name: str, value: Any) -> None:
        fields = type(self).__dict__.get("__dataclass_fields__", {})
        if fields and name not in fields:
            raise AttributeError(self._without(name, fields, lambda part: getattr(type(part), "__dataclass_fields__", {})))
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        """Only for what is not there."""
        fields = type(self).__dict__.get("__dataclass_fields__", {})
        if name.startswith("_") or not fields:  # asked for by copy, pickle and notebooks
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        raise AttributeError(self._without(name, fields, lambda part: dir(type(part))))

    def _without(self, name: str, fields: Iterable[str], names: Callable[[Any], Iterable[str]]) -> str:
        near = near_names(name, fields)
        every = ", ".join(map(repr, [*near, *(field for field in fields if field not in near)]))
        parts = {field: part for field, part in vars(self).items() if isinstance(part, Fields)}
        inside = [f"{field}.{name}" for field, part in parts.items() if name in names(part)]
        hint = f". There is {' and '.join(inside)}" if inside else ""
        return f"a {type(self).__name__} has no field {name!r}; there are {every}{hint}"


def from_mapping(kind: Any, value: Any, name: str) -> Any:
    """An object of this class from the mapping of its fields; other values, and values without a class, as they are."""
    if kind is None or not isinstance(value, Mapping):
        return value
    known = {f.name: f.default is MISSING for f in fields(kind)}
    for key in value:
        if key not in known:
            raise unknown_name(f"entry of {name}", key, known)
    for key, required in known.items():
        if required and key not in value:
            raise InputError(f"{name} has no {key!r}")
    return kind(**value)
