"""Probable causes of errors: common mistakes, recognised by comparing terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from math import pi
from typing import NamedTuple, Protocol

from dynamis.classroom.checking.monomials import added_powers, common_powers, likeness, renamed, times
from dynamis.symbolic.arrangement import Monomial, Role, Terms
from dynamis.symbolic.ring import Atom, Ring
from dynamis.tolerances import NEGLIGIBLE


class Write(Protocol):
    """Writes a sum of terms, its decimals rounded to so many digits."""

    def __call__(self, terms: Terms, digits: int = ...) -> str: ...


MAX_TERMS_FOR_EXCHANGES = 300  # of an entry that is searched for exchanged symbols
ONE, HALF = Fraction(1), Fraction(1, 2)
DIGITS, MAX_DIGITS = 6, 15  # of printed decimals, and of those that differ little
ROUNDING = Fraction(1, 10**4)  # of printed decimals, of which the correct ones have more digits
USUAL = (HALF, Fraction(1, 3), Fraction(1, 4), Fraction(1, 1000))  # factors that are forgotten, or their inverses
SIMPLE = 12  # the largest denominator of a factor that is written as a fraction
SIGN = "the sign of a product"
GRAVITY = tuple(map(Fraction, ("9.81", "9.8", "9.80665", "9.807", "9.806", "9.82", "10")))  # numbers written for g


class Cause(NamedTuple):
    """The probable mistake, with the correct terms, and as a hint without them."""

    text: str
    hint: str

    def also(self, other: Cause) -> Cause:
        """Both mistakes."""
        return Cause(f"{self.text}; {other.text}", f"{self.hint}; {other.hint}")


@dataclass(frozen=True)
class Slip:
    """One entry whose terms differ from the correct ones.

    ``index`` is that of the entry, ``inertial`` whether it belongs to the inertia matrix or a kinetic energy, ``rate``
    writes the rate of a joint by its number, ``sums_of_rates`` whether angular velocities are sums of joint rates.
    """

    ring: Ring
    roles: Mapping[int, Role]
    right: Terms
    given: Terms
    write: Write
    index: tuple[int, ...] = ()
    inertial: bool = False
    rate: Callable[[int], str] = "q_{}'".format
    sums_of_rates: bool = False

    @property
    def factor(self) -> Fraction | None:
        """k if the entry is k times the correct one; -1 also of rounded coefficients."""
        if not self.given or self.given.keys() != self.right.keys():
            return None
        ratios = {self.given[m] / self.right[m] for m in self.right}
        if len(ratios) > 1 and all(abs(x + 1) < ROUNDING for x in ratios):
            return -ONE
        return ratios.pop() if len(ratios) == 1 else None

    @property
    def lost(self) -> Terms:
        """Terms of the correct entry that are missing in the answer, or have another coefficient."""
        return {m: c for m, c in self.right.items() if self.given.get(m, Fraction(0)) != c}

    @property
    def found(self) -> Terms:
        """Terms of the answer that are not in the correct entry, or have another coefficient."""
        return {m: c for m, c in self.given.items() if self.right.get(m, Fraction(0)) != c}

    @property
    def different(self) -> int:
        """The number of terms that differ."""
        return len(self.lost) + len(self.found)

    def cause(self, summed: Collection[int] = ()) -> Cause:
        """The probable mistake, as one sentence.

        ``summed`` are the links by other entries of which a relative angular velocity is not the mistake.
        """
        if (number := self._number_for_gravity()) is not None:
            cause, others = number
            return cause if not others.different else cause.also(others.cause(summed))
        k = self.factor
        if k is not None and (len(self.right) > 1 or k == -1 or self.inertial):
            return whole_factor(k)
        if (found := self._factor_of_every_term()) is not None:
            return found
        relative = self._relative_rate(summed)
        if (found := relative or self._steiner() or self._exchange()) is not None:
            return found
        reasons = list(dict.fromkeys(self._term_by_term()))
        mistakes = Counter(map(_mistake, reasons))
        order = [mistake for mistake, _ in mistakes.most_common()]
        reasons.sort(key=lambda reason: order.index(_mistake(reason)))  # one that explains several terms comes first
        return Cause("; ".join(r.text for r in reasons), "; ".join(dict.fromkeys(r.hint for r in reasons)))

    # slips that concern the entry as a whole

    def _number_for_gravity(self) -> tuple[Cause, Slip] | None:
        """9.81 in place of the symbol g; and the entry with the symbol."""
        for k in {k for m in self.right for k, _ in m if (role := self._role(k)) is not None and role.kind == "gravity"}:
            plain = {m: tuple(sorted((*m, (k, 1)))) for m in self.found if all(j != k for j, _ in m)}
            for number in GRAVITY:
                if any(abs(self.found[m]) == number * abs(self.right.get(with_g, Fraction(0))) for m, with_g in plain.items()):
                    name, said = self._name(k), f"{float(number):g}"
                    value = f"{name}={said}"
                    text = f"{said} stands for the symbol {name}: use {name}, or give the robot {value} (--set {value})"
                    given = dict(self.given)
                    for m, with_g in plain.items():
                        if (coefficient := self.found[m] / number).denominator <= SIMPLE:
                            del given[m]
                            given[with_g] = given.get(with_g, Fraction(0)) + coefficient
                    return Cause(text, text), replace(self, given={m: c for m, c in given.items() if c})
        return None

    def _factor_of_every_term(self) -> Cause | None:
        """A power of a symbol by which every term of the answer differs from those of the correct entry."""
        if len(self.right) < 2 or len(self.right) != len(self.given):
            return None
        present = {k for terms in (self.right, self.given) for m in terms for k, _ in m}
        for k in sorted(k for k in present if self.ring.atoms[k].kind == "symbol"):
            for power in (1, 2, -1, -2):
                if times(self.right, ((k, 1),), power) == self.given:
                    if power > 0:
                        kind = "a missing divisor" if all(dict(m).get(k, 0) < 0 for m in self.right) else "a factor too many"
                    else:
                        kind = "a missing factor" if all(dict(m).get(k, 0) > 0 for m in self.right) else "a divisor too many"
                    return Cause(f"{kind} in every term: {self._product({k: abs(power)})}", f"{kind} in every term")
        return None

    def summed_links(self) -> set[int]:
        """The links whose moment of inertia is there for the rates of earlier joints too."""
        pairs = ((m, self._number(m, "inertia")) for m, c in self.right.items() if self.given.get(m) == c)
        return {link for m, link in pairs if link > 1 and self._is_of_earlier_joint(m, link)}

    def forgotten_moments(self) -> set[int]:
        """The links whose moment of inertia is missing for the rates of their own joints and later ones too."""
        pairs = ((m, self._number(m, "inertia")) for m in self.right if m not in self.given)
        return {link for m, link in pairs if link > 1 and not self._is_of_earlier_joint(m, link)}

    def _relative_rate(self, summed: Collection[int]) -> Cause | None:
        """I_2 appears with q̇_2 only: the angular velocity of link 2 was taken relative to link 1."""
        if not self.inertial or not self.sums_of_rates or self.found or not self.lost:
            return None
        links = {self._number(m, "inertia") for m in self.lost}
        if len(links) != 1 or (link := links.pop()) < 2 or not all(self._is_of_earlier_joint(m, link) for m in self.lost):
            return None
        if link in summed or link in self.summed_links():
            return None
        rates = " + ".join(self.rate(k) for k in range(1, link + 1))
        message = f"the angular velocity of link {link} is {rates}, not {self.rate(link)} alone"
        return Cause(
            f"{message}: {self.write(self.lost)} is missing", f"the angular velocity of link {link} is not {self.rate(link)}"
        )

    def _is_of_earlier_joint(self, m: Monomial, link: int) -> bool:
        rates = [role.number for k, _ in m if (role := self._role(k)) is not None and role.kind == "velocity"]
        if rates:
            return min(rates) < link
        return bool(self.index) and min(self.index) + 1 < link

    def _steiner(self) -> Cause | None:
        """All terms m_2 (lengths)² are missing but I_2 is present: the moment of inertia was not moved to the joint axis."""
        if not self.inertial or self.found or not self.lost:
            return None
        links = sorted({self._number(m, "mass") for m in self.lost})
        moments = {self._number(m, "inertia") for m in self.given}
        for link in links:
            same = [m for m in self.right if self._number(m, "mass") == link]
            if not link or link not in moments or any(m in self.given or self._length_degree(m) != 2 for m in same):
                return None
        which = " and ".join(map(str, links))
        message = f"the parallel-axis (Steiner) term of link {which}"
        missing = f"{message} is missing: {self.write(self.lost)}"
        return Cause(missing, f"{message} is missing: the moment of inertia is about the centre of mass")

    def _exchange(self) -> Cause | None:
        """One symbol in place of another, or two exchanged, in all the terms that differ."""
        lost = self.lost
        if len(lost) < 2 or not self.found or len(self.right) > MAX_TERMS_FOR_EXCHANGES:
            return None
        used = sorted({k for m in self.right for k, _ in m if self.ring.atoms[k].kind == "symbol"})
        come = sorted({k for m in self.given for k, _ in m if self.ring.atoms[k].kind == "symbol"})
        for x in used:
            for y in come:
                if x != y and self._alike(x, y) and renamed(self.right, {x: y}) == self.given:
                    wrong, good = self._name(y), self._name(x)
                    kind = "an index" if self._differ_in_number(*(self.ring.atoms[k] for k in (x, y))) else "a symbol"
                    where = self.write({m: c for m, c in self.right.items() if any(k == x for k, _ in m)})
                    return Cause(f"{kind}: {wrong} should be {good} in {where}", f"{kind}: look at {wrong}")
        for x, y in permutations(used, 2):
            if x < y and self._alike(x, y) and renamed(self.right, {x: y, y: x}) == self.given:
                if lost == {m: -c for m, c in self.found.items()}:  # K (θ - q) for K (q - θ)
                    wrong = self.write(self.found)
                    return Cause(f"the sign of a product: {wrong} should be {self.write(lost)}", f"{SIGN} in {wrong}")
                both = f"exchanged symbols: {self._name(x)} and {self._name(y)}"
                return Cause(both, both)
        return None

    def _alike(self, x: int, y: int) -> bool:
        """Whether two symbols are of the same kind: two lengths, two masses, two rates."""
        kinds = [role.kind if (role := self._role(k)) is not None else "length" for k in (x, y)]
        return kinds[0] == kinds[1]

    # slips of single terms

    def _term_by_term(self) -> Iterator[Cause]:
        lost, found = self.lost, self.found
        for m in [m for m in lost if m in found]:
            right, given = lost.pop(m), found.pop(m)
            kind = _coefficient(right, given)
            trig = {k: e for k, e in m if _is_trig(self.ring.atoms[k])}
            if kind == SIGN and len(trig) > 1:
                kind = f"the sign of {self._product(trig)}"
            wrong, correct = self._distinguished({m: given}, {m: right})
            yield Cause(f"{kind}: {wrong} should be {correct}", f"{kind} in {wrong}")
        while lost and found:
            # the pair of terms that have most in common
            m, x = max(((m, x) for m in lost for x in found), key=lambda p: likeness(p[0], p[1], lost[p[0]], found[p[1]]))
            reason = self._substitution(m, x)
            if reason is None or not (self._kinds(m) == self._kinds(x) or {k for k, _ in m} & {k for k, _ in x}):
                break
            if (lost[m] > 0) != (found[x] > 0):
                reason = Cause(reason.text + ", and its sign", reason.hint + ", and its sign")
            yield reason
            del lost[m], found[x]
        if lost:
            one = len(lost) == 1
            message = f"missing: {self.write(lost)}" if one else f"missing terms: {self.write(lost)}"
            yield Cause(message, "a term is missing" if one else f"{len(lost)} terms are missing")
        if found:
            message = f"superfluous: {self.write(found)}{self._on_parentheses(found)}"
            yield Cause(message, message)

    def _distinguished(self, *terms: Terms) -> list[str]:
        """Terms with as many digits as they need to differ: 0.99999999 beside 1."""
        written = ([self.write(x, digits) for x in terms] for digits in range(DIGITS, MAX_DIGITS))
        return next((texts for texts in written if len(set(texts)) == len(texts)), [self.write(x, MAX_DIGITS) for x in terms])

    def _on_parentheses(self, found: Terms) -> str:
        """A question about parentheses, if an angle stands beside a function: cos q_1 + q_2."""
        angles: Terms = {m: c for m, c in found.items() if len(m) == 1 and self._is_angle(*m[0])}
        if not angles or not any(_is_trig(self.ring.atoms[k]) for m in self.given for k, _ in m):
            return ""
        name = self.write(angles)
        return f" (an angle that is no argument: are parentheses missing, as in cos(… {'' if name[0] == '-' else '+ '}{name})?)"

    def _is_angle(self, k: int, power: int) -> bool:
        return power == 1 and any(angle.unit is self.ring.atoms[k].node for angle in self.ring.angles)

    def _substitution(self, m: Monomial, x: Monomial) -> Cause | None:
        """The substitution between two terms that otherwise agree; None for a number in place of a product of symbols."""
        if not m or not x:
            return None
        a, b = dict(m), dict(x)
        shared = common_powers(m, x)
        gone, come = ({k: e - shared.get(k, 0) for k, e in powers.items() if e != shared.get(k, 0)} for powers in (a, b))
        if any(sum(map(abs, powers.values())) > 3 for powers in (gone, come)):
            return None
        correct, wrong = self.write({m: ONE}), self.write({x: ONE})
        if not come:
            return self._missing_factor(gone, a, b, correct, wrong)
        if gone.keys() == come.keys() or (not gone and all(k in a for k in come)):
            powers = [self._product({k: e[k] for k in come}) for e in (b, a)]
            return Cause(f"a power: {powers[0]} should be {powers[1]} in {correct}", f"a power is wrong in {wrong}")
        if not gone:
            extra = self._product(come)
            return Cause(f"a factor too many: {extra} beside {correct}", f"a factor too many in {wrong}")
        return self._replaced(gone, come, correct, wrong)

    def _missing_factor(self, gone: dict[int, int], a: dict[int, int], b: dict[int, int], correct: str, wrong: str) -> Cause:
        atoms = self.ring.atoms
        if all(_is_trig(atoms[k]) and e > 0 for k, e in gone.items()):
            kind = "cosine" if all(atoms[k].kind == "cosine" for k in gone) else "sine"
            return Cause(f"a missing {kind}: {self._product(gone)} in {correct}", f"a {kind} is missing in {wrong}")
        if all(k in b for k in gone):
            return Cause(f"a power: {self._product({k: a[k] for k in gone})} in {correct}", f"a power is wrong in {wrong}")
        return Cause(f"a missing factor: {self._product(gone)} in {correct}", f"a factor is missing in {wrong}")

    def _kinds(self, m: Monomial) -> list[str]:
        """The kinds of the factors of a term, sorted: those of I_1 and I_2 are the same, those of q_1 and m_2 l_2 are not."""
        roles = ((self._role(k), self.ring.atoms[k], e) for k, e in m)
        return sorted(x for role, atom, e in roles for x in [role.kind if role else "arc" if _is_trig(atom) else "length"] * e)

    def _replaced(self, gone: dict[int, int], come: dict[int, int], correct: str, wrong: str) -> Cause:
        # where the correct term is a quotient, the numerators are compared: c^2 in place of s^2 in s^2/c
        below = {k: -e for k, e in gone.items() if e < 0 < max(gone.values())}
        gone, come = ({k: e for k, e in added_powers(powers, below).items() if e} for powers in (gone, come))
        bad, good = [self.ring.atoms[k] for k in come], [self.ring.atoms[k] for k in gone]
        kind = "a symbol"
        if any(e < 0 for e in (*gone.values(), *come.values())):
            kind = "a factor"
        elif all(map(_is_trig, bad + good)):
            same_angle = len(bad) == len(good) == 1 and (bad[0].start, bad[0].end) == (good[0].start, good[0].end)
            kind = "sine and cosine exchanged" if same_angle else "an angle"
        elif len(bad) == len(good) == 1 and self._differ_in_number(bad[0], good[0]):
            kind = "an index"
        stands = self._product(come)
        return Cause(f"{kind}: {stands} should be {self._product(gone)} in {correct}", f"{kind}: look at {stands} in {wrong}")

    def _differ_in_number(self, a: Atom, b: Atom) -> bool:
        """Whether two symbols are of the same kind and differ in their index."""
        role, other = self.roles.get(id(a.node)), self.roles.get(id(b.node))
        if role is not None and other is not None:
            return role.kind == other.kind
        names = [str(atom.node).rstrip("0123456789") for atom in (a, b)]
        return names[0] == names[1]

    # what the factors of a term are

    def _role(self, k: int) -> Role | None:
        return self.roles.get(id(self.ring.atoms[k].node))

    def _number(self, m: Monomial, kind: str) -> int:
        """The link of the mass or the moment of inertia in a term; 0 if there is none."""
        return next((role.number for k, _ in m if (role := self._role(k)) is not None and role.kind == kind), 0)

    def _length_degree(self, m: Monomial) -> int:
        roles = ((e, self._role(k)) for k, e in m if self.ring.atoms[k].kind == "symbol")
        return sum(e for e, role in roles if role is None or role.kind in ("length", "position"))

    def _name(self, k: int) -> str:
        return self._product({k: 1})

    def _product(self, part: dict[int, int]) -> str:
        return self.write({tuple(sorted(part.items())): ONE})


def whole_factor(k: Fraction, entries: int = 1) -> Cause:
    """The whole is k times the correct one: a sign, a missing ½, another number."""
    if k == -1:
        message = f"sign error: every {'term' if entries == 1 else 'wrong entry'} has the opposite sign"
        return Cause(message, message)
    message = "the whole expression is" if entries == 1 else f"all {entries} wrong entries are"
    text, hint = (f"{message} {said}" for said in multiple(k))
    if k in (2, HALF):
        text += f": a factor {'½' if k == 2 else '2'} is missing" + ("" if entries == 1 else " in the whole expression")
        hint = text
    return Cause(text, hint)


def multiple(k: Fraction) -> Cause:
    """So many times the correct value; a hint names a usual factor alone, as any other one gives the value away."""
    usual = k == -1 or min(abs(k), abs(1 / k)) in USUAL or _by_degrees(k)
    text = f"{_times(k)} the correct value"
    return Cause(text, text if usual else "a multiple of the correct value")


def _by_degrees(k: Fraction) -> str:
    """The factor from degrees to radians or back, by its name; otherwise empty."""
    factors = {"π/180": pi / 180, "180/π": 180 / pi}
    return next((name for name, x in factors.items() if abs(float(k) / x - 1.0) < NEGLIGIBLE), "")


def _times(k: Fraction) -> str:
    """Twice, half, or so many times."""
    if degrees := _by_degrees(k):
        return f"{degrees} times"
    if k.denominator <= SIMPLE:
        return {Fraction(2): "twice", HALF: "half", Fraction(-1): "minus"}.get(k, f"{k} times")
    decimals = (f"{float(k):.{digits}g}" for digits in range(DIGITS, MAX_DIGITS))
    return f"{next((x for x in decimals if abs(float(x)) != 1.0), f'{float(k):.{MAX_DIGITS}g}')} times"


def _mistake(reason: Cause) -> str:
    """A substitution without the term in which it was made."""
    return reason.text.partition(" in ")[0].partition(" beside ")[0]


def _coefficient(right: Fraction, given: Fraction) -> str:
    """The kind of error in a coefficient."""
    if given == -right:
        return SIGN
    return "a factor 2" if given == 2 * right or 2 * given == right else "a coefficient"


def _is_trig(atom: Atom) -> bool:
    return atom.kind in ("sine", "cosine")
