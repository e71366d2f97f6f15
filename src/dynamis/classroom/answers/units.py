r"""Units behind a formula, which are no part of it: ``\,\mathrm{N\,m}``, ``[N m]``, ``22.5 kg m^2``.

A name of the robot or of the answer takes precedence: where m is a mass, ``m`` and ``\mathrm{m}`` are that mass, while ``N m``
is a unit as long as there is no N.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from dynamis.classroom.answers.latex import UNIT
from dynamis.classroom.answers.names import FUNCTION_OF, Names, address_of
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.tables import GAPS
from dynamis.classroom.answers.tokens import Token
from dynamis.classroom.answers.unit_factors import unit_value
from dynamis.classroom.answers.vocabulary import Vocabulary
from dynamis.classroom.answers.words import spell
from dynamis.errors import FormatError

_UPRIGHT = re.compile(r"\\(?:mathrm|textrm|mathsf|mathup)\b")
_UPRIGHT_BEFORE = re.compile(r"\\(?:mathrm|textrm|mathsf|mathup)\s*\Z")
_UNMISTAKABLE = frozenset({  # also without upright letters or brackets
    "Nm", "Nms", "Nmm", "Ncm", "kN", "kNm", "mNm", "kJ", "kW", "kg", "kgm", "kgmm", "kgcm", "gmm", "gcm", "rad", "mrad",
    "Hz", "kHz",
})  # fmt: skip
_NO_UNIT_ALONE = frozenset({"g", "m"})  # rather a parameter that this robot does not have
_RM = re.compile(r"\{\s*\\rm\b")
_WITH_POWER = re.compile(r"([A-Za-z]+)[23]")
_POWER = re.compile(r"\^ (?:[0-9]|- [0-9]|\{ (?:- )?[0-9] \})")
_ENDS_TERM = ("comma", "stop", "semicolon", "cell", "row", "close", "end", "break", *GAPS)
_ENDS_SUM = ("comma", "semicolon", "cell", "row", "break", "stop", "newline")
_LARGE = 10**9
_STYLE_LENGTH = 16  # of the longest command before a brace, with spaces


class _Run(NamedTuple):
    """Units up to the token ``end``: their words with their positions, whether one is divided, whether they stand upright."""

    end: int
    words: tuple[tuple[str, int], ...]
    divided: bool = False
    upright: bool = False


def without_units(tokens: Sequence[Token], source: Source, vocabulary: Vocabulary) -> tuple[list[Token], list[ReadUnit]]:
    """The tokens with a gap in place of each unit, and the units that an answer may not have meant so.

    These are the units that change a value, and those without mark, as upright letters or brackets, behind parameters.
    """
    is_known = _Known(_names(tokens, source, vocabulary))
    found: list[Token] = []
    noted: list[ReadUnit] = []
    k = 0
    while k < len(tokens):
        token = tokens[k]
        if token.kind == "soft" and token.text == "unit":
            noted += _convert(found, tokens[k + 1 : k + 2], is_known, token.at, token.end)
        bracketed = token.text == "["
        run = _run(tokens, k + bracketed, source) if _follows_value(found) and token.kind in ("word", "open") else None
        if run is None or (bracketed and not (run.end < len(tokens) and tokens[run.end].text == "]")):
            found.append(token)
            k += 1
            continue
        end = run.end + bracketed
        strangers = [at for _, at in run.words if not is_known(tokens[at])]
        alone = [name for name, _ in run.words] in ([["g"]] if found[-1].kind == "number" else [["g"], ["m"]])
        if strangers and (bracketed or (run.upright and not alone)):
            noted += _add_gap(found, tokens, k, end, run, is_known)
        elif strangers and not run.upright and (_ends_term(tokens, end) or _is_amid_factors(run, found, len(strangers))):
            first = strangers[0]  # the names before it are factors: m g N m
            found += tokens[k:first]
            own = run._replace(words=tuple(word for word in run.words if word[1] >= first))
            if _is_unmistakable(own, found):
                term = _last_term(found)[0]
                converted = _add_gap(found, tokens, first, end, own, is_known)
                plain = [ReadUnit(tokens[first].at, tokens[end - 1].end)] if any(map(is_known.is_parameter, term)) else []
                noted += converted or plain
            else:
                found += tokens[first:end]
        else:
            found += tokens[k:end]
        k = end
    return found, noted


class ReadUnit(NamedTuple):
    """The range of a unit in the text, and by what it multiplies the value before it."""

    at: int
    end: int
    factor: Fraction = Fraction(1)


def _names(tokens: Sequence[Token], source: Source, vocabulary: Vocabulary) -> Names:
    """The names of the robot and those on the left of an = sign."""
    defined = {spell(a.units) for a, b in pairwise(t for t in tokens if t.kind not in GAPS) if a.units and b.text == "="}
    return Names(replace(vocabulary, constants=False), source, {address_of(key) for key in defined})


class _Known:
    """Whether a word consists of names that have a meaning in the answer."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.found: dict[str, bool] = {}

    def __call__(self, token: Token) -> bool:
        key = spell(token.units)
        if key not in self.found:
            try:
                self.found[key] = bool(self.names.split(token))
            except FormatError:
                self.found[key] = False
        return self.found[key]

    def is_parameter(self, token: Token) -> bool:
        """Whether a parameter of the robot is in a word."""
        return self(token) and any(self.names.vocabulary.is_parameter(piece.text) for piece in self.names.split(token))


def _follows_value(found: Sequence[Token]) -> bool:
    """Whether a value ends here; a sign of multiplication may follow it."""
    last = [t for t in found[-6:] if t.kind not in GAPS][-2:]
    if last and last[-1].kind == "sign" and last[-1].text == "*":
        last.pop()
    if not last or last[-1].kind not in ("number", "word", "close", "end"):
        return False
    return last[-1].kind != "word" or spell(last[-1].units) not in FUNCTION_OF


def _run(tokens: Sequence[Token], k: int, source: Source, inside: bool = False) -> _Run | None:
    """The units that begin at a token; None for something else."""
    words: list[tuple[str, int]] = []
    divided, upright, end = False, False, k
    while k < len(tokens):
        token = tokens[k]
        if words and token.kind == "sign" and token.text in "*/":
            divided |= token.text == "/"
            k += 1
            continue
        styled = _UPRIGHT.match(token.text) is not None or (token.text == "{" and not inside and _is_upright(token, source))
        if styled and words and not upright:
            break  # of m g \mathrm{N m} the letters before are another run
        if token.kind == "word" and (name := _unit_name(token, bool(words))):
            upright |= styled
            words.append((name, k))
            k += 1
        elif styled and token.text == "{":
            inner = _run(tokens, k + 1, source, inside=True)
            if inner is None or inner.end >= len(tokens) or tokens[inner.end].text != "}":
                break
            upright = True
            words += inner.words
            divided |= inner.divided
            k = inner.end + 1
        else:
            break
        end = k = _after_power(tokens, k)
    return _Run(end, tuple(words), divided, upright) if words else None


def _unit_name(token: Token, follows: bool) -> str:
    """The unit that a word is, also with its power as in kgm2 or, behind another one that it ``follows``, kg m2; else empty."""
    name = spell(token.units)
    powered = _WITH_POWER.fullmatch(name)
    if powered and powered[1] in UNIT and (follows or powered[1] in _UNMISTAKABLE):
        return powered[1]
    return name if name in UNIT else ""


def _is_upright(brace: Token, source: Source) -> bool:
    """Whether the braces that open here hold upright letters: \\mathrm{…} or {\\rm …}."""
    before = source.text[max(0, brace.at - _STYLE_LENGTH) : brace.at]
    return _UPRIGHT_BEFORE.search(before) is not None or _RM.match(source.text, brace.at) is not None


def _after_power(tokens: Sequence[Token], k: int) -> int:
    """The position after the exponent of a unit: m^2, s^{-1}."""
    texts = [t.text for t in tokens[k : k + 5]]
    lengths = [n for n in range(2, len(texts) + 1) if _POWER.fullmatch(" ".join(texts[:n]))]
    return k + lengths[0] if lengths else k


def _ends_term(tokens: Sequence[Token], end: int) -> bool:
    following = tokens[end] if end < len(tokens) else None
    return following is None or following.kind in _ENDS_TERM or (following.kind == "sign" and following.text in "+-=")


def _is_amid_factors(run: _Run, found: Sequence[Token], strangers: int) -> bool:
    """Whether units without any mark stand between a number and further factors: 245.25 Nm cos(q_1)."""
    names = [name for name, _ in run.words]
    certain = names[0] == "N" or any(name in _UNMISTAKABLE for name in names)
    return certain and strangers == len(names) and bool(found) and found[-1].kind == "number"


def _is_unmistakable(run: _Run, found: Sequence[Token]) -> bool:
    """Whether units without any mark are read as such, not as names that are missing in the robot."""
    names = [name for name, _ in run.words]
    number = bool(found) and found[-1].kind == "number"
    if any(name in _UNMISTAKABLE for name in names) or (names[0] == "N" and (len(names) > 1 or number)):
        return True
    return number and (run.divided or (len(names) == 1 and names[0] not in _NO_UNIT_ALONE))


def _add_gap(found: list[Token], tokens: Sequence[Token], start: int, end: int, run: _Run, is_known: _Known) -> list[ReadUnit]:
    """Add a gap for a unit, which is returned if it changes the value; the sign of multiplication before it goes.

    Degrees become radians.
    """
    converted: list[ReadUnit] = []
    first, last = tokens[start], tokens[end - 1]
    if found[-1].kind == "sign" and found[-1].text == "*":
        found.pop()
    if [name for name, _ in run.words] == ["deg"] and found[-1].kind == "number":
        found[-1] = found[-1]._replace(text=repr(math.radians(float(found[-1].text))))
    else:
        converted = _convert(found, tokens[end : end + 1], is_known, first.at, last.end)
    found.append(Token("soft", "unit", first.at, last.end))
    return converted


def _convert(found: list[Token], following: Sequence[Token], is_known: _Known, at: int, end: int) -> list[ReadUnit]:
    """Multiply the term before a unit by the unit's value in those of the SI; one with parameters has its unit by them.

    The unit is returned if it changes the value.
    """
    source = is_known.names.source
    value = unit_value(source.text[at:end])
    if value is None or value.factor == 1 or not _follows_value(found):
        return []
    term, is_in_sum = _last_term(found)
    if any(is_known.is_parameter(token) for token in term):
        return []
    named = bool(following) and following[0].text == "="
    if named or is_in_sum:
        where = "behind a name" if named else "behind a sum whose other terms have no unit"
        cure = "write the values in units of the SI: kg, m, s, N, rad"
        raise source.error(at, f"the unit {source.excerpt(at, end)} {where}", cure)
    ratio = value.factor if value.factor.denominator < _LARGE else Fraction(float(value.factor))
    for sign, number in (("*", ratio.numerator), ("/", ratio.denominator)):
        if number != 1:
            found += [Token("sign", sign, at, at), Token("number", repr(float(number)), at, at)]
    return [ReadUnit(at, end, value.factor)]


def _last_term(found: Sequence[Token]) -> tuple[list[Token], bool]:
    """The words of the last term, and whether it follows another one of a sum that has no unit."""
    depth, signed = 0, False
    words: list[Token] = []
    for token in reversed(found):
        if token.kind in GAPS and token.kind != "newline" and token.text != "unit":
            continue
        if signed:
            return words, token.text not in ("unit", "=") and token.kind not in (*_ENDS_SUM, "open", "begin", "sign")
        depth += {"close": 1, "end": 1, "open": -1, "begin": -1}.get(token.kind, 0)
        if depth < 0 or (depth == 0 and (token.kind in _ENDS_SUM or token.text == "=")):
            break
        signed = depth == 0 and token.kind == "sign" and token.text in "+-"
        words += [token] if token.kind == "word" else []
    return words, False
