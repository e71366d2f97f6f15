"""Why an answer differs: the slips that are made by hand, recognised by comparing terms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dynamis.symbolic.arrangement import Monomial, Role, Terms
from dynamis.symbolic.ring import Atom, Ring

Write = Callable[[Terms], str]


def cause(ring: Ring, roles: dict[int, Role], right: Terms, given: Terms, write: Write) -> str:
    """One sentence for what was probably done."""
    if given and given == {m: -c for m, c in right.items()}:
        return "the sign of the whole: every term has the other sign"
    lost = {m: c for m, c in right.items() if given.get(m, Fraction(0)) != c}
    found = {m: c for m, c in given.items() if right.get(m, Fraction(0)) != c}
    reasons = []
    for m in [m for m in lost if m in found]:
        reasons.append(_coefficient(right[m], given[m], write({m: right[m]}), write({m: given[m]})))
        del lost[m], found[m]
    while lost and found:
        # the pair of terms that have most in common
        m, x = max(
            ((m, x) for m in lost for x in found), key=lambda pair: _likeness(pair[0], pair[1], lost[pair[0]], found[pair[1]])
        )
        reason = _substitution(ring, roles, m, x, write)
        if reason is None:
            break
        if (lost[m] > 0) != (found[x] > 0):
            reason += ", and its sign"
        reasons.append(reason)
        del lost[m], found[x]
    if lost:
        reasons.append(("missing: " if len(lost) == 1 else "missing terms: ") + write(lost))
    if found:
        reasons.append("too much: " + write(found))
    return "; ".join(dict.fromkeys(reasons))


def _coefficient(right: Fraction, given: Fraction, correct: str, wrong: str) -> str:
    if given == -right:
        return f"the sign of a product: {wrong} should be {correct}"
    if given == 2 * right or 2 * given == right:
        return f"a factor 2: {wrong} should be {correct}"
    return f"a coefficient: {wrong} should be {correct}"


def _likeness(m: Monomial, x: Monomial, c: Fraction, d: Fraction) -> tuple[int, int, bool]:
    a, b = dict(m), dict(x)
    shared = sum(min(e, b.get(k, 0)) for k, e in a.items())
    return shared - abs(sum(a.values()) - sum(b.values())), shared, abs(c) == abs(d)


def _substitution(ring: Ring, roles: dict[int, Role], m: Monomial, x: Monomial, write: Write) -> str | None:
    """What was put in place of what, where the rest of two terms agrees."""
    a, b = dict(m), dict(x)
    gone = {k: e - b.get(k, 0) for k, e in a.items() if e > b.get(k, 0)}
    come = {k: e - a.get(k, 0) for k, e in b.items() if e > a.get(k, 0)}
    if sum(gone.values()) > 3 or sum(come.values()) > 3:
        return None
    one = Fraction(1)

    def name(part: dict[int, int]) -> str:
        return write({tuple(sorted(part.items())): one})

    correct = write({m: one})
    if not come:
        if all(_is_trig(ring.atoms[k]) for k in gone):
            kind = "cosine" if all(ring.atoms[k].kind == "cosine" for k in gone) else "sine"
            return f"a missing {kind}: {name(gone)} in {correct}"
        if all(k in b for k in gone):
            return f"a power: {name({k: a[k] for k in gone})} in {correct}"
        return f"a missing factor: {name(gone)} in {correct}"
    if not gone:
        if all(k in a for k in come):
            return f"a power: {name({k: b[k] for k in come})} should be {name({k: a[k] for k in come})} in {correct}"
        return f"a factor too many: {name(come)} beside {correct}"
    wrong, good = [ring.atoms[k] for k in come], [ring.atoms[k] for k in gone]
    if all(map(_is_trig, wrong + good)):
        if len(wrong) == len(good) == 1 and (wrong[0].start, wrong[0].end) == (good[0].start, good[0].end):
            return f"sine and cosine exchanged: {name(come)} should be {name(gone)} in {correct}"
        return f"an angle: {name(come)} should be {name(gone)} in {correct}"
    if len(wrong) == len(good) == 1 and _kin(roles, wrong[0], good[0]):
        return f"an index: {name(come)} should be {name(gone)} in {correct}"
    return f"a symbol: {name(come)} should be {name(gone)} in {correct}"


def _is_trig(atom: Atom) -> bool:
    return atom.kind in ("sine", "cosine")


def _kin(roles: dict[int, Role], a: Atom, b: Atom) -> bool:
    """Whether two symbols are of one kind and differ in their number."""
    role, other = roles.get(id(a.node)), roles.get(id(b.node))
    if role is not None and other is not None:
        return role.kind == other.kind
    names = [str(atom.node).rstrip("0123456789") for atom in (a, b)]
    return names[0] == names[1]
