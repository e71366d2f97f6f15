"""Definitions by a chain of equalities: M_{12} = M_{21} = …, h_{122} = -h_{211} = …, … = τ_1, or a matrix by its letter."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dynamis.classroom.answers.layout import has_table, members
from dynamis.classroom.answers.names import FUNCTION_OF, Address, address_of, ends_in
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.tables import GAPS, length_of_rate, slope_of
from dynamis.classroom.answers.tokens import Token
from dynamis.classroom.answers.vocabulary import Vocabulary, rate_of
from dynamis.classroom.answers.words import is_digit, spell


class Target(NamedTuple):
    """A name defined by a chain; ``negative`` if the chain defines −name, ``squared`` if its square."""

    key: str
    address: Address
    negative: bool
    arguments: tuple[str, ...]
    at: int
    squared: bool = False


@dataclass
class Chain:
    """One formula of the text: the names it defines and its expressions."""

    at: int
    end: int
    targets: list[Target] = field(default_factory=list)
    letter: str | None = None  # of the matrix it defines
    summed: bool = False  # whether sums in it were written out
    vectors: bool = False  # whether it has whole vectors beside matrices of the text: C \dot q
    values: list[Sequence[Token]] = field(default_factory=list)
    steps: int = 0


def read_chain(
    statement: Sequence[Token],
    vocabulary: Vocabulary,
    source: Source,
    defined: set[Address],
    tables: Collection[str] = (),
    *,
    vectors: bool = False,
) -> Chain:
    """The chain of a formula; ``defined`` holds the names that begin a formula, or were defined before; ``tables`` matrices.

    With ``vectors``, products of whole vectors and matrices of the text are expressions, and no steps of a derivation.
    """
    parts = members(statement)
    chain = Chain(statement[0].at, statement[-1].end)
    if len(parts) == 1 and statement[-1].text == "=":
        raise source.error(statement[-1].at, "there is nothing after this =", "write the expression")
    _refuse_second_kind(parts, vocabulary, source)
    if any(map(has_table, parts)):
        _read_matrix(chain, parts, source)
    else:
        _read_scalars(chain, parts, vocabulary, defined, tables, vectors)
    return chain


def _refuse_second_kind(parts: Sequence[Sequence[Token]], vocabulary: Vocabulary, source: Source) -> None:
    r"""Reject \Gamma^2_{11} = …, which differs from c_211 by the inverse of the inertia matrix and is no square."""
    head = [t for t in _bare(parts[0]) if t.text not in "{}"] if len(parts) > 1 else []
    if [t.kind for t in head] != ["word", "sign", "number"] or head[1].text != "^":
        return
    key = spell(head[0].units)
    letter, index = address_of(key)
    if letter == "Gamma" and len(index) == 2 and vocabulary.quantity(key) is None:
        found = "a Christoffel symbol with an upper index is one of the second kind, with the inverse of the inertia matrix"
        first = f"c_{{{head[2].text}{''.join(str(k + 1) for k in index)}}}"
        raise source.error(head[0].at, found, f"write those of the first kind, {first} = …")


def first_target(statement: Sequence[Token], vocabulary: Vocabulary) -> Target | None:
    """The name at the beginning of a formula, if it defines one."""
    parts = members(statement)
    if len(parts) < 2 or any(map(has_table, parts)):
        return None
    target = target_of(parts[0], vocabulary)
    return None if target is None or vocabulary.quantity(target.key) is not None else target


def table_name(statement: Sequence[Token]) -> str:
    """The letter of the matrix that a formula defines; empty if it defines none."""
    parts = members(statement)
    heads = [part for part in parts[:1] if len(parts) > 1 and not has_table(part) and any(map(has_table, parts))]
    return _label(_bare(heads[0])) if heads else ""


def matrix_names(statements: Sequence[Sequence[Token]], vocabulary: Vocabulary) -> set[str]:
    """The names that may be matrices: those of tables, and those whose formulas have such names, v = J w."""
    found = {table_name(statement) for statement in statements} - {""}
    heads = [(target.key, statement) for statement in statements if (target := first_target(statement, vocabulary))]
    robots = {name for name in found if vocabulary.quantity(name) is not None}  # g = […], and g in other formulas
    for _ in range(_MAX_STEPS if found else 0):
        for key, statement in heads:
            if key not in found and any(t.kind == "word" and ends_in(t, found - robots) for t in statement):
                found.add(key)
    return found


def gradient_of(part: Sequence[Token], vocabulary: Vocabulary) -> Target | None:
    """The entry that a derivative of the potential energy is, where this is asked: ∂U/∂q_2."""
    tokens = [t for t in _bare(part) if t.text not in "{}"]
    kinds = [t.kind for t in tokens if t.text != "/"]
    if not vocabulary.gradient or kinds not in (["frac", "step", "word", "step", "word"], ["step", "word", "step", "word"]):
        return None
    energy, position = (spell(t.units) for t in tokens if t.kind == "word")
    joint = next((k for k, q in enumerate(vocabulary.q) if vocabulary.quantity(position) is q), None)
    if energy not in ("U", "V", "P") or joint is None or vocabulary.quantity(energy) is not None:
        return None
    return Target(f"{vocabulary.gradient}{joint + 1}", (vocabulary.gradient, (joint,)), False, (), part[0].at)


def quadratic_form_of(part: Sequence[Token], vocabulary: Vocabulary) -> Target | None:
    r"""The quantity that a quadratic form of the rates is, where this is asked: \dot q^T C \dot q, ½ \dot q^T M \dot q."""
    tokens = [t for t in _without_arguments(_bare(part)) if t.text not in ("{", "}", "*")]
    factor, letters, letter = vocabulary.quadratic
    texts = [spell(t.units) if t.kind == "word" else t.text for t in tokens]
    if not letter or texts[-5:-2] + texts[-1:] != ["q'", "^", "T", "q'"] or texts[-2] not in letters:
        return None
    return Target(letter, (letter, ()), False, (), part[0].at) if "".join(texts[:-5]) in factor else None


def replaced_names(statements: Sequence[Sequence[Token]], vocabulary: Vocabulary) -> frozenset[str]:
    """The names that a text defines and that would otherwise mean a joint or the vector q: \\theta = q_2, q_2 = \\theta."""
    found = set()
    for statement in statements:
        parts = members(statement)
        table = table_name(statement)
        if table and (vocabulary.is_spelling(table) or vocabulary.is_replaceable(table)):
            found.add(table)
        if len(parts) < 2 or any(map(has_table, parts)):
            continue
        first, last = (target_of(part, vocabulary) for part in (parts[0], parts[-1]))
        if first is not None and vocabulary.is_spelling(first.key):
            found.add(first.key)
            continue
        if first is not None and vocabulary.is_replaceable(first.key):
            name, others = first.key, parts[1:]
        elif last is not None and vocabulary.is_vector(last.key) and len(parts) == 2 and _is_position(first, vocabulary):
            name, others = last.key, parts[:1]
        else:
            continue
        words = any(t.kind == "word" for part in others for t in part)
        if words and not any(_is_step(_bare(part), vocabulary) or _holds_vector(_bare(part), vocabulary) for part in others):
            found.add(name)
    return frozenset(found)


def _is_position(target: Target | None, vocabulary: Vocabulary) -> bool:
    return target is not None and vocabulary.is_position(target.key)


def _read_matrix(chain: Chain, parts: list[list[Token]], source: Source) -> None:
    tables = [part for part in parts if has_table(part)]
    others = [part for part in parts if not has_table(part)]
    head = parts[0] if not has_table(parts[0]) else parts[-1] if not has_table(parts[-1]) else None
    chain.letter = "" if head is None else _label(_bare(head))
    chain.values = list(tables)
    chain.steps = len(others) - (head is not None)
    if head is not None and _bare(head)[0].text == "-":
        raise source.error(head[0].at, "a sign before the letter of a matrix", "write it before the matrix")
    if head is not None and not chain.letter:
        raise source.error(head[0].at, "a matrix without a letter", "give it a letter, as in M = …")


def _read_scalars(
    chain: Chain,
    parts: list[list[Token]],
    vocabulary: Vocabulary,
    defined: set[Address],
    tables: Collection[str],
    vectors: bool,
) -> None:
    skipped = []
    product = vectors and any(_is_product(_bare(part), vocabulary, tables, defined) for part in parts[1:])
    unknown = any(t.kind == "word" and vocabulary.unknown(spell(t.units)) is not None for part in parts for t in part)
    for k, part in enumerate(parts):
        target = target_of(part, vocabulary)
        last = k == len(parts) - 1
        read = gradient_of(part, vocabulary) or quadratic_form_of(part, vocabulary)
        derivative = read if k == 0 and not last else None
        if derivative is not None:
            chain.targets.append(derivative)
        elif k == 0 and target is not None and _is_rate_of_new(target, parts, vocabulary, defined):
            chain.values.append(part)
        elif k == 0 and target is not None and (letter := _asked_letter(target, parts, vocabulary)):
            chain.targets.append(target._replace(address=(letter, ()), arguments=()))
        elif k == 0 and product and target is not None and _defines(target, chain, vocabulary, last, defined):
            chain.targets.append(target)  # c(q, \dot q) = C(q, \dot q) \dot q
        elif product and chain.targets and _is_product(_bare(part), vocabulary, tables, defined):
            chain.values.append(part)
            chain.vectors = True
        elif _is_step(_bare(part), vocabulary, tables, defined if chain.targets or unknown else ()) or (
            not last and _has_unknown_norm(_bare(part), vocabulary, defined, tables)
        ):
            chain.steps += 1
        elif _holds_vector(_bare(part), vocabulary):
            skipped.append(part)
        elif target is not None and len(parts) > 1 and _defines(target, chain, vocabulary, last, defined):
            chain.targets.append(target)
        else:
            chain.values.append(part)
    if not chain.values and any(t.address[1] for t in chain.targets):
        chain.values = [*skipped]  # an entry is no vector: an index was forgotten, which the grammar will say
    else:
        chain.steps += len(skipped)


def _asked_letter(target: Target, parts: Sequence[Sequence[Token]], vocabulary: Vocabulary) -> str:
    """The letter of the quantity in question that the first member of a chain is, though it has another meaning; else empty.

    g = m g l cos θ defines the gravity of a robot whose acceleration of gravity is g, and g = 9.81 does not; q̈_2 = … the
    acceleration. A whole vector may be zero: G(q) = 0.
    """
    others = [_bare(part) for part in parts[1:]]
    if target.negative or target.squared or (target.address[1] and vocabulary.letter_of(target.key) is None) or not others:
        return ""
    plain = [[t for t in part if t.text not in "{}+-" or t.kind == "word"] for part in others]
    numbers = [part[0].text if len(part) == 1 and part[0].kind == "number" else None for part in plain]
    zero = all(x is not None and float(x) == 0.0 for x in numbers)
    letter = vocabulary.letter_of(target.key)
    if letter is not None:
        return letter if zero or None in numbers else ""
    return target.key if zero and target.arguments and vocabulary.quantity(target.key) is None else ""


def _is_rate_of_new(target: Target, parts: Sequence[Sequence[Token]], vocabulary: Vocabulary, defined: set[Address]) -> bool:
    r"""Whether an equation of a derivative defines the name on its right: \dot x_1 = x_2, where only x_1 is defined."""
    rate, last = rate_of(target.key), target_of(parts[-1], vocabulary)
    if rate is None or last is None or len(parts) != 2 or address_of(rate[0]) not in defined:
        return False
    return last.address not in defined and vocabulary.resolve(last.key) is None


def _defines(target: Target, chain: Chain, vocabulary: Vocabulary, last: bool, defined: set[Address]) -> bool:
    """Whether a name in a chain is defined by it, not used."""
    if vocabulary.quantity(target.key) is not None:
        return False
    if last and not chain.values:
        return False  # M_{21} = M_{12}, c_{221} = h
    first = not chain.targets and not chain.values
    if vocabulary.arc(target.key) is not None:  # c_{12} is a cosine, but not on the left, nor among its like
        return first or (not last and any(t.address[0] == target.address[0] for t in chain.targets))
    return first or not last or not chain.targets or target.address not in defined


def target_of(part: Sequence[Token], vocabulary: Vocabulary) -> Target | None:
    """The name a member consists of: M_{11}, -h_{211}, b_{11}(q), C(1,2), v_1^2; None if it is more than a name."""
    tokens = _bare(part)
    if [t.kind for t in tokens[:3]] == ["norm", "word", "norm"]:  # \\|v\\|^2
        tokens = tokens[1:2] + tokens[3:]
    negative = bool(tokens) and tokens[0].kind == "sign" and tokens[0].text == "-"
    if negative:
        tokens = tokens[1:]
    if not tokens or tokens[0].kind != "word":
        return None
    key, at = spell(tokens[0].units), tokens[0].at
    squared = [t.text for t in tokens[1:] if t.text not in "{}"] == ["^", "2"] and vocabulary.unknown(key) is None
    if squared:
        tokens = tokens[:1]
    address = address_of(key)
    inside = tokens[2:-1]
    arguments: tuple[str, ...] = ()
    if len(tokens) > 1:
        if tokens[1].text not in ("(", "[") or tokens[-1].kind != "close" or any(t.kind not in _ARGUMENT for t in inside):
            return None
        numbers = [t.text for t in inside if t.kind == "number"]
        arguments = tuple(spell(t.units) for t in inside if t.kind == "word")
        if numbers and (arguments or address[1] or len(numbers) > 3 or not all(is_digit(x) and int(x[:5]) for x in numbers)):
            return None
        if numbers:
            address = (key, tuple(int(x[:5]) - 1 for x in numbers))
        elif not arguments or not all(_is_argument(x, vocabulary) for x in arguments):
            return None
    if address == ("tau", ()) and vocabulary.coordinates == 1:
        address = ("tau", (0,))
    return Target(key, address, negative, arguments, at, squared)


_ARGUMENT = ("word", "comma", "number")
_MAX_STEPS = 4  # of formulas by which a name is a matrix, where they stand in reverse order


def _bare(part: Sequence[Token]) -> list[Token]:
    return [t for t in part if t.kind not in GAPS]


def _without_arguments(part: Sequence[Token]) -> list[Token]:
    """The tokens without those in parentheses: M \\dot q of M(q) \\dot q."""
    found, depth = [], 0
    for token in part:
        depth += (token.text == "(") - (token.text == ")")
        found += [] if depth or token.text == ")" else [token]
    return found


def _is_argument(key: str, vocabulary: Vocabulary) -> bool:
    variables = {id(x) for x in (*vocabulary.q, *vocabulary.v, *vocabulary.a)}
    return key == "t" or vocabulary.is_vector(key) or id(vocabulary.quantity(key)) in variables


def _is_step(
    part: Sequence[Token], vocabulary: Vocabulary, tables: Collection[str] = (), defined: Collection[Address] = ()
) -> bool:
    """Whether a member belongs to a derivation: ∂, Σ, ∫, d/dt, a transpose of what is no matrix of the text.

    Derivatives of expressions in brackets and of ``defined`` names are evaluated.
    """
    read = 0  # up to where a derivative of an expression in brackets extends
    for k, token in enumerate(part):
        slope = slope_of(part[k:]) if token.kind in ("frac", "step") else None
        if slope is not None and vocabulary.is_variable(slope.variable):
            key = spell(slope.name.units) if slope.name is not None else ""
            own = slope.name is None or (address_of(key) in defined and key not in tables)
            read = k + slope.length if own else read
        if token.kind == "step" and k >= read:
            return True
        if (
            token.kind == "frac"
            and [t.text for t in part[k + 1 : k + 5]] == ["{", "d", "}", "{"]
            and not length_of_rate(part[k:])
        ):
            return part[k + 5].text[:1] == "d"
        raised = token.text == "^" and k > 0 and part[k - 1].kind == "word" and _is_transpose(part[k + 1 :])
        if raised and not ends_in(part[k - 1], tables):
            return True
    return False


def _has_unknown_norm(part: Sequence[Token], vocabulary: Vocabulary, defined: set[Address], tables: Collection[str]) -> bool:
    """Whether a member has the norm of what has no value, as in \\|v\\|^2 before it is written out."""
    inside = False
    for token in part:
        inside ^= token.kind == "norm"
        key = spell(token.units) if inside and token.kind == "word" else ""
        if key and key not in tables and address_of(key) not in defined and vocabulary.resolve(key) is None:
            return True
    return False


def _holds_vector(part: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """Whether a member contains whole vectors: M(q) q̈ + …"""
    depth = 0
    for k, token in enumerate(part):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if token.kind == "word" and depth == 0 and _is_vector(part, k, vocabulary):
            return True
    return False


def _is_product(part: Sequence[Token], vocabulary: Vocabulary, tables: Collection[str], defined: Collection[Address]) -> bool:
    r"""Whether a member has whole vectors beside matrices of the text that are no names of the robot: C \dot q."""
    own = {name for name in tables if vocabulary.quantity(name) is None}
    words = [t for t in _without_arguments(part) if t.kind == "word"]
    vectors = {key for t in words if vocabulary.is_vector(key := spell(t.units))}
    return (
        bool(vectors) and any(ends_in(t, own) for t in words) and not _is_step(part, vocabulary, {*tables, *vectors}, defined)
    )


def _is_vector(part: Sequence[Token], k: int, vocabulary: Vocabulary) -> bool:
    """Whether a word is the vector q, or a function of it without index: Y(q, q̇)."""
    key = spell(part[k].units)
    following = part[k + 1 : k + 3]
    if vocabulary.is_vector(key):
        return True
    if len(following) < 2 or following[0].text != "(" or following[1].kind != "word" or address_of(key)[1]:
        return False
    return vocabulary.is_vector(spell(following[1].units)) and vocabulary.resolve(key) is None and key not in FUNCTION_OF


def _is_transpose(tokens: Sequence[Token]) -> bool:
    if tokens and tokens[0].text == "{":
        end = next((k for k, t in enumerate(tokens) if t.text == "}"), 0)
        return any(t.kind == "word" and t.text.endswith("T") for t in tokens[1:end])
    return bool(tokens) and tokens[0].kind == "word" and spell(tokens[0].units) == "T"


def _label(head: Sequence[Token]) -> str:
    """The letter of a matrix: M of M(q), "C q'" of C(q, q̇) q̇, "f1^1" where there is an upper index."""
    words: list[str] = []
    depth = 0
    for k, token in enumerate(head):
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        raised = k > 0 and head[k - 1].text == "^"
        if token.kind == "word" and depth == 0 and not raised:
            words.append(spell(token.units))
        elif words and raised:
            end = k if token.text != "{" else next(j for j in range(k, len(head)) if head[j].text == "}")
            words[-1] += "^" + "".join(t.text for t in head[k : end + 1] if t.text not in "{}")
    return " ".join(words)
