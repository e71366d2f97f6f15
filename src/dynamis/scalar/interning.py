"""The table of all nodes in use, by operation and operands, in which equal expressions are found.

Nodes are kept as long as somebody uses them. Weak references take long to make, and most nodes of a trace are made together and
dropped together, so that the newest ones are held by an ordinary dictionary until they are released.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import Any, TypeVar

T = TypeVar("T")
Key = tuple[Any, ...]
MOST_NEW = 2**17  # some 50 MB

newest: dict[Key, Any] = {}
older: weakref.WeakValueDictionary[Key, Any] = weakref.WeakValueDictionary()
_lock = [threading.RLock()]  # exchanged after a fork, where the thread that held it is missing
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _lock.__setitem__(0, threading.RLock()))


def interned(key: Key, node: T) -> T:
    """The one node of this key: the one given, unless another thread has been quicker."""
    with _lock[0]:
        found = newest.get(key)
        if found is None and (found := older.get(key)) is None:
            if len(newest) >= MOST_NEW:
                release_nodes()
            newest[key] = found = node
        return found


def release_nodes() -> None:
    """Forget nodes that are no longer in use, the newest first, since nodes refer to earlier ones."""
    with _lock[0]:
        while newest:
            key, node = newest.popitem()
            if sys.getrefcount(node) > _UNUSED:
                older[key] = node


def _references_of_an_unused_node() -> int:
    """As `release_nodes` counts them, which depends on the version of Python."""
    table = {"key": object()}
    _, node = table.popitem()
    return sys.getrefcount(node)


_UNUSED = _references_of_an_unused_node()
