"""Objects that are edited by their fields."""

from __future__ import annotations

from typing import Any

from dynamis.errors import near_names


class Fields:
    """Objects with given fields: others cannot be set, which would have no effect."""

    def __setattr__(self, name: str, value: Any) -> None:
        fields = type(self).__dict__.get("__dataclass_fields__", {})
        if fields and name not in fields:
            near = ", ".join(map(repr, near_names(name, fields) or fields))
            raise AttributeError(f"a {type(self).__name__} has no field {name!r}; there are {near}")
        super().__setattr__(name, value)
