"""Splitting of words into names: ``m2a1l2s2`` is a product if those four names are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from dynamis.classroom.answers.latex import GREEK_FUNCTION, GREEK_LETTER
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.tokens import Token
from dynamis.classroom.answers.vocabulary import Vocabulary, is_symbol, rate_of
from dynamis.classroom.answers.words import Unit, spell
from dynamis.errors import printable, unknown_name
from dynamis.model.readers.expressions import CONSTANTS, FUNCTIONS
from dynamis.scalar import Node, symbol, topological

Address = tuple[str, tuple[int, ...]]  # the letter and the indices of an entry, from 0; a definition has no indices
RECIPROCAL_OF = {"sec": "cos", "csc": "sin", **dict.fromkeys(("cot", "cotg", "ctg"), "tan")}
_GREEK = {"".join(GREEK_LETTER[c] for c in name): function for name, function in GREEK_FUNCTION.items()}  # as words are spelled
FUNCTION_OF = {
    **{name: name for name in FUNCTIONS}, "sgn": "sign", "arcsin": "asin", "arccos": "acos", "ln": "log", **RECIPROCAL_OF,
    "sen": "sin", "tg": "tan", "arcsen": "asin",
    **{name: RECIPROCAL_OF.get(function, function) for name, function in _GREEK.items()},  # ημ, until it is read as sin
}  # fmt: skip
_OMEGA = re.compile(r"omega([1-9][0-9]?)'?")
_MAX_NAME_LENGTH = 16  # letters of a name in a product written without spaces
_ENTRY = re.compile(
    r"(?P<letter>[^0-9,']*[^0-9,'+-])(?:(?P<digits>[1-9]{1,3})|(?P<numbers>[1-9][0-9]{0,3}(?:,[1-9][0-9]{0,3}){1,2}))(?P<dots>'*)"
)


def address_of(key: str) -> Address:
    """The entry of a name, M_{12} or M_{1,2}, or the definition of that name.

    >>> address_of("M12"), address_of("M1,2"), address_of("h"), address_of("g0")
    (('M', (0, 1)), ('M', (0, 1)), ('h', ()), ('g0', ()))
    """
    match = _ENTRY.fullmatch(key)
    if match is None:
        return key, ()
    indices = match["digits"] or match["numbers"].split(",")
    return match["letter"] + match["dots"], tuple(int(k) - 1 for k in indices)


def ends_in(token: Token, names: Collection[str]) -> bool:
    r"""Whether the last name in a word is one of these or a rate of one: m_1J_1 ends in J_1, \dot p in p."""
    cuts = [k for k, unit in enumerate(token.units) if k == 0 or not unit.joined]
    last = [spell(token.units[k:]) for k in cuts]
    return any(x in names or (rate_of(x) or (x, 0))[0] in names for x in last)


@dataclass
class Names:
    """The vocabulary of a robot and the names defined by an answer.

    ``scalars`` and ``tables`` are the addresses of single equations and the letters of matrices, ``matrices`` the names that
    may be matrices; ``arguments`` holds the arguments of a definition, ("q2",) for h(q_2) = …, so that h(q_2) is not parsed as
    a product later. ``constants`` are the symbols of names without meaning, where the vocabulary allows them. With ``vectors``,
    q, q̇ and q̈ without index are the columns of the joint variables.
    """

    vocabulary: Vocabulary
    source: Source
    scalars: set[Address] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    matrices: set[str] = field(default_factory=set)
    arguments: dict[str, tuple[str, ...]] = field(default_factory=dict)
    constants: dict[str, Node] = field(default_factory=dict)
    vectors: bool = False
    _known: dict[str, bool] = field(default_factory=dict)

    def is_own(self, key: str) -> bool:
        """Whether the answer defines this name."""
        letter, indices = address_of(key)
        return (letter, indices) in self.scalars or letter in self.tables or key in self.tables

    def is_known(self, key: str) -> bool:
        """Whether a name is known; called after all definitions are collected."""
        if key not in self._known:
            robots = (
                (key in FUNCTION_OF and not self._is_product(key))
                or key in CONSTANTS
                or self.vocabulary.resolve(key) is not None
            )
            own = self.is_own(key) or self.derived(key) is not None
            self._known[key] = robots or own or self.vocabulary.unknown(key) is not None
        return self._known[key] or (self.vectors and self.vocabulary.is_vector(key))

    def _is_product(self, key: str) -> bool:
        """Whether the letters of a Greek function, ημ, are all names of the robot or the answer."""
        written = next((x for x in GREEK_FUNCTION if "".join(GREEK_LETTER[c] for c in x) == key), "")
        letters = [GREEK_LETTER[c] for c in written]
        return bool(letters) and all(self.vocabulary.resolve(x) is not None or self.is_own(x) for x in letters)

    def forget(self, addresses: set[Address]) -> None:
        """Take definitions back."""
        self.scalars -= addresses
        self._known.clear()

    def rate(self, key: str) -> tuple[str, int] | None:
        """The name of the answer's own of which a name is the time derivative, and the order."""
        rate = rate_of(key)
        return rate if rate is not None and self.is_own(rate[0]) else None

    def derived(self, key: str) -> tuple[str, int] | None:
        """The same for a name that the answer does not define."""
        return None if self.is_own(key) else self.rate(key)

    def split(self, token: Token, following: Sequence[Token] = ()) -> list[Token]:
        """The names in a word: the word itself, or the fewest known names into which it can be split.

        Before a bracket or an angle ``following`` it, c and s may be functions.
        """
        units = token.units
        if self.is_known(spell(units)):
            return [self._piece(token, 0, len(units))]
        size = len(units)
        spelled = _spelling(units)
        cuts = [k for k in range(size) if not units[k].joined] + [size]
        best: dict[int, tuple[int, int, int]] = {0: (0, 1, 0)}  # cut: names up to it, ways to reach it, the cut before
        for j, cut in enumerate(cuts[1:], 1):
            for start in cuts[max(0, j - _MAX_NAME_LENGTH) : j]:
                if start in best and self.is_known(spelled(start, cut)):
                    count, ways = best[start][0] + 1, best[start][1]
                    if cut not in best or count < best[cut][0]:
                        best[cut] = (count, ways, start)
                    elif count == best[cut][0]:
                        best[cut] = (count, best[cut][1] + ways, best[cut][2])
        if size not in best and self._is_constant(spelled(max(best), size)):
            best[size] = (0, 1, max(best))
        if size not in best and (names := self._with_short_function(token, following)):
            return names
        if size not in best:
            raise self._unknown(token, cuts, max(best))
        if best[size][1] > 1:
            raise self.source.error(
                token.at,
                f"{printable(token.text)} is ambiguous: more than one product is possible",
                "put * or spaces between the factors",
            )
        ends = [size]
        while ends[-1]:
            ends.append(best[ends[-1]][2])
        ends.reverse()
        return [self._piece(token, start, end) for start, end in pairwise(ends)]

    def _with_short_function(self, word: Token, following: Sequence[Token]) -> list[Token]:
        """The names in a word that ends in c or s before a joint angle, or a bracket with joint angles alone: l_2 cos of
        l_2c(q_1 + q_2) and of l_2 cθ_1."""
        function = {"c": "cos", "s": "sin"}.get(word.units[-1].text.lower())
        end = next((k for k, t in enumerate(following) if t.text == ")"), 0)
        inside = [t for t in following[1:end] if following[0].text == "(" and t.text not in ("+", "-")]
        if following and following[0].kind == "word" and following[0].at == word.end:
            inside = [following[0]]
        angles = bool(inside) and all(t.kind == "word" and self._is_angle(spell(t.units)) for t in inside)
        if function is None or not angles or word.units[-1].joined:
            return []
        head = word._replace(units=word.units[:-1], end=word.units[-1].at)
        return [*(self.split(head) if head.units else []), Token("name", function, head.end, word.end)]

    def _is_angle(self, key: str) -> bool:
        """Whether a name is that of a position, or of a sum of some, such as q_12."""
        value = self.vocabulary.resolve(key)
        parts = {id(x) for x in topological([value]) if x.op == "symbol"} if isinstance(value, Node) else set()
        return bool(parts) and parts <= {id(x) for x in self.vocabulary.q} and self.vocabulary.arc(key) is None

    def _is_constant(self, key: str) -> bool:
        """Whether a name without meaning is that of a constant, where these are allowed; it has a symbol from then on."""
        if not self.vocabulary.constants or not (key == "const" or is_symbol(key)) or self.vocabulary.number(key):
            return False
        self.constants.setdefault(key, symbol(re.sub(r"(?<=[A-Za-z])(?=[0-9])", "_", key, count=1)))
        return True

    def _piece(self, token: Token, start: int, end: int) -> Token:
        units = token.units
        at = token.at if start == 0 else units[start].at
        stop = token.end if end == len(units) else units[end].at
        name = spell(units[start:end])
        return Token("name", _GREEK.get(name, name), at, stop)

    def _unknown(self, token: Token, cuts: list[int], reached: int) -> Exception:
        units = token.units
        following = cuts[cuts.index(reached) + 1]
        # of m2a1l3s2 the stranger is l3; a run of letters is shown whole
        piece = self._piece(token, reached, following if following - reached > 1 else len(units))
        # as the robot's names are spelled, to find the near ones
        written = re.sub(r"(?<=[A-Za-z])(?=[0-9])", "_", piece.text, count=1)[:80]
        own = [letter + "_" * bool(index) + "".join(str(k + 1) for k in index) for letter, index in sorted(self.scalars)]
        number = self.vocabulary.number(piece.text)
        if number is not None:
            found = f"{written} is not a symbol of this robot: {number.kind}"
            return self.source.error(piece.at, found, f"write {number.value:g} in place of {written}")
        if piece.text == "e":
            return self.source.error(piece.at, "e is not a symbol of this robot", "write exp(x) for a power of e")
        if (match := _OMEGA.fullmatch(piece.text)) and int(match[1]) <= self.vocabulary.coordinates:
            found = f"omega_{match[1]} can be the rate of joint {match[1]} or the angular velocity of link {match[1]}"
            cure = rf"write \dot q_{match[1]} for the former, or define it: \omega_{match[1]} = …"
            return self.source.error(piece.at, found, cure)
        found = str(unknown_name("quantity", written, list(dict.fromkeys([*self.vocabulary.names(), *own]))))
        if reached:
            found = f"after {printable(self.source.text[token.at : piece.at])} there is {found}"
        cure = (
            self.vocabulary.doubt(piece.text)
            or f"write one of the robot's names, or define it: {written[:40].rstrip(chr(39))} = …"
        )
        return self.source.error(piece.at, found, cure)


def _spelling(units: Sequence[Unit]) -> Callable[[int, int], str]:
    """The spelling of any part of a word, with a fast path for words without accents."""
    whole = "".join(unit.text for unit in units)
    if spell(units) != whole:
        return lambda start, end: spell(units[start:end])
    at = [0, *accumulate(len(unit.text) for unit in units)]
    return lambda start, end: whole[at[start] : at[end]]


def is_same(a: object, b: object) -> bool:
    """Whether two values are one: nodes are made once, so equal expressions are the same object."""
    return a is b if isinstance(a, Node) or isinstance(b, Node) else a == b
