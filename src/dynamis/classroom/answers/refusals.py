"""Errors about formulas that define nothing, and about texts without an answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dynamis.classroom.answers.answer import Located, Step
from dynamis.classroom.answers.chains import Chain
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.tree import Grid, Name, Tree, Value
from dynamis.classroom.answers.vocabulary import Vocabulary
from dynamis.display import short
from dynamis.errors import FormatError, printable
from dynamis.scalar import Node, topological


def no_answer(source: Source, skipped: Sequence[Step]) -> FormatError:
    """The error on a text of which nothing is read but, perhaps, steps of a derivation."""
    if not skipped:
        cure = "write entries, as in M_{11} = …, or a matrix, as in M = [a, b; c, d]"
        return source.error(0, "no answer in this text", cure)
    line, text, _ = skipped[-1]
    parts = "whole vectors (variables without a joint's number) or matrices, derivatives or sums"
    found = f"no answer in this text: {short(text, 60)} has {parts}"
    cure = "write the answer out in the robot's symbols, with a joint's number at each variable, as in \\dot q_1"
    return source.error(source.at(line, 1), found, cure)


def nothing_defined(source: Source, chain: Chain, first: Tree) -> FormatError:
    """The error on a formula that is no equation for anything."""
    if isinstance(first, Name) and len(chain.values) > 1:
        name = source.excerpt(chain.values[0][0].at, chain.values[0][-1].end)
        found = f"{printable(name)} is a name of the robot and cannot be redefined"
        return source.error(chain.at, found, "remove the line, or choose another letter")
    if len(chain.values) == 1:
        found = "a line that is neither an equation nor a continuation"
        return source.error(chain.at, found, "begin it with an operator or a name and =; put % before comments")
    found = "an equation that defines no entry"
    return source.error(chain.at, found, "put the entry's name alone on one side, as in M_{11} = … or … = \\tau_1")


def circular(source: Source, name: Name, *, scalar: bool) -> FormatError:
    """The error on a name that needs its own value; of a ``scalar`` definition, or of the entry of a matrix."""
    key = name.key.removeprefix("=")
    if scalar:
        return source.error(name.at, f"{printable(key)} is defined by itself", "define it in terms of other names")
    return source.error(name.at, f"{printable(key)} has no value", f"write it out, or define it: {key[:40]} = …")


def is_number_of_parameter(vocabulary: Vocabulary, first: Tree, values: Sequence[Value]) -> bool:
    """Whether a formula gives the number of a parameter of the robot: g = 9.81."""
    numbers = len(values) > 1 and not any(isinstance(x, Node | Grid) for x in values[1:])
    return numbers and isinstance(first, Name) and vocabulary.is_parameter(first.key)


def refuse_infinite(source: Source, formulas: Iterable[Located]) -> None:
    """Reject formulas with numbers beyond those of floating point."""
    for located in formulas:
        for node in topological([located.node, *located.also]):
            if node.op != "symbol" and any(not isinstance(x, Node) and not math.isfinite(x) for x in node.args):
                raise source.error(source.at(located.line, located.column), "a number is too large", "use realistic numbers")
