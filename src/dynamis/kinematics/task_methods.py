"""Check of the first argument of the methods of tasks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from dynamis.errors import InputError, type_of

Method = TypeVar("Method", bound=Callable[..., Any])


def of_a_robot(method: Method) -> Method:
    """A method of a task that refuses a first argument that is no robot, such as q."""

    @functools.wraps(method)
    def checked(self: Any, robot: Any, *arguments: Any) -> Any:
        if not hasattr(robot, "model"):
            raise InputError(f"{method.__name__} of a task takes the robot first, then q; got {type_of(robot)} for the robot")
        return method(self, robot, *arguments)

    return cast("Method", checked)
