"""Objects that are edited by their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dynamis.errors import near_names


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
