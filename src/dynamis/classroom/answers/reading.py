"""Parser of an answer: from its text to the expressions of its entries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dynamis.classroom.answers.answer import Answer, Located, Step
from dynamis.classroom.answers.chains import Chain, Target, first_target, read_chain, replaced_names, table_name
from dynamis.classroom.answers.grammar import parse
from dynamis.classroom.answers.layout import layout
from dynamis.classroom.answers.names import Address, Names, address_of, is_same
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.tokens import tokens_of
from dynamis.classroom.answers.tree import Evaluation, Grid, Name, Tree, Value, names_in, whole_terms
from dynamis.classroom.answers.units import without_units
from dynamis.classroom.answers.vocabulary import Vocabulary
from dynamis.classroom.answers.words import spell
from dynamis.display import short
from dynamis.errors import FormatError, printable
from dynamis.scalar import Node, directional, sqrt, topological


def parse_answer(text: str, vocabulary: Vocabulary, file: str = "answer") -> Answer:
    r"""The entries and definitions of an answer in LaTeX or plain text, over the vocabulary's symbols.

    >>> from dynamis.scalar import symbol
    >>> q, v, a = ([symbol(f"{x}{k}") for k in (1, 2)] for x in "qva")
    >>> names = Vocabulary(q, v, a, (True, True), {"m_2": symbol("m_2"), "l_2": symbol("l_2")})
    >>> answer = parse_answer(r"M_{12} = M_{21} = h \cos q_2, \quad h = m_2 l_2^2", names)
    >>> answer.of("M")[1, 0].node
    m_2*l_2*l_2*cos(q2)

    A syntax error is reported with file, line, column and a correction.
    """
    source = Source.of(text, file)
    return _Reading(source, vocabulary).answer()


@dataclass
class _Rule:
    """A chain with the syntax trees of its members; the last one is its value."""

    chain: Chain
    trees: list[Tree]


class _Reading:
    def __init__(self, source: Source, vocabulary: Vocabulary) -> None:
        self.source, self.vocabulary = source, vocabulary
        self.names = Names(vocabulary, source)
        self.rules: list[_Rule] = []
        self.scalars: dict[Address, tuple[_Rule, Target]] = {}  # what defines a name: the first chain that does
        self.tables: dict[str, _Rule] = {}
        self.values: dict[int, list[Value]] = {}
        self.skipped: list[Step] = []
        self.prose: list[tuple[int, str]] = []
        self.units: list[tuple[int, str, Fraction]] = []
        self.remarks: set[int] = set()
        self.entries: dict[str, dict[tuple[int, ...], Located]] = {}
        self.definitions: dict[str, Located] = {}
        self.equations: list[Located] = []
        self.used: set[int] = set()  # rules whose names other rules use

    def answer(self) -> Answer:
        chains = list(self.chains())
        for chain in chains:
            self.parse(chain)
        for rule in self.in_order():
            self.evaluate(rule)
        self.used = {id(used) for rule in self.rules for _, used in self.used_by(rule)}
        self.refuse_doubt()
        for rule in self.rules:
            self.record(rule)
        self.check_finite()
        if not self.entries and not self.definitions and not self.equations:
            raise self.no_answer()
        skipped, prose, equations, units = tuple(self.skipped), tuple(self.prose), tuple(self.equations), tuple(self.units)
        constants = dict(self.names.constants)
        return Answer(self.source.file, self.entries, self.definitions, skipped, prose, equations, constants, units)

    def no_answer(self) -> FormatError:
        if not self.skipped:
            cure = "write entries, as in M_{11} = …, or a matrix, as in M = [a, b; c, d]"
            return self.source.error(0, "no answer in this text", cure)
        line, text, _ = self.skipped[-1]
        parts = "whole vectors (variables without a joint's number) or matrices, derivatives or sums"
        found = f"no answer in this text: {short(text, 60)} has {parts}"
        cure = "write the answer out in the robot's symbols, with a joint's number at each variable, as in \\dot q_1"
        return self.source.error(self.source.at(line, 1), found, cure)

    def chains(self) -> Iterator[Chain]:
        tokens, read = without_units(tokens_of(self.source), self.source, self.vocabulary)
        found, prose, self.remarks = layout(tokens, self.source)
        self.vocabulary = self.names.vocabulary = self.vocabulary.defining(replaced_names(found, self.vocabulary))
        self.prose = [self.quoted(passage[0].at, passage[-1].end) for passage in prose]
        self.units = [(*self.quoted(unit.at, unit.end), unit.factor) for unit in read]
        heads = [first_target(statement, self.vocabulary) for statement in found]
        defined = {target.address for target in heads if target is not None}
        tables = {table_name(statement) for statement in found}
        for statement in found:
            chain = read_chain(statement, self.vocabulary, self.source, defined, tables)
            defined |= {target.address for target in chain.targets}
            if not chain.values or (chain.steps and chain.letter is None and not chain.targets):
                names = tuple(spell(t.units) for t in statement if t.kind == "word")
                self.skipped.append(Step(*self.quoted(chain.at, chain.end), names))
                continue
            self.names.scalars |= {target.address for target in chain.targets}
            self.names.arguments |= {t.key: t.arguments for t in chain.targets if t.arguments}
            if chain.letter is not None:
                self.names.tables.add(chain.letter)
            yield chain

    def quoted(self, at: int, end: int) -> tuple[int, str]:
        """The line of a position, and the text from it on."""
        return self.source.place(at)[0], self.source.excerpt(at, end)

    def parse(self, chain: Chain) -> None:
        trees = [parse(part, self.names, chain.letter or "") for part in chain.values]
        rule = _Rule(chain, trees)
        self.rules.append(rule)
        for target in chain.targets:
            self.scalars.setdefault(target.address, (rule, target))
        if chain.letter is not None:
            self.tables.setdefault(chain.letter, rule)

    def rule_of(self, name: Name) -> _Rule | None:
        """The chain that defines a name, or None for a name of the robot."""
        key = name.key.removeprefix("=")
        address = address_of(key)
        scalar = self.scalars.get(address)
        if key == name.key and self.vocabulary.resolve(key) is not None and address not in self.abbreviations:
            return None
        if scalar is not None:
            return scalar[0]
        if derived := self.names.derived(key):
            return self.scalars[derived[0]][0]
        if key != name.key and self.vocabulary.unknown(key) is not None:
            return None  # τ = [τ_1; τ_2] = …
        return self.tables.get(key) or self.tables.get(address[0])

    @cached_property
    def abbreviations(self) -> set[Address]:
        """The definitions that replace a sine or cosine of the same name: c_2 = cos(q_1 + q_2)."""
        return {address for address, (rule, target) in self.scalars.items() if self.is_abbreviation(rule, target)}

    def is_abbreviation(self, rule: _Rule, target: Target) -> bool:
        """Whether a definition of s_i or c_i depends on positions and not on rates, as an entry of the vector C q̇ does.

        One of c_123 has no parameters either, which Christoffel symbols have.
        """
        names, held, seen = self.vocabulary, set[int](), {id(rule)}
        if names.arc(target.key) is None or names.quantity(target.key) is not None:
            return False
        stack = [rule]
        while stack:
            for name in (name for tree in stack.pop().trees for name in names_in(tree)):
                value, own = names.resolve(name.key), self.scalars.get(address_of(name.key))
                if own is not None and own[0] is rule:
                    return False
                if value is not None:
                    held |= {id(node) for node in topological([value]) if node.op == "symbol"}
                elif own is None:
                    return False
                elif id(own[0]) not in seen:
                    seen.add(id(own[0]))
                    stack.append(own[0])
        positions = {id(x) for x in names.q}
        rates = {id(x) for x in (*names.v, *names.a)}
        return bool(held & positions) and not held & rates and (held <= positions or len(target.address[1]) < 3)

    def in_order(self) -> list[_Rule]:
        """The rules in order of dependence."""
        order: list[_Rule] = []
        state: dict[int, str] = {}
        for first in self.rules:
            stack = [(first, iter(self.used_by(first)))]
            while stack:
                rule, rest = stack[-1]
                state.setdefault(id(rule), "open")
                following = next(((n, r) for n, r in rest if state.get(id(r)) != "done"), None)
                if state[id(rule)] == "done":
                    stack.pop()
                elif following is None:
                    state[id(rule)] = "done"
                    order.append(rule)
                    stack.pop()
                elif state.get(id(following[1])) == "open":
                    raise self.circular(following[0])
                else:
                    stack.append((following[1], iter(self.used_by(following[1]))))
        return order

    def circular(self, name: Name) -> FormatError:
        key = name.key.removeprefix("=")
        if address_of(key) in self.scalars:
            return self.source.error(name.at, f"{printable(key)} is defined by itself", "define it in terms of other names")
        return self.source.error(name.at, f"{printable(key)} has no value", f"write it out, or define it: {key[:40]} = …")

    def used_by(self, rule: _Rule) -> list[tuple[Name, _Rule]]:
        found = ((name, self.rule_of(name)) for tree in rule.trees for name in names_in(tree))
        return [(name, used) for name, used in found if used is not None]

    def evaluate(self, rule: _Rule) -> None:
        evaluation = Evaluation(self.source, self.lookup, lambda value: self.differentiated(value, 1))
        self.values[id(rule)] = [evaluation.value(tree) for tree in rule.trees]

    def lookup(self, name: Name) -> Value:
        rule = self.rule_of(name)
        key = name.key.removeprefix("=")
        if rule is None:
            value = self.vocabulary.resolve(key)
            if value is None:
                value = self.vocabulary.unknown(key)
            if value is None:
                value = self.names.constants.get(key)
            assert value is not None  # the grammar lets only known names through
            return value
        found: Any = self.values[id(rule)][-1]
        defining = self.scalars.get(address_of(key))
        derived = self.names.derived(key) if defining is None else None
        if derived is not None:
            defining = self.scalars[derived[0]]
        if defining is not None:
            found = self.defined(found, defining[1])
            return found if derived is None else self.rate(found, derived[1], name)
        letter, index = address_of(key)
        if key in self.tables or not index:
            return found
        cell = _entries_of(found).get(index)
        if cell is None or cell[0] is None:
            raise self.source.error(name.at, f"the matrix {letter} has no entry {printable(key)}", "write its value")
        return cell[0]

    def defined(self, value: Any, target: Target) -> Any:
        """The value of a name from that of its chain."""
        value = -value if target.negative else value
        if target.squared and isinstance(value, int | float) and value < 0.0:
            raise self.source.error(target.at, f"the square of {printable(target.key)} is negative", "check its sign")
        return sqrt(value) if target.squared and not isinstance(value, Grid) else value

    def rate(self, value: Any, order: int, name: Name) -> Any:
        """The time derivative of an expression of the state."""
        if isinstance(value, Grid):
            raise self.source.error(name.at, f"{printable(name.key)} is the rate of a matrix", "write one entry")
        return self.differentiated(value, order)

    def differentiated(self, value: Any, order: int) -> Any:
        for _ in range(order):
            value = directional([value], *self.vocabulary.rates)[0]
        return value

    def refuse_doubt(self) -> None:
        """Reject C_{12} where it may be a cosine or an entry defined in the text."""
        every = [(name, tree) for rule in self.rules for tree in rule.trees for name in names_in(tree)]
        for name, tree in every:
            arc, defining = self.vocabulary.arc(name.key), self.scalars.get(address_of(name.key))
            if arc is None or defining is None or self.vocabulary.quantity(name.key) is not None:
                continue
            if defining[1].address in self.abbreviations:
                continue
            if len(defining[1].address[1]) == 1 and not any(name is lone for lone in whole_terms(tree)):
                continue  # c_1 = m_2 l_2 c_2 …: a factor is a cosine, as no entry of a vector is multiplied
            if not is_same(arc, self.values[id(defining[0])][-1]):
                line, _ = self.source.place(defining[1].at)
                found = f"{printable(name.key)} can be {arc} or the entry defined in line {line}"
                raise self.source.error(name.at, found, f"write {arc} for the former, another letter for the latter")

    def record(self, rule: _Rule) -> None:
        chain, values = rule.chain, self.values[id(rule)]
        if chain.letter is not None:
            self.record_matrix(rule, values)
        elif chain.targets:
            for target in chain.targets:
                self.record_scalar(rule, target, values)
        elif self.relates(values):
            self.relate(chain.at, chain.end, values)
        elif len(values) == 1 and all(id(other) in self.used for other in self.rules if other is not rule):
            self.add(("", ()), rule, values)
        elif chain.at in self.remarks and isinstance(rule.trees[0], Name):  # … with g = 9.81
            self.prose.append(self.quoted(chain.at, chain.end))
        elif len(values) < 2 or not all(is_same(values[0], x) for x in values):  # q_1 = θ_1 is not an answer
            raise self.nothing_defined(chain, rule.trees[0])

    def relates(self, values: Sequence[Any]) -> bool:
        """Whether the expressions of a chain are an equation for unknowns, or of motion without them."""
        if len(values) < 2 or any(isinstance(x, Grid) for x in values):
            return False
        same = all(is_same(values[0], x) for x in values)  # \ddot x = \ddot q_1
        return self.vocabulary.holds_unknown(values) or (not same and self.vocabulary.holds_acceleration(values))

    def relate(self, at: int, end: int, values: Sequence[Any]) -> None:
        first, *others = [x - values[-1] for x in values[:-1]]
        line, column = self.source.place(at)
        self.equations.append(Located(first, line, self.source.excerpt(at, end), column, tuple(others)))

    def nothing_defined(self, chain: Chain, first: Tree) -> FormatError:
        if isinstance(first, Name) and len(chain.values) > 1:
            name = self.source.excerpt(chain.values[0][0].at, chain.values[0][-1].end)
            found = f"{printable(name)} is a name of the robot and cannot be redefined"
            return self.source.error(chain.at, found, "remove the line, or choose another letter")
        if len(chain.values) == 1:
            found = "a line that is neither an equation nor a continuation"
            return self.source.error(chain.at, found, "begin it with an operator or a name and =; put % before comments")
        found = "an equation that defines no entry"
        return self.source.error(chain.at, found, "put the entry's name alone on one side, as in M_{11} = … or … = \\tau_1")

    def record_scalar(self, rule: _Rule, target: Target, values: Sequence[Value]) -> None:
        signed: list[Value] = []
        for value in values:
            if isinstance(value, Grid):
                raise self.source.error(target.at, f"{printable(target.key)} is set to a matrix", "write one entry")
            signed.append(self.defined(value, target))
        arc = self.vocabulary.arc(target.key)
        if arc is not None and is_same(arc, signed[-1]):
            return  # s_1 = sin(q_1) explains a shorthand
        texts = [self.source.excerpt(part[0].at, part[-1].end) for part in rule.chain.values]
        self.add(target.address, rule, signed, texts)

    def record_matrix(self, rule: _Rule, values: Sequence[Value]) -> None:
        chain = rule.chain
        letter = chain.letter or ""
        grids = [value if isinstance(value, Grid) else None for value in values]
        last = grids[-1]
        if last is None or last.shape == (1, 1):
            scalar = [v.rows[0][0].value if isinstance(v, Grid) else v for v in values]
            if known := [x for x in scalar if x is not None]:  # [*] leaves its only entry open
                self.add((letter, ()), rule, known)
            return
        others = [_entries_of(g) for g in grids[:-1] if g is not None]
        for index, (value, at, end) in _entries_of(last).items():
            if any(index not in other for other in others):
                raise self.source.error(chain.at, "matrices of different sizes are set equal", "give them the same size")
            if value is None:
                continue
            cells = [*(other[index] for other in others if other[index][0] is not None), (value, at, end)]
            equated = [cell[0] for cell in cells]
            zero = any(not isinstance(x, Node) and x == 0.0 for x in equated)
            if self.relates(equated) and (zero or self.vocabulary.holds_unknown(equated)):
                self.relate(at, end, equated)
            else:
                self.add((letter, index), rule, equated, [self.source.excerpt(*cell[1:]) for cell in cells], (at, end))

    def add(
        self,
        address: Address,
        rule: _Rule,
        values: Sequence[Any],
        texts: Sequence[str] = (),
        place: tuple[int, int] | None = None,
    ) -> None:
        """Record an entry or a definition; ``place`` is that of a matrix's cell."""
        letter, index = address
        at, end = place or (rule.chain.at, rule.chain.end)
        line, column = self.source.place(at)
        before = self.entries.get(letter, {}).get(index) if index else self.definitions.get(letter)
        text = self.source.excerpt(at, end)
        written = list(zip(values, texts or ("",) * len(values), strict=True))
        if before is None:
            written = [written[-1], *written[:-1]]
        else:
            known = (before.node, *before.also)
            written = [*zip(known, before.texts or ("",) * len(known), strict=True), *written]
            line, text, column = before.line, before.text, before.column
        different: list[tuple[Any, str]] = []
        for x in written:
            if not any(is_same(x[0], y) for y, _ in different):
                different.append(x)
        nodes, texts = zip(*different, strict=True)
        located = Located(nodes[0], line, text, column, nodes[1:], texts, used=id(rule) in self.used)
        if index or letter == "":
            self.entries.setdefault(letter, {})[index] = located
        else:
            self.definitions[letter] = located

    def check_finite(self) -> None:
        entries = [x for entries in self.entries.values() for x in entries.values()]
        for located in [*self.definitions.values(), *entries, *self.equations]:
            for node in topological([located.node, *located.also]):
                if node.op != "symbol" and any(not isinstance(x, Node) and not math.isfinite(x) for x in node.args):
                    at = self.source.at(located.line, located.column)
                    raise self.source.error(at, "a number is too large", "use realistic numbers")


def _entries_of(grid: Any) -> dict[tuple[int, ...], tuple[Any, int, int]]:
    """The cells of a matrix by their indices; a column, or a list [a, b], is a vector."""
    assert isinstance(grid, Grid)
    rows, columns = grid.shape
    found: dict[tuple[int, ...], tuple[Any, int, int]] = {}
    for i, row in enumerate(grid.rows):
        for j, cell in enumerate(row):
            index = (i,) if columns == 1 else (j,) if grid.flat and rows == 1 else (i, j)
            found[index] = (cell.value, cell.at, cell.end)
    return found
