"""The contents of documents: sections of paragraphs, formulas, tables and figures, independent of the format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

MAX_LINE_CHARACTERS = 150  # of LaTeX that fit on one line of a page


def literal(name: str) -> str:
    r"""A name from a file for use in a text, where no sign of it is taken for mathematics.

    >>> [*pieces("the robot " + literal("$x$ \\y") + " with $m_1$")]
    [(False, 'the robot $x$ \\y with '), (True, 'm_1'), (False, '')]
    """
    return name.replace("\\", "\\\\").replace("$", "\\$")


class Plain(str):
    """Text without mathematics, whatever signs names from files bring into it."""

    __slots__ = ()


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of a text, each with whether it is mathematics ($…$); every renderer reads its texts through this.

    >>> [*pieces("5 $ per $m^2$")], [*pieces(Plain("$x$"))]
    ([(False, '5 $ per $m^2$')], [(False, '$x$')])
    """
    if isinstance(text, Plain):
        return iter([(False, str(text))])
    parts = [""]
    for piece in re.findall(r"\\[\\$]|\$|[^\\$]+|\\", text):
        mathematics = len(parts) % 2 == 0
        if piece == "$":
            parts.append("")
        else:
            parts[-1] += piece if mathematics or piece not in (r"\\", r"\$") else piece[1]
    if len(parts) % 2 == 0:  # a sign that is not closed opens nothing
        return iter([(False, re.sub(r"\\([\\$])", r"\1", text))])
    return ((k % 2 == 1, part) for k, part in enumerate(parts))


@dataclass(frozen=True)
class Say:
    """A paragraph; $…$ is mathematics, and a name from a file is `literal`."""

    text: str


@dataclass(frozen=True)
class Facts:
    """Key figures: (name, value)."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Rows under a header; cells are text with $…$. A folded table is collapsed at first.

    On a page, the words between semicolons in a column "Flags" are framed.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Findings:
    """Assessments, each a mark, its tone and a sentence: ("doubt", "warn", "…"). Tones are "good", "warn" and "bad"."""

    items: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Code:
    """Lines of a program or of a terminal, shown as they are."""

    source: str


@dataclass(frozen=True)
class Formula:
    """A displayed formula, in LaTeX."""

    latex: str


@dataclass(frozen=True)
class Folded:
    """Collapsed blocks under a title."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Curves:
    """Lines over a common axis: ``series`` maps labels to numbers; ``y_label`` replaces that of the plot."""

    x: Sequence[float]
    series: dict[str, Sequence[float | None]]
    name: str = ""
    y_label: str = ""


@dataclass(frozen=True)
class Plot:
    """A figure of lines; with several ``views`` one is chosen. ``summary`` is its caption.

    ``player`` is the motion whose time the cursor follows.
    """

    title: str
    x_label: str
    y_label: str
    views: Sequence[Curves]
    summary: str
    choose: str = ""
    logarithmic: bool = False
    player: str = ""


@dataclass(frozen=True)
class Axes:
    """The rectangle under a map: its intervals ``x`` and ``y``, and the entries of q these are, where they are joints."""

    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str
    y_label: str
    joints: tuple[int, int] | None = None


@dataclass(frozen=True)
class Grid:
    """Numbers over a rectangle, row by row from the lowest y: ``values[j][i]`` at x_i, y_j; None where there is none.

    ``q`` holds one configuration per cell, as `reports.configurations.encoded` writes it: a click on the cell shows it.
    """

    axes: Axes
    values: Sequence[Sequence[float | None]]
    name: str = ""
    unit: str = ""
    summary: str = ""
    q: str = ""


@dataclass(frozen=True)
class HeatMap:
    """A figure of colours over a rectangle. With several ``views`` one is chosen, each with axes and summary of its own.

    ``square`` draws both axes to the same scale; ``empty`` says why a cell has no value.
    """

    title: str
    views: Sequence[Grid]
    choose: str = ""
    square: bool = False
    empty: str = ""

    @property
    def summary(self) -> str:
        return self.views[0].summary


@dataclass(frozen=True)
class Picture:
    """A drawn figure. ``svg`` is inserted in a page as it is: an element made by `dynamis`, with texts escaped."""

    title: str
    summary: str
    svg: str


@dataclass(frozen=True)
class Robot3D:
    """The robot in 3-D, with a slider per joint."""

    scene: dict[str, Any]


@dataclass(frozen=True)
class Player:
    """An animation: configurations at times, of the robot of the scene."""

    name: str
    title: str
    times: Sequence[float]
    q: Sequence[Sequence[float]]
    summary: str
    scene: dict[str, Any]


Block = Say | Facts | Table | Findings | Code | Formula | Folded | Plot | HeatMap | Picture | Robot3D | Player


@dataclass
class Section:
    """One part of a document. ``reproduce`` is the Python code that computes its numbers, ``failed`` why some are missing.

    ``interaction`` says what the reader of a page can do with the figures; it is not printed.
    """

    title: str
    key: str = ""
    lead: str = ""
    blocks: list[Block] = field(default_factory=list)
    reproduce: str = ""
    notes: list[str] = field(default_factory=list)
    failed: str = ""
    seconds: float = 0.0
    interaction: str = ""

    @property
    def missing(self) -> str:
        """The beginning of the sentence that gives the reason for missing content."""
        return "The rest of this section could not be computed" if self.blocks else "This section could not be computed"

    def add(self, *blocks: Block) -> Section:
        self.blocks.extend(blocks)
        return self

    def say(self, text: str) -> Section:
        """Add a paragraph."""
        return self.add(Say(text))

    def show(self, left: str, right: str | None = None) -> Section:
        """Add a formula, or an equation whose right side is broken over lines where it is long."""
        return self.add(Formula(left if right is None else equation(left, right)))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Section:
        return self.add(Table("", header, tuple(rows)))


def without_mathematics(section: Section) -> Section:
    """The section with all texts `Plain`."""
    section.lead, section.interaction, section.failed = Plain(section.lead), Plain(section.interaction), Plain(section.failed)
    section.notes = [Plain(note) for note in section.notes]
    section.blocks = [_plain(block) for block in section.blocks]
    return section


PROSE = ("text", "pairs", "title", "header", "rows", "note", "blocks", "summary", "views", "items")  # fields that hold texts


def _plain(x: Any) -> Any:
    match x:
        case str():
            return Plain(x)
        case list() | tuple():
            return type(x)(_plain(item) for item in x)
        case Say() | Facts() | Table() | Findings() | Folded() | Plot() | HeatMap() | Picture() | Grid() | Player():
            return replace(x, **{name: _plain(getattr(x, name)) for name in PROSE if name in vars(x)})
    return x


@dataclass
class Text:
    """A title, an abstract and sections; the renderers write it in their formats. ``numbered`` numbers the sections."""

    title: str
    abstract: str
    sections: list[Section] = field(default_factory=list)
    numbered: bool = False


def equation(left: str, right: str) -> str:
    """left = right, broken before plus and minus signs where it is too long for a line, inside brackets of long terms too."""
    if len(left) + _width(right) <= MAX_LINE_CHARACTERS or r"\begin{" in right:
        return f"{left} = {right}"
    lines = [f"{left} ={{}}& "]
    for term in (piece for whole in _terms(right) for piece in _pieces(whole)):
        if len(lines[-1]) > len(left) + 6 and _width(lines[-1]) + _width(term) > MAX_LINE_CHARACTERS:
            lines.append("& ")
        lines[-1] += term + " "
    return "\\begin{aligned}\n" + " \\\\\n".join(line.rstrip() for line in lines) + "\n\\end{aligned}"


def _pieces(term: str) -> list[str]:
    """A term that is longer than a line, at the signs inside its longest brackets or numerator; others are left whole.

    A numerator becomes brackets behind the fraction, as a line cannot end inside a fraction.
    """
    groups = [] if _width(term) <= MAX_LINE_CHARACTERS else _groups(term)
    if not groups:
        return [term]
    opening, closing = max(groups, key=lambda group: group[1] - group[0])
    before, inside, after = term[:opening], term[opening + 1 : closing], term[closing + 1 :]
    if term[opening] == "{":
        before, after = rf"{before}{{1}}{after[: _end(after, 0) + 1]}\,", after[_end(after, 0) + 1 :]
    for left, right in ((r"\left", r"\right"), (r"\bigl", r"\bigr")):
        if before.endswith(left):
            before, inside = before.removesuffix(left), inside.removesuffix(right)
    first, *others = (piece for inner in _terms(inside) for piece in _pieces(inner))
    pieces = [f"{before}\\bigl({first}", *others]
    pieces[-1] += f"\\bigr){after}"
    return pieces


def _groups(term: str) -> list[tuple[int, int]]:
    """Where the brackets and numerators of a term begin and end that are inside of no others."""
    groups, position = list[tuple[int, int]](), 0
    while (match := re.compile(r"[({]").search(term, position)) is not None:
        position = _end(term, match.start())
        if match[0] == "(" or term[: match.start()].endswith(r"\frac"):
            groups.append((match.start(), position))
    return groups


def _width(latex: str) -> int:
    """The characters side by side: of a fraction those of its longer part."""
    if (fraction := re.search(r"\\frac\{", latex)) is None:
        return len(latex)
    middle = _end(latex, fraction.end() - 1)
    end = _end(latex, middle + 1)
    above, below = latex[fraction.end() : middle], latex[middle + 2 : end]
    return fraction.start() + max(_width(above), _width(below)) + _width(latex[end + 1 :])


def _end(latex: str, opening: int) -> int:
    """Where the bracket or brace that opens there is closed."""
    depth = 0
    for match in re.compile(r"[{}()]").finditer(latex, opening):
        depth += 1 if match[0] in "{(" else -1
        if depth == 0:
            return match.start()
    return len(latex)


def _terms(latex: str) -> list[str]:
    """The terms of a sum, each with the sign before it; signs inside brackets do not count."""
    terms, depth, start = [], 0, 0
    for match in re.finditer(r"[{}()\[\]]| [+-] ", latex):
        if match[0] in "{([":
            depth += 1
        elif match[0] in "})]":
            depth -= 1
        elif depth == 0:
            terms.append(latex[start : match.start()].strip())
            start = match.start()
    terms.append(latex[start:].strip())
    return [t for t in terms if t]
