"""Comments that state the output of their line, as ``print(x)  # 0.05 m`` or ``found.x  # 0.05 m``, compared with the output.

A comment may quote the output, in part, with rounded numbers and with "…" for what is left out, or describe it. What is compared:

* Numbers, formulas (with * or ^) and quoted names must be in the output, numbers to the digits shown; a number may also be in
  the statement itself.
* If the comment states a number or a name of an output with words, its other words must be in the output too, except units.

A description without numbers and formulas, or of an output without words, is not compared: its truth cannot be decided here.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Iterator

NUMBER = re.compile(r"(?<![\w.^/])-?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?![\w²³])")
FORMULA = re.compile(r"[\w~^*'+()/\\{}.-]*[*^][\w~^*'+()/\\{}-]*")
QUOTED = re.compile(r"(?<![\w)])'[^' ]+'")
NAME = re.compile(r"[^\W\d]\w*_\w+")
WORD = re.compile(r"[^\W\d_]{2,}")
NOT_PROSE = re.compile("|".join((FORMULA.pattern, QUOTED.pattern, NAME.pattern, r"\\\w+|True|False|None")))
UNITS = {"rad", "kg", "mm", "ms", "hz", "nm", "per", "and", "both", "at", "most", "in", "about"}


def run_statements(block: str, names: dict[str, object], file: str) -> Iterator[tuple[int, str, str, str]]:
    """Execute a block, and yield line, source, comment and output of each statement whose output a comment follows."""
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(block).readline)
        if token.type == tokenize.COMMENT
    }
    lines = block.splitlines()
    for statement in ast.parse(block, file).body:
        output = io.StringIO()
        printing = [node.end_lineno or 0 for node in ast.walk(statement) if _is_print(node)]
        with contextlib.redirect_stdout(output):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Attribute):  # a value shown as at a prompt
                output.write(str(eval(compile(ast.Expression(statement.value), file, "eval"), names)))
                printing = [statement.end_lineno or 0]
            else:
                exec(compile(ast.Module([statement], []), file, "exec"), names)
        stated = [comments[line] for line in printing if line in comments]
        line = (statement.end_lineno or 0) + 1
        while printing and not stated and line in comments and lines[line - 1].startswith("#"):
            stated.append(comments[line])
            line += 1
            if line not in comments:
                break
        if stated:
            yield statement.lineno, ast.unparse(statement), " ".join(stated), output.getvalue()


def differences(comment: str, output: str, source: str = "") -> list[str]:
    """Return the numbers, formulas, names and words of the comment that the output does not have.

    >>> differences("0.0816 rad", "0.08164009911227092"), differences("0.0815 rad", "0.08164009911227092")
    ([], ['0.0815'])
    >>> differences("peak 60.1, residual 17", "peak 60.1, final 17"), differences("largest error per joint", "[0.1 0.2]")
    (['residual'], [])
    """
    comment, output = (text.replace("−", "-") for text in (comment, output))
    packed, numbers = re.sub(r"\s", "", output), [float(x) for x in NUMBER.findall(output)]
    symbols = [x.strip("().,;:") for x in FORMULA.findall(comment)] + QUOTED.findall(comment)
    rest = QUOTED.sub(" ", FORMULA.sub(" ", comment))
    wrong = [x for x in symbols if x not in packed]
    given = NUMBER.findall(rest)
    there = [x for x in given if _among(x, numbers)]
    wrong += [x for x in given if x not in there and x not in NUMBER.findall(source)]
    names = [x for x in NAME.findall(rest) if x in output]
    known = {x.lower() for x in WORD.findall(output)}
    if (there or names or len(wrong) < len(symbols)) and WORD.findall(NOT_PROSE.sub(" ", output)):
        wrong += [x for x in WORD.findall(NAME.sub(" ", rest)) if x.lower() not in known | UNITS]
    return wrong


def _is_print(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def _among(number: str, values: list[float]) -> bool:
    """Whether one of the values, rounded to the digits of the number, is that number."""
    digits, _, power = number.partition("e")
    decimals = len(digits.partition(".")[2])
    half = 0.5 * 10.0 ** (int(power or 0) - decimals)
    return any(abs(value - float(number)) <= half * (1.0 + 1e-9) for value in values)
