"""Parser of an answer: from its text to the expressions of its entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from operator import neg
from typing import Any

from dynamis.classroom.answers.abbreviations import abbreviations, entries
from dynamis.classroom.answers.answer import Answer, Located, Step
from dynamis.classroom.answers.chains import Chain, Target, first_target, matrix_names, read_chain, replaced_names
from dynamis.classroom.answers.grammar import parse
from dynamis.classroom.answers.layout import layout
from dynamis.classroom.answers.names import Address, Names, address_of, is_same
from dynamis.classroom.answers.refusals import circular, is_number_of_parameter, no_answer, nothing_defined, refuse_infinite
from dynamis.classroom.answers.rules import Rule, in_order
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.sums import with_sums_written_out
from dynamis.classroom.answers.tokens import tokens_of
from dynamis.classroom.answers.tree import Cell, Evaluation, Grid, Name, Value, differentiated, names_in, whole_terms
from dynamis.classroom.answers.units import without_units
from dynamis.classroom.answers.vocabulary import Vocabulary
from dynamis.classroom.answers.words import spell
from dynamis.errors import FormatError, printable
from dynamis.scalar import Node, directional, sqrt


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
    reading = _Reading(source, vocabulary, vectors=not vocabulary.unknowns)
    try:
        return reading.answer()
    except FormatError as refused:
        if not reading.vectors_read:
            raise
        try:
            return _Reading(source, vocabulary).answer()
        except FormatError:
            raise refused from None


class _Reading:
    def __init__(self, source: Source, vocabulary: Vocabulary, *, vectors: bool = False) -> None:
        self.vectors, self.vectors_read = vectors, False  # whether products of whole vectors are to be read, and were
        self.source, self.vocabulary = source, vocabulary
        self.names = Names(vocabulary, source)
        self.rules: list[Rule] = []
        self.scalars: dict[Address, tuple[Rule, Target]] = {}  # what defines a name: the first chain that does
        self.tables: dict[str, Rule] = {}
        self.values: dict[int, list[Value]] = {}
        self.skipped: list[Step] = []
        self.prose: list[tuple[int, str]] = []
        self.units: list[tuple[int, str, Fraction]] = []
        self.remarks: set[int] = set()
        self.entries: dict[str, dict[tuple[int, ...], Located]] = {}
        self.definitions: dict[str, Located] = {}
        self.equations: list[Located] = []
        self.whole: set[str] = set()
        self.used: set[int] = set()  # rules whose names other rules use

    def answer(self) -> Answer:
        chains = list(self.chains())
        for chain in chains:
            self.parse(chain)
        self.derive_rates()
        for rule in in_order(self.rules, self.used_by, self.circular):
            self.evaluate(rule)
        self.used |= {id(used) for rule in self.rules for _, used in self.used_by(rule)}
        self.refuse_doubt()
        for rule in self.rules:
            self.record(rule)
        entries = [x for row in self.entries.values() for x in row.values()]
        refuse_infinite(self.source, [*self.definitions.values(), *entries, *self.equations])
        if not self.entries and not self.definitions and not self.equations:
            raise no_answer(self.source, self.skipped)
        skipped, prose, equations, units = tuple(self.skipped), tuple(self.prose), tuple(self.equations), tuple(self.units)
        constants, whole = dict(self.names.constants), frozenset(self.whole)
        return Answer(self.source.file, self.entries, self.definitions, skipped, prose, equations, constants, units, whole)

    def chains(self) -> Iterator[Chain]:
        tokens, read = without_units(tokens_of(self.source), self.source, self.vocabulary)
        found, prose, self.remarks = layout(tokens, self.source)
        self.vocabulary = self.names.vocabulary = self.vocabulary.defining(replaced_names(found, self.vocabulary))
        self.prose = [self.quoted(passage[0].at, passage[-1].end) for passage in prose]
        self.units = [(*self.quoted(unit.at, unit.end), unit.factor) for unit in read]
        heads = [first_target(statement, self.vocabulary) for statement in found]
        keys = [target.key for target in heads if target is not None]
        sums = {k: written for k, x in enumerate(found) if (written := with_sums_written_out(x, self.source))}
        sums = {k: x for k, x in sums.items() if (head := heads[k]) is not None and keys.count(head.key) == 1}
        found = [sums.get(k, statement) for k, statement in enumerate(found)]
        defined = {target.address for target in heads if target is not None}
        tables = self.names.matrices = matrix_names(found, self.vocabulary)
        for k, statement in enumerate(found):
            chain = read_chain(statement, self.vocabulary, self.source, defined, tables, vectors=self.vectors)
            self.vectors_read |= chain.vectors
            chain.summed = k in sums
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

    def skip(self, chain: Chain) -> None:
        """Take a chain with its names out of the answer."""
        self.names.forget({target.address for target in chain.targets})
        self.skipped.append(Step(*self.quoted(chain.at, chain.end), tuple(target.key for target in chain.targets)))

    def quoted(self, at: int, end: int) -> tuple[int, str]:
        """The line of a position, and the text from it on."""
        return self.source.place(at)[0], self.source.excerpt(at, end)

    def parse(self, chain: Chain) -> None:
        trees = []
        self.names.vectors = chain.vectors
        for part in list(chain.values):
            try:
                trees.append(parse(part, self.names, chain.letter or ""))
            except FormatError:
                if not (chain.summed or any(t.kind == "step" for t in part)):
                    raise
                chain.values.remove(part)  # a step of a derivation, such as T = \sum_{i=1}^2 T_i without T_1
        if not trees:
            self.skip(chain)
            return
        rule = Rule(chain, trees)
        self.rules.append(rule)
        for target in chain.targets:
            self.scalars.setdefault(target.address, (rule, target))
        if chain.letter is not None:
            self.tables.setdefault(chain.letter, rule)

    def rule_of(self, name: Name) -> Rule | None:
        """The chain that defines a name, or None for a name of the robot."""
        key = name.key.removeprefix("=")
        address = address_of(key)
        scalar = self.scalars.get(address)
        if key == name.key and self.vocabulary.resolve(key) is not None and address not in self.abbreviations:
            return None
        if scalar is not None:
            return scalar[0]
        if derived := self.names.derived(key):
            return self.rule_of(Name(derived[0], name.at))
        if key != name.key and self.vocabulary.unknown(key) is not None:
            return None  # τ = [τ_1; τ_2] = …
        return self.tables.get(key) or self.tables.get(address[0])

    @cached_property
    def abbreviations(self) -> set[Address]:
        return abbreviations(self.vocabulary, self.scalars, self.tables) | self.entries_of_tables[0]

    @cached_property
    def entries_of_tables(self) -> tuple[set[Address], set[Address]]:
        used = [name.key for rule in self.rules for name in rule.names()]
        return entries(self.vocabulary, self.scalars, self.tables, used)

    def derive_rates(self) -> None:
        r"""Take \dot\omega = … as an equation where the answer defines ω and asks for equations: its value is that of dω/dt."""
        if self.vocabulary.unknowns:
            rates = {t.address: base[0] for x in self.rules for t in x.chain.targets if (base := self.names.rate(t.key))}
            self.names.scalars -= rates.keys()
            taken = {address: self.scalars.pop(address) for address in rates}
            kept = {address: taken[address] for address, base in rates.items() if not self.is_of_state(base)}
            self.scalars |= kept  # h' beside a constant h
            bases = [self.rule_of(Name(base, 0)) for address, base in rates.items() if address not in kept]
            self.used |= {id(rule) for rule in bases if rule is not None}
            self.names.scalars |= kept.keys()

    def is_of_state(self, key: str) -> bool:
        """Whether the value of a name depends on the variables of the state or their rates."""
        first = self.rule_of(Name(key, 0))
        stack, seen = [first] if first is not None else [], set[int]()
        while stack:
            rule = stack.pop()
            seen.add(id(rule))
            for name in rule.names():
                used, value = self.rule_of(name), self.vocabulary.resolve(name.key)
                if used is None and value is not None and self.vocabulary.holds_state([value]):
                    return True
                stack += [used] if used is not None and id(used) not in seen else []
        return False

    def circular(self, name: Name) -> FormatError:
        return circular(self.source, name, scalar=address_of(name.key.removeprefix("=")) in self.scalars)

    def used_by(self, rule: Rule) -> list[tuple[Name, Rule]]:
        found = ((name, self.rule_of(name)) for tree in rule.trees for name in names_in(tree))
        return [(name, used) for name, used in found if used is not None]

    def evaluate(self, rule: Rule) -> None:
        evaluation = Evaluation(self.source, self.lookup, self.slope, self.vocabulary.decimals)
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
            if value is None and (column := self.vocabulary.vector(key)):
                return Grid(tuple((Cell(x, name.at, name.at),) for x in column))
            assert value is not None  # the grammar lets only known names through
            return value
        if derived := self.names.derived(key):
            return differentiated(self.lookup(Name(derived[0], name.at)), self.vocabulary.rates, derived[1])
        found: Any = self.values[id(rule)][-1]
        defining = self.scalars.get(address_of(key))
        if defining is not None:
            return self.defined(found, defining[1])
        letter, index = address_of(key)
        if key in self.tables or not index:
            return found
        cell = found.entries().get(index)
        if cell is None or cell[0] is None:
            raise self.source.error(name.at, f"the matrix {letter} has no entry {printable(key)}", "write its value")
        return cell[0]

    def defined(self, value: Any, target: Target) -> Any:
        """The value of a name from that of its chain."""
        value = value if not target.negative else value.map(neg) if isinstance(value, Grid) else -value
        if target.squared and isinstance(value, int | float) and value < 0.0:
            raise self.source.error(target.at, f"the square of {printable(target.key)} is negative", "check its sign")
        return sqrt(value) if target.squared and not isinstance(value, Grid) else value

    def slope(self, value: Any, variable: str) -> Any:
        """The derivative with respect to a variable, or to time."""
        by: Any = self.vocabulary.quantity(variable)
        return directional([value], [by], [1.0])[0] if variable else differentiated(value, self.vocabulary.rates, 1)

    def refuse_doubt(self) -> None:
        """Reject C_{12} where it may be a cosine or an entry defined in the text."""
        every = [(name, tree) for rule in self.rules for tree in rule.trees for name in names_in(tree)]
        for name, tree in every:
            arc, defining = self.vocabulary.arc(name.key), self.scalars.get(address_of(name.key))
            if arc is not None and address_of(name.key) in self.entries_of_tables[1]:
                found = f"{printable(name.key)} can be {arc} or an entry of {printable(address_of(name.key)[0])}"
                raise self.source.error(name.at, found, f"write {arc} for the former, another letter for the latter")
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

    def record(self, rule: Rule) -> None:
        chain, values = rule.chain, self.values[id(rule)]
        if chain.letter is not None:
            self.record_matrix(rule, values, chain.letter)
        elif chain.targets:
            for target in chain.targets:
                self.record_scalar(rule, target, values)
        elif self.relates(values):
            self.relate(chain.at, chain.end, values)
        elif len(values) == 1 and all(id(other) in self.used for other in self.rules if other is not rule):
            self.add(("", ()), rule, values)
        elif (chain.at in self.remarks and isinstance(rule.trees[0], Name)) or (  # … with g = 9.81
            len(self.rules) > 1 and is_number_of_parameter(self.vocabulary, rule.trees[0], values)
        ):
            self.prose.append(self.quoted(chain.at, chain.end))
        elif len(values) < 2 or not all(is_same(values[0], x) for x in values):  # q_1 = θ_1 is not an answer
            first = rule.trees[0]
            if not isinstance(first, Name) or not self.vocabulary.has_rate(values):
                raise nothing_defined(self.source, chain, first)
            self.add((first.key, ()), rule, values)  # \dot\theta = p/I, to be compared

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

    def record_scalar(self, rule: Rule, target: Target, values: Sequence[Value]) -> None:
        signed: list[Any] = [self.defined(value, target) for value in values]
        signed = [x.rows[0][0].value if isinstance(x, Grid) and x.shape == (1, 1) else x for x in signed]  # \dot q^T S_1 \dot q
        signed = [x for x in signed if x is not None]
        if any(isinstance(value, Grid) for value in signed):
            if len(target.address[1]) > 1 or target.squared:
                raise self.source.error(target.at, f"{printable(target.key)} is set to a matrix", "write one entry")
            self.record_matrix(rule, signed, target.key)
            return
        texts = [self.source.excerpt(part[0].at, part[-1].end) for part in rule.chain.values]
        rate = self.names.rate(target.key) if self.vocabulary.unknowns else None
        if rate is not None and address_of(target.key) not in self.scalars:
            derived: Any = self.lookup(Name(target.key, target.at))
            if all(is_same(derived, x) for x in signed):
                return  # \dot x_1 = x_2 of states x_1 = q and x_2 = \dot q
            if not isinstance(derived, Grid):
                signed, texts = [derived, *signed], ["", *texts]
        arc = self.vocabulary.arc(target.key)
        if arc is not None and is_same(arc, signed[-1]):
            return  # s_1 = sin(q_1) explains a shorthand
        self.add(target.address, rule, signed, texts)

    def record_matrix(self, rule: Rule, values: Sequence[Value], letter: str) -> None:
        chain = rule.chain
        grids = [value if isinstance(value, Grid) else None for value in values]
        rate = self.names.rate(letter) if self.vocabulary.unknowns else None
        if rate is not None and letter in self.tables:
            derived = differentiated(self.lookup(Name(rate[0], chain.at)), self.vocabulary.rates, rate[1])
            grids = [derived, *grids] if isinstance(derived, Grid) else grids
        last = grids[-1]
        if last is None or last.shape == (1, 1):
            scalar = [v.rows[0][0].value if isinstance(v, Grid) else v for v in values]
            if known := [x for x in scalar if x is not None]:  # [*] leaves its only entry open
                self.add((letter, ()), rule, known)
            return
        self.whole.add(letter)
        others = [g.entries() for g in grids[:-1] if g is not None]
        for index, (value, at, end) in last.entries().items():
            if any(index not in other for other in others):
                raise self.source.error(chain.at, "matrices of different sizes are set equal", "give them the same size")
            if value is None:
                continue
            cells = [*(other[index] for other in others if other[index][0] is not None), (value, at, end)]
            equated = [cell[0] for cell in cells]
            # [\dot\theta; \dot\omega] = [\omega; …]
            moving = (not letter or rate is not None) and self.vocabulary.has_rate(equated)
            zero = any(not isinstance(x, Node) and x == 0.0 for x in equated)
            if moving and all(is_same(equated[0], x) for x in equated):
                continue
            if self.relates(equated) and (zero or moving or self.vocabulary.holds_unknown(equated)):
                self.relate(at, end, equated)
            else:
                self.add((letter, index), rule, equated, [self.source.excerpt(*cell[1:]) for cell in cells], (at, end))

    def add(
        self,
        address: Address,
        rule: Rule,
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
        used = id(rule) in self.used or (before is not None and before.used)
        different: list[tuple[Any, str]] = []
        for x in written:
            if not any(is_same(x[0], y) for y, _ in different):
                different.append(x)
        nodes, texts = zip(*different, strict=True)
        located = Located(nodes[0], line, text, column, nodes[1:], texts, used=used)
        if index or letter == "":
            self.entries.setdefault(letter, {})[index] = located
        else:
            self.definitions[letter] = located
