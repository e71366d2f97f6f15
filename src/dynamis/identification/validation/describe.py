"""Parameters, lists and ratios in words, for sentences, tables and plots."""

from __future__ import annotations

from collections.abc import Sequence

WORDS = {
    "m": "mass", "mx": "first moment along x", "my": "first moment along y", "mz": "first moment along z",
    "viscous": "viscous friction", "coulomb": "Coulomb friction", "coulomb_bias": "Coulomb friction asymmetry",
    "stribeck": "Stribeck friction", "quadratic": "quadratic friction", "power": "power friction",
    "load": "load-dependent friction", "viscous_temperature": "temperature dependence of viscous friction",
    "coulomb_temperature": "temperature dependence of Coulomb friction", "offset": "torque offset",
    "rotor": "rotor inertia", "stiffness": "spring stiffness", "inertia": "inertia of the rotor", "balancer": "balancer",
    "balancer_sin": "sine of the balancer", "balancer_cos": "cosine of the balancer",
    "balancer_sin2": "second sine of the balancer", "balancer_cos2": "second cosine of the balancer",
}  # fmt: skip


def readable(name: str) -> str:
    """Return a parameter in words.

    >>> readable("forearm.mx"), readable("elbow.coulomb"), readable("wrist.Ixy")
    ('first moment along x of forearm', 'Coulomb friction of elbow', 'product of inertia xy of wrist')
    """
    owner, _, kind = name.rpartition(".")
    words = WORDS.get(kind)
    if words is None and len(kind) == 3 and kind[0] == "I" and set(kind[1:]) <= set("xyz"):
        words = f"moment of inertia {kind[1:]}" if kind[1] == kind[2] else f"product of inertia {kind[1:]}"
    return (f"{words} of {owner}" if owner else words) if words else name


def listed(items: Sequence[str], most: int = 6) -> str:
    """Return the items as a list in a sentence, with the number of those beyond the first few.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], 2)
    ('a, b and c', 'a, b and 2 more')
    """
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else list(items))


def label(name: str, most: int = 30) -> str:
    """Return a name from a file as short plot text, without formulas and control characters.

    >>> label("a$b$"), label("_hidden"), label("x" * 40)
    ('a\\\\$b\\\\$', ' _hidden', 'xxxxxxxxxxxxxxx…xxxxxxxxxxxxxx')
    """
    short = name if len(name) <= most else f"{name[: most // 2]}…{name[len(name) - most + most // 2 + 1 :]}"
    clean = "".join(c if c.isprintable() else "�" for c in short).replace("$", r"\$")
    return f" {clean}" if clean.startswith("_") else clean  # matplotlib omits labels that start with "_"


def as_large_as(factors: tuple[float, float]) -> str:
    """Return how values compare with others, from the least to the largest factor, to precede "those of …".

    >>> as_large_as((1.2, 4.21)), as_large_as((1.96, 1.96)), as_large_as((0.99, 1.02))
    ('1.2 to 4.2 times', '2 times', 'about as large as')
    """
    least, most = (f"{x:.2g}" for x in factors)
    if 0.95 < factors[0] <= factors[1] < 1.05:
        return "about as large as"
    return f"{most} times" if least == most else f"{least} to {most} times"


def bound_text(bound: str) -> str:
    """Return an entry of ``at_bound_`` in words.

    >>> bound_text("lower bound"), bound_text("prior")
    ('at its lower bound', 'not determined by the log')
    """
    words = {"fixed": "fixed by a constraint", "constraints": "determined by active constraints"}
    return words.get(bound, "not determined by the log" if bound == "prior" else f"at its {bound}")
