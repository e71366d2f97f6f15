"""Names of parameters as files declare them and as equations print them: m1 and m_1 are one name."""

from __future__ import annotations

from collections.abc import Iterable


def declared_name(name: str, known: Iterable[str]) -> str:
    """The known name that equals ``name`` up to underscores, where there is exactly one; otherwise ``name`` itself.

    >>> declared_name("m_1", ["m1", "m2"]), declared_name("l_c2", ["lc2"]), declared_name("m_1", ["m_1", "m1"])
    ('m1', 'lc2', 'm_1')
    """
    names = list(known)
    if name in names or not isinstance(name, str):
        return name
    same = [x for x in names if x.replace("_", "") == name.replace("_", "")]
    return same[0] if len(same) == 1 else name
