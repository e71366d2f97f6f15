"""Names that an answer may use, and its entries as an array."""

import numpy as np
from seed_formulas import NAMES, symbols

from dynamis.classroom.answers import Vocabulary
from dynamis.scalar import symbol


def vocabulary(aliases=None, n=2, revolute=None, parameters=NAMES):
    q, v, a = (symbols(letter, n) for letter in "qva")
    return Vocabulary(q, v, a, revolute or (True,) * n, {name: symbol(name) for name in parameters}, aliases or {})


def nodes(entries, shape):
    """The entries of an answer as an array, zero where none is given."""
    array = np.zeros(shape, dtype=object)
    for index, located in entries.items():
        array[index] = located.node
    return array
