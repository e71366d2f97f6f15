"""The variables of a study: grids, or random with an independent stream each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynamis.errors import InputError
from dynamis.model.values import MAX_MAGNITUDE
from dynamis.tolerances import MAX_COUNT

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Variable:
    """``kind`` (q0, payload, …) and ``target`` (joint_1, mass, …) name the quantity, ``law`` and ``numbers`` its values."""

    kind: str
    target: str
    law: str
    numbers: Numbers
    within: Numbers = ()

    @property
    def name(self) -> str:
        return f"{self.kind}.{self.target}"

    def draw(self, seed: int, case: int) -> float:
        """The value in a case: a function of seed, name and case only.

        >>> mass = Variable("payload", "mass", "uniform", (0.0, 2.0))
        >>> mass.draw(7, 3) == mass.draw(7, 3) != mass.draw(7, 4)
        True
        """
        word = int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4], "big")
        stream = np.random.Philox(np.random.SeedSequence(seed, spawn_key=(case, word)))
        return LAWS[self.law].draw(np.random.Generator(stream), self.numbers, self.within)


@dataclass(frozen=True)
class RandomLaw:
    """A distribution: number of parameters (None for any), their meaning, validity check, and sampling."""

    count: int | None
    meaning: str
    allowed: Callable[[Numbers], bool]
    draw: Callable[[np.random.Generator, Numbers, Numbers], float]


def _log_uniform(rng: np.random.Generator, numbers: Numbers, _: Numbers) -> float:
    low, high = numbers
    return min(max(low * float(np.exp(rng.uniform(0.0, np.log(high / low)))), low), high)


def _normal(rng: np.random.Generator, numbers: Numbers, within: Numbers) -> float:
    """Inverse transform sampling: one draw for any truncation."""
    from scipy.special import ndtr, ndtri

    mean, deviation = numbers
    if not within:
        return float(rng.normal(mean, deviation))
    low, high = ((x - mean) / deviation for x in within)
    flip = -1.0 if low > 0 else 1.0  # the lower tail has the digits
    low, high = sorted((flip * low, flip * high))
    value = flip * float(ndtri(rng.uniform(ndtr(low), ndtr(high))))
    return min(max(mean + deviation * value, within[0]), within[1])


LAWS: dict[str, RandomLaw] = {
    "uniform": RandomLaw(2, "[lowest, highest]", lambda x: x[0] < x[1], lambda rng, x, _: float(rng.uniform(x[0], x[1]))),
    "log_uniform": RandomLaw(
        2, "[lowest, highest], both at least 1e-50", lambda x: 1.0 / MAX_MAGNITUDE <= x[0] < x[1], _log_uniform
    ),
    "normal": RandomLaw(2, "[mean, standard deviation], the latter positive", lambda x: x[1] > 0, _normal),
    "choice": RandomLaw(None, "[a, b, c]", lambda x: len(x) > 0, lambda rng, x, _: x[int(rng.integers(len(x)))]),
}  # fmt: skip
GRIDS = {"grid": "[values]", "from": "the first, with to and count"}
HOW = "{ uniform = [a, b] }, { log_uniform = [a, b] }, { normal = [mean, deviation] }, { choice = [a, b, c] }, { grid = [a, b, c] } or { from = a, to = b, count = n }"  # noqa: E501  one sentence
MAX_DEVIATIONS = 8.0  # of a truncated normal distribution from its interval: beyond, its probability is below rounding


def read_variable(kind: str, target: str, entry: dict[str, Any], number: Callable[[Any, str], float]) -> Variable:
    """Read a variable from its table; ``number`` converts an entry or raises an error."""

    def numbers(key: str, count: int | None, meaning: str) -> Numbers:
        value = entry[key]
        if not isinstance(value, list) or (count is not None and len(value) != count):
            raise InputError(f"{key} = {value!r}: give {key} = {meaning}")
        return tuple(number(x, key) for x in value)

    laws = [key for key in (*LAWS, "grid", "from") if key in entry]
    if len(laws) != 1:
        found = "no distribution is given" if not laws else f"{' and '.join(laws)} are both given"
        raise InputError(f"{found}: write one of {HOW}")
    (law,) = laws
    known = {law} | {"normal": {"within"}, "from": {"to", "count"}}.get(law, set())
    if extra := sorted(set(entry) - known):
        raise InputError(f"{extra[0]!r} is not allowed with {law!r}: remove it, or write one of {HOW}")
    if law == "grid":
        values = numbers("grid", None, "[values]")
        if not values or len(set(values)) != len(values):
            raise InputError("a grid requires at least one value, without duplicates: correct the list")
        return Variable(kind, target, "grid", values)
    if law == "from":
        if not {"to", "count"} <= set(entry) or type(entry["count"]) is not int or not 1 < entry["count"] <= MAX_COUNT:
            raise InputError("an even grid is { from = a, to = b, count = n } with an integer n of at least 2")
        first, last = number(entry["from"], "from"), number(entry["to"], "to")
        if first == last:
            raise InputError(f"from and to are both {first:g}: give two different values, or remove the variable")
        return Variable(kind, target, "grid", tuple(map(float, np.linspace(first, last, entry["count"]))))
    rule = LAWS[law]
    values = numbers(law, rule.count, rule.meaning)
    if not rule.allowed(values):
        raise InputError(f"{law} = {list(values)}: give {law} = {rule.meaning}")
    within = numbers("within", 2, "[lowest, highest]") if "within" in entry else ()
    if within and not within[0] < within[1]:
        raise InputError(f"within = {list(within)}: give within = [lowest, highest]")
    if within and (away := max(within[0] - values[0], values[0] - within[1]) / values[1]) > MAX_DEVIATIONS:
        raise InputError(
            f"within = {list(within)} is {away:.3g} standard deviations away from the mean {values[0]:g}, so that all values "
            "would be nearly equal: correct the mean, the deviation or the interval"
        )
    return Variable(kind, target, law, values, within)
