"""Checking of an exercise answer against the closed form, with the probable cause of each error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dynamis.classroom.answers import DECIMAL, Answer, Decimals, Located, Vocabulary, has_rounded, parse_answer
from dynamis.classroom.answers.blanks import product_with_commas, row_with_commas, with_commas
from dynamis.classroom.answers.written import written
from dynamis.classroom.checking import parametrisation, regressors
from dynamis.classroom.checking.actuators import (
    ENERGIES,
    NO_MOTORS,
    ActuatorAnswer,
    MotorNames,
    elastic_motor_names,
    motor_names,
    with_motor_energies,
)
from dynamis.classroom.checking.asked_entries import asked_entries, is_whole, is_zero, with_energies_of_links
from dynamis.classroom.checking.assumptions import under_assumptions
from dynamis.classroom.checking.causes import Cause
from dynamis.classroom.checking.comparison import AnswerComparison
from dynamis.classroom.checking.disagreements import disagreements
from dynamis.classroom.checking.fitting import fitted, shape_of
from dynamis.classroom.checking.gears import GearedAnswer, gear_ratios, motor_angles, motor_torques, ratio_symbols
from dynamis.classroom.checking.link_jacobians import with_angular_jacobian
from dynamis.classroom.checking.matrix_equation import with_matrix_equation
from dynamis.classroom.checking.motion_equations import solved_torques, torque_names
from dynamis.classroom.checking.quantities import (
    Quantity,
    canonical,
    in_convention,
    names,
    quantity,
)
from dynamis.classroom.checking.rates import torque_candidates, with_rates
from dynamis.classroom.checking.robot_names import abbreviated, by_joint_names, chosen, robot_symbols, vocabulary
from dynamis.classroom.checking.unit_notes import converted, unit_notes
from dynamis.classroom.checking.unread import unchecked
from dynamis.classroom.checking.verdict import EntryVerdict, Verdict
from dynamis.errors import DynamisError, FormatError, InputError
from dynamis.scalar import Node, directional, is_number, topological
from dynamis.symbolic import factored
from dynamis.symbolic.budget import BudgetSpent
from dynamis.symbolic.closed_form import ClosedForm
from dynamis.symbolic.notation import NOTATIONS, Notation, notation_of, plain_text

Index = tuple[int, ...]
__all__ = ["EntryVerdict", "Quantity", "Verdict", "canonical", "check_answer", "names"]


def check_answer(
    form: ClosedForm,
    name: str | Quantity,
    text: Any,
    *,
    body: int | None = None,
    notation: str | Notation | None = None,
    parameters: Mapping[str, Any] | None = None,
    file: str = "answer",
    tolerance: float = 0.0,
) -> Verdict:
    """Compare an answer with a quantity, such as "mass-matrix", "coriolis" or "gravity".

    ``text`` is LaTeX or plain formulas; or expressions, matrices or equations of SymPy, formulas of a closed form, or lists of
    these and of numbers, which are read by the names of their symbols.

    Any algebraic form of the correct answer is accepted, also a part of it: the verdict lists the entries not given.
    ``notation`` is the notation of the answer; without it, that of the robot is tried first, then that of each course.
    ``parameters`` defines additional names. With ``tolerance``, coefficients may differ by this fraction of the largest one.
    Without it, each decimal of four digits or more is right to half a unit of its last digit, and the verdict says so.

    >>> import dynamis as dy
    >>> arm = dy.load("planar_2r").closed_form()
    >>> print(dy.check_answer(arm, "gravity", r"g_2 = m_2 g l_2 \\cos(q_1 + q_2)").findings[0])
    g_2: right
    """
    if not isinstance(form, ClosedForm):
        raise InputError(f"check_answer takes a closed form, such as robot.closed_form(), got {type(form).__name__}")
    asked = name if isinstance(name, Quantity) else quantity(form, name, body)
    if not (is_number(tolerance) and 0.0 <= tolerance < float("inf")):
        raise InputError(f"tolerance must be a number from 0 on, a fraction of the largest coefficient, got {tolerance!r}")
    extra = {} if parameters is None else parameters
    if not isinstance(extra, Mapping) or not all(isinstance(name, str) for name in extra):
        raise InputError(f"parameters must be a mapping of names to numbers or symbols, such as {{'a': 0.5}}, got {extra!r}")
    reading = _Reading(form, asked, written(text, asked.letters[0]), notation, extra, file, float(tolerance))
    try:
        return by_joint_names(form, lambda numbered: _by_parameters(replace(reading, numbered=numbered)))
    except BudgetSpent as error:
        raise InputError(f"{file}: {error}: shorten the answer, or cancel its quotients and large powers") from None


def _by_parameters(reading: _Reading) -> tuple[Verdict, list[Any]]:
    """The verdict with names such as c_1 as the robot's parameters, or as cosines if it is right only so; and its nodes."""
    verdict, used = reading.verdict(frozenset())
    doubtful = abbreviated(reading.form, used)
    if verdict.correct or not doubtful:
        return verdict, used
    for names_read in chosen(doubtful):
        try:
            other, others = reading.verdict(names_read)
        except DynamisError:
            continue
        if other.correct:
            said = [f"{x} was read as {doubtful[x]}, though the robot has a parameter of this name" for x in sorted(names_read)]
            return replace(other, notes=(*other.notes, *said)), others
    said = [f"{x} was read as the robot's parameter, not as {doubtful[x]}" for x in sorted(doubtful)]
    return replace(verdict, notes=(*verdict.notes, *said)), used


@dataclass(frozen=True)
class _Reading:
    """An answer to a question, and how it is to be read and compared."""

    form: ClosedForm
    asked: Quantity
    text: str
    notation: str | Notation | None
    extra: Mapping[str, Any]
    file: str
    tolerance: float
    decimals: Decimals | None = None  # symbols for those that may be rounded
    numbered: bool = False

    def verdict(self, hidden: frozenset[str]) -> tuple[Verdict, list[Any]]:
        """The verdict on the answer, read without the parameters that are ``hidden``; and the nodes it consists of."""
        verdict, nodes = self._verdict(hidden)
        if verdict.correct or not has_rounded(self.text):
            return verdict, nodes
        try:
            rounded, _ = replace(self, decimals=Decimals())._verdict(hidden)
        except DynamisError:  # a decimal where only a number may stand, such as an exponent
            return verdict, nodes
        others = {x.entry: x for x in rounded.findings}
        findings = tuple(x if x.right else others.get(x.entry, x) for x in verdict.findings)
        return replace(verdict, findings=findings, remark=rounded.remark, hint=rounded.hint), nodes

    def _verdict(self, hidden: frozenset[str]) -> tuple[Verdict, list[Any]]:
        form, asked = self.form, self.asked
        text = _with_separated_cells(self.text, asked, form.n)
        answer, used, angles = self._read(text, hidden)
        asked = in_convention(asked, used)
        nodes = [node for x in (*(x for _, x in answer.formulas()), *answer.equations) for node in (x.node, *x.also)]
        answer, asked, notes = with_energies_of_links(form, answer, asked)
        answer, asked = with_angular_jacobian(form, answer, asked, used)
        motion = _Motion(asked, answer)
        parts: list[Located] = []
        if asked.name == "equations":
            answer, parts, notes = with_matrix_equation(form, answer)
            motion = _motion(form, asked, answer, motor_names(form, used, text), self.decimals)
        notes += angles
        asked = motion.asked
        read: Sequence[Located] = [*motion.read, *parts]
        entries = {} if motion.is_of_motors else self.entries(motion.given, asked, motion.answer)
        asked, said = with_motor_energies(form, asked, [node for x in entries.values() for node in (x.node, *x.also)])
        notes += [
            *said,
            *_passages(answer, asked),
            *motion.notes,
            *([] if motion.given else _other_names(asked, answer, entries)),
        ]
        remark = Cause("", "")
        if asked.name == "parameters":
            asked, remark = parametrisation.reference(form, asked, self._as_written(entries))
        stated: tuple[EntryVerdict, ...] = ()
        if asked.name == "regressor":
            own = next((answer.entries[x] for x in quantity(form, "parameters").letters if x in answer.entries), {})
            asked, remark, stated, read = regressors.reference(form, asked, *map(self._as_written, (entries, own)))
        asked, entries = under_assumptions(form, answer, asked, entries)

        def compared(asked: Quantity, entries: Mapping[tuple[int, ...], Located]) -> Verdict:
            return self._compared(asked, entries, used, text)

        verdict = compared(asked, {} if stated else entries)
        if stated:
            verdict = replace(verdict, findings=stated, absent=())
        if asked.name == "parameters" and verdict.correct and is_whole(answer, entries) and not verdict.complete:
            finding = parametrisation.incomplete(form, asked, self._as_written(entries))
            verdict = verdict if finding is None else replace(verdict, findings=(*verdict.findings, finding), absent=())
        if answer.constants and not verdict.correct:  # the constants are not what is wrong
            values = {id(x): 0.0 for x in answer.constants.values() if not _is_factor(x, form, answer)}
            entries = {index: _with_values(x, values) for index, x in entries.items()}
            verdict = compared(asked, entries)
        if asked.name == "christoffel" and not verdict.correct and not all(map(is_zero, entries.values())):
            chosen = self.notation is not None
            verdict, remark = _in_either_convention(
                self.asked, used, chosen=chosen, verdict=verdict, compared=lambda other: compared(other, entries)
            )
        verdict = verdict if motion.drives is None else motion.drives.merged(verdict, compared)
        differing = disagreements(form, motion.answer, [*entries.values(), *read])
        findings, absent = (*verdict.findings, *motion.findings, *differing), (*verdict.absent, *motion.missing)
        verdict = replace(verdict, findings=findings, absent=absent)
        left = unchecked(form, asked, answer, [*read, *entries.values()], {index[0] for index in entries if index})
        notes += left.others
        notes += unit_notes(form, asked, entries, text, robot_symbols(form).keys())
        if remark.text:
            verdict = replace(verdict, remark=remark.text, hint=remark.hint)
        return replace(verdict, notes=tuple(notes), unread=tuple(left.equations)), nodes

    def _read(self, text: str, hidden: frozenset[str]) -> tuple[Answer, Notation, list[str]]:
        """The answer and its notation; with a note where it has angles θ_m = n q of motors and does not define them."""
        form, asked, extra, rest = self.form, self.asked, self.extra, (self.file, hidden, self.numbered, self.decimals)
        try:
            return *_read(form, asked, text, self.notation, extra, *rest), []
        except FormatError as refused:
            if not (angles := motor_angles(form)):
                raise
            try:
                answer, used = _read(form, asked, text, self.notation, {**angles, **extra}, *rest)
            except FormatError:
                raise refused from None
        relations = (
            f"theta_m{k + 1} = {n if isinstance(n, Node) else format(n, 'g')}*q_{k + 1}" for k, n in gear_ratios(form).items()
        )
        return answer, used, [f"angles and rates of motors are read by {', '.join(relations)}"]

    def entries(self, given: Mapping[Index, Located], asked: Quantity, answer: Answer) -> dict[Index, Located]:
        """The entries to compare: those ``given`` by equations, or else those of the answer."""
        if not given and asked.name == "equations":
            answer = torque_candidates(self.form, answer)
            if not answer.entries and not answer.definitions:
                return {}
        return fitted(given or asked_entries(self.form, answer, asked), asked, self.file)

    def _compared(self, asked: Quantity, entries: Mapping[tuple[int, ...], Located], used: Notation, text: str) -> Verdict:
        numeric = not robot_symbols(self.form)
        decimals = numeric or re.search(DECIMAL, text) is not None
        rounded = Decimals() if self.decimals is None else self.decimals
        return AnswerComparison(self.form, asked, entries, used, self.tolerance, rounded, decimals).verdict()

    def _as_written(self, entries: Mapping[Index, Located]) -> dict[Index, Located]:
        """Entries with the values of the decimals that are symbols."""
        if self.decimals is None:
            return dict(entries)
        values = self.decimals.values
        return {index: replace(x, node=values(x.node), also=tuple(map(values, x.also))) for index, x in entries.items()}


@dataclass(frozen=True)
class _Motion:
    """The equations of motion of an answer: the torques ``given`` by them, and the ``answer`` with what they do not say.

    ``read`` are the formulas from which these follow, ``findings`` are contradictions, ``drives`` the actuators' equations,
    ``missing`` the torques of an answer without any.
    """

    asked: Quantity
    answer: Answer
    given: Mapping[Index, Located] = field(default_factory=dict)
    read: Sequence[Located] = ()
    notes: Sequence[str] = ()
    findings: Sequence[EntryVerdict] = ()
    drives: ActuatorAnswer | None = None
    missing: Sequence[str] = ()

    @property
    def is_of_motors(self) -> bool:
        """Whether all equations are those of actuators."""
        return self.drives is not None and bool(self.drives.read) and not self.given


def _motion(form: ClosedForm, asked: Quantity, answer: Answer, motors: MotorNames, decimals: Decimals | None) -> _Motion:
    """The equations of motion of an answer, in which gears, states and actuators may have names of their own."""
    geared = GearedAnswer(form, answer)
    rates = with_rates(form, geared.answer)
    drives = ActuatorAnswer(form, asked, rates.answer, motors)
    given, asked, unactuated, read, missing = solved_torques(form, asked, drives.rest, decimals)
    notes = [*drives.notes, *geared.notes, *(f"joint {k + 1} is taken as not actuated: τ_{k + 1} = 0" for k in unactuated)]
    findings = [*rates.findings, *geared.findings]
    read = [*read, *geared.read, *rates.read, *drives.read]
    given, asked = drives.in_written_form(geared.in_form(given), asked)
    torques = [] if drives.read else [plain_text(form.algebra.letters.variable("torque", k + 1)) for k in missing]
    return _Motion(asked, rates.answer, given, read, notes, findings, drives, torques)


def _passages(answer: Answer, asked: Quantity) -> list[str]:
    """Notes on the passages of the text that were not read, or whose reading is to be told."""
    notes = [f"not read (line {line}): {passage}" for line, passage in answer.prose]
    notes += [f"read as a unit (line {line}): {converted(unit, factor)}" for line, unit, factor in answer.units]
    if named := [str(x) for x in answer.constants.values() if not _is_datum(x, asked)]:
        taken = f"not of the robot, taken as constant{'s' if len(named) > 1 else ''} of the datum: {' and '.join(named)}"
        notes.append(taken)
    return notes


def _other_names(asked: Quantity, answer: Answer, entries: Mapping[Index, Located]) -> list[str]:
    """Notes on names that are no letters of torques and are read as torques all the same: X = …"""
    if asked.name != "equations":
        return []
    found = [(name, index) for name, x in answer.formulas() for index, y in entries.items() if name and x is y]
    return [f"{name} is read as the torque tau_{index[0] + 1}" for name, index in found if index in asked.entries]


def _with_separated_cells(text: str, asked: Quantity, joints: int) -> str:
    """The text with commas for the blanks between the cells of its matrices."""
    shape = shape_of(asked.entries)
    if not shape:
        return product_with_commas(text, joints)
    return with_commas(text, shape[1]) if len(shape) == 2 else row_with_commas(text, shape[0], asked.letters)


def _in_either_convention(
    asked: Quantity, used: Notation, *, chosen: bool, verdict: Verdict, compared: Callable[[Quantity], Verdict]
) -> tuple[Verdict, Cause]:
    """The verdict on Christoffel symbols with the index of the equation where more of them are right, and a remark on that.

    All of them are needed for this, in a notation that was not ``chosen``: a few can be right at either end by a mistake.
    """
    other = next(n for n in NOTATIONS.values() if n.christoffel != used.christoffel)
    found = compared(in_convention(asked, other))
    places = [f"{n.christoffel} (notation {n.name})" for n in (other, used)]
    if found.complete and not chosen and len(found.wrong) < len(verdict.wrong):
        message = f"the symbols are read with the index of the equation {places[0]}, not {places[1]}"
        return found, Cause(message, message)
    if not found.correct:
        return verdict, Cause("", "")
    message = f"these are the symbols with the index of the equation {places[0]}; they were compared with it {places[1]}"
    return verdict, Cause(message, message)


def _with_values(entry: Located, values: Mapping[int, float]) -> Located:
    nodes = [factored.replaced(x, values) for x in (entry.node, *entry.also)]
    return replace(entry, node=nodes[0], also=tuple(nodes[1:]))


def _read(
    form: ClosedForm,
    asked: Quantity,
    text: str,
    choice: str | Notation | None,
    extra: Mapping[str, Any],
    file: str,
    hidden: frozenset[str] = frozenset(),
    numbered: bool = False,
    decimals: Decimals | None = None,
) -> tuple[Answer, Notation]:
    # in an equation of motion the torque is what is defined, elsewhere it is a symbol like others
    moving = asked.name == "equations"
    unknowns = {**torque_names(form), **motor_torques(form)} if moving else {}
    extra = {**ratio_symbols(form), **extra} if moving else extra
    if not unknowns:
        extra = {**torque_names(form, ("tau",)), **extra}
    own = form.notation if choice is None else notation_of(choice)
    tried = [own] if choice is not None else [own, *(n for n in NOTATIONS.values() if n.rename and n is not own)]
    refused: FormatError | None = None
    names: list[Vocabulary] = []
    for notation in tried:
        motors = motor_names(form, notation, text) if moving else NO_MOTORS
        motors = elastic_motor_names(form, notation, text) if asked.name.startswith(ENERGIES) else motors
        unknown = {**unknowns, **motors.commands}
        known = vocabulary(form, asked, notation, extra, unknown, hidden, motors.variables, numbered=numbered)
        names.append(replace(known, decimals=decimals))
        try:
            return parse_answer(text, names[-1], file), notation
        except FormatError as error:
            refused = refused or error
    assert refused is not None
    if asked.has_datum:  # with the value or the height at the datum as a constant: U_0, h, const
        return _read_with_constants(form, asked, names[0], text, file, refused), own
    raise refused


def _read_with_constants(
    form: ClosedForm, asked: Quantity, names: Vocabulary, text: str, file: str, refused: FormatError
) -> Answer:
    """An answer with names without meaning in terms independent of the state; or the error with which it was ``refused``."""
    try:
        answer = parse_answer(text, replace(names, constants=True), file)
    except FormatError:
        raise refused from None
    others = [x for x in answer.constants.values() if not _is_datum(x, asked)]
    state = {id(x) for x in form.q}
    used = {id(n) for n in topological([node for _, x in answer.formulas() for node in (x.node, *x.also)])}
    if others and (not state & used or any(_is_factor(x, form, answer) for x in others)):  # U = m g z is without a value
        raise refused
    return answer


def _is_datum(constant: Node, asked: Quantity) -> bool:
    """Whether a name means a constant wherever it stands: U_0, const."""
    return str(constant) in ("const", *(f"{letter}_0" for letter in asked.letters))


def _is_factor(constant: Node, form: ClosedForm, answer: Answer) -> bool:
    """Whether a constant multiplies functions of the state."""
    state = {id(x) for x in (*form.q, *form.v, *form.a)}
    slopes = directional([node for _, x in answer.formulas() for node in (x.node, *x.also)], [constant], [1.0])
    return any(id(n) in state for n in topological(slopes))
