"""Columns of the joints (or bodies) distal to a body, collected from the tips to the base."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.model.model import Model

Array = npt.NDArray[Any]


class Beyond:
    """Per body, the 6-row matrices of its children, and their column indices in the result."""

    def __init__(self, model: Model) -> None:
        self._held: list[list[tuple[tuple[int, ...], Array]]] = [[] for _ in model.bodies]

    def at(self, i: int) -> tuple[tuple[int, ...], Array]:
        """(columns, matrix) of the subtree distal to body i, in its frame."""
        held, self._held[i] = self._held[i], []
        if not held:
            return (), np.zeros((6, 0))
        return tuple(c for columns, _ in held for c in columns), np.hstack([F for _, F in held])

    def pass_on(self, parent: int, columns: tuple[int, ...], F: Array) -> None:
        if parent > 0:
            self._held[parent].append((columns, F))


def add_block(M: Array, rows: tuple[int, ...], columns: tuple[int, ...], block: Array) -> None:
    """M[rows, columns] += block, also with repeated indices, due to mimic joints."""
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            M[row, column] += block[i, j]
