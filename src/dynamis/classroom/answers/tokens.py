"""Lexer: words, numbers and signs of an answer in LaTeX, in plain text, or in a mix of both."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import NamedTuple

from dynamis.classroom.answers import latex
from dynamis.classroom.answers.source import Source
from dynamis.classroom.answers.unit_factors import unit_value
from dynamis.classroom.answers.words import Unit, is_letter, read_word
from dynamis.errors import printable, unknown_name

_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]++(?!_))?")
_COMMAND = re.compile(r"\\(?:([A-Za-z]+)|(.))", re.DOTALL)
_ROW = re.compile(r"\\\\(?:\[[ ]*-?[0-9.]+[ ]*(?:pt|em|ex|mm|cm|in)[ ]*\])?")
_NAMED = re.compile(r"[ ]*\{([A-Za-z]+\*?)\}")
_COLUMNS = re.compile(r"\s*(?:\[[a-z]\])?\s*\{[^{}\n]*\}")
_BRACED = re.compile(r"\s*\{([^{}]*)\}")
_OPENING_BRACE = re.compile(r"\s*\{")
_UNIT_POWER = re.compile(r"\s*\^\s*(?:\{\s*-?[0-9]\s*\}|[0-9])")
_BOUNDS = re.compile(
    r"(?:\s*\\limits(?![A-Za-z]))?(?:\s*[_^]\s*(?:\{[^{}]*\}|\\[A-Za-z]+|[^\s{}\\]))*"
)  # of a sum or an integral
_DEGREES = re.compile(r"\s*(?:\^\s*(?:\{\s*(?:\\circ|°)\s*\}|\\circ(?![A-Za-z])|°)|\\degree(?![A-Za-z])|°)")
_ARGUMENT = re.compile(  # the first one of a command; not a letter with an index or an accent
    rf"\s*(?P<first>(?P<group>\{{)|(?P<digit>[0-9])|(?:[^\W\d_]|\\(?P<greek>{'|'.join(latex.GREEK_COMMAND)})(?![A-Za-z])))"
    rf"(?(group)|(?(digit)|(?!\s*_|[{''.join((*latex.PRIME, *latex.ACCENT_MARK, *latex.SUBSCRIPT))}])))"
)
_SUPERSCRIPT = re.compile("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_TRANSPOSE = re.compile(r"[ ]*T(?=[^\W_])")
_LABEL = re.compile(r"\s*[_^](?=\s*\{)")
_DECIMAL_COMMA = re.compile(r"\{,\}[0-9]")
_WRAPPERS = latex.BOX | latex.BRACE | latex.SI_UNIT | latex.SI_NUMBER | {"pm", "mp", "circ", "degree"}


class Token(NamedTuple):
    """A piece of the text, from ``at`` to ``end``.

    The kinds: number; word, with its units; sign (+ - * / ^ =); open, close, bar and norm; frac, over and sqrt; begin and
    end of an environment; cell and row inside one; comma, semicolon and stop; step, a sign of derivations; and what may
    part formulas: newline, soft (a wide space; with the text "prose", words in \\text), break. The grammar adds name, a word's
    piece.
    """

    kind: str
    text: str
    at: int
    end: int
    units: tuple[Unit, ...] = ()


def tokens_of(source: Source) -> list[Token]:
    """The tokens of a text, in order."""
    return _Lexer(source).run()


class _Lexer:
    def __init__(self, source: Source) -> None:
        self.source, self.text = source, source.text
        self.at = 0
        self.found: list[Token] = []
        self.skips: dict[int, int] = {}  # braces of boxes and labels of braces, from their first position to the next
        self.formulas = 0  # how many marks of a formula are open: inside, the end of a line means nothing

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            self.next()
        return self.found

    def add(self, kind: str, text: str, length: int) -> None:
        self.found.append(Token(kind, text, self.at, self.at + length))
        self.at += length

    def next(self) -> None:
        c = self.text[self.at]
        two = self.text[self.at : self.at + 2]
        if self.at in self.skips:
            self.add("soft", "box", self.skips[self.at] - self.at)
        elif c == "\n":
            self.add("soft" if self.formulas else "newline", c, 1)
        elif c.isspace() or c == "~":
            self.at += 1
        elif match := _NUMBER.match(self.text, self.at):
            self.number(match[0])
        elif two in latex.LONG_SIGN:
            self.add("sign", latex.LONG_SIGN[two], 2)
        elif c in latex.SIGN:
            self.add("sign", latex.SIGN[c], 1)
            if c == "^" and (match := _TRANSPOSE.match(self.text, self.at)):  # J^TJ: TeX takes one letter
                self.at = match.end() - 1
                self.found.append(Token("word", "T", self.at, match.end(), (Unit("T", self.at, False),)))
                self.at = match.end()
        elif match := _SUPERSCRIPT.match(self.text, self.at):
            self.superscript(match[0])
        elif c in latex.TRANSPOSE:
            self.add("sign", "^", 0)
            self.found.append(Token("word", c, self.at, self.at + 1, (Unit("T", self.at, False),)))
            self.at += 1
        elif c in latex.FRACTION:
            self.add("number", latex.FRACTION[c], 1)
        elif c == "$":
            self.dollar(two)
        elif c in "&,;.|":
            self.add({"&": "cell", ",": "comma", ";": "semicolon", ".": "stop", "|": "bar"}[c], c, 1)
        elif c in "⇒→∂‖":
            self.add({"∂": "step", "‖": "norm"}.get(c, "break"), c, 1)
        elif c in "()[]}":
            self.add("open" if c in "([" else "close", c, 1)
        elif c == "{":
            if not self.word(braced=True):
                self.add("open", c, 1)
        elif is_letter(c):
            self.word()
        elif c == "\\":
            self.command()
        elif c in "°±∓":
            raise self.sign_error(c)
        else:
            raise self.source.error(
                self.at, f"the character {printable(c)} is not a mathematical symbol", "delete it, or put % before comments"
            )

    def number(self, text: str) -> None:
        if _DECIMAL_COMMA.match(self.text, self.at + len(text)):
            raise self.source.error(self.at + len(text), "a decimal comma", "write a point, as in 9.81")
        if degrees := _DEGREES.match(self.text, self.at + len(text)):
            self.add("number", repr(math.radians(float(text))), degrees.end() - self.at)
        else:
            self.add("number", text, len(text))

    def superscript(self, text: str) -> None:
        """A power of small raised digits: 10⁻², l²."""
        digits = text.removeprefix("⁻")
        self.add("sign", "^", 0)
        if digits != text:
            self.add("sign", "-", 1)
        self.add("number", "".join(latex.POWER[c] for c in digits), len(digits))

    def sign_error(self, sign: str) -> Exception:
        if sign in ("°", "circ", "degree"):
            return self.source.error(
                self.at, "degrees without a number", "write them after a number, as in 90°; q is in radians"
            )
        return self.source.error(self.at, "± gives two values", "write the sign that holds for this robot, + or −")

    def box(self, length: int) -> None:
        """\\boxed{M = …}: the braces around an equation are dropped, those around a part of one stay."""
        text, whole = self.argument(length)
        if "=" in text or "\\\\" in text:
            self.skips[self.at + whole - 1] = self.at + whole
            self.add("soft", "box", whole - len(text) - 1)
        else:
            self.at += length

    def brace(self, length: int) -> None:
        """\\underbrace{…}_{…}: its label is not read."""
        text, whole = self.argument(length)
        end = self.at + whole
        if label := _LABEL.match(self.text, end):
            self.skips[end] = end + self.argument(label.end() - self.at)[1] - whole
        self.at = end - len(text) - 2 if text else self.at + length
        if text:
            self.add("open", "{", 1)

    def arguments(self, count: int) -> None:
        """The arguments of a command as TeX takes them, a group, one digit or one letter: \\frac l2 and \\frac{l_2}2.

        A letter with an index or an accent, which TeX would refuse, is read as a name.
        """
        for _ in range(count):
            match = _ARGUMENT.match(self.text, self.at)
            if match is None:
                return
            self.at = match.start("first")
            if match["group"]:
                end = self.closing(self.at + 1)
                if not end:
                    return
                self.add("open", "{", 1)
                while self.at < end:
                    self.next()
            else:
                self.add("open", "{", 0)
                if match["digit"]:
                    self.add("number", match["digit"], 1)
                else:
                    name = latex.GREEK_COMMAND.get(match["greek"] or "") or latex.GREEK_LETTER.get(
                        match["first"], match["first"]
                    )
                    self.found.append(Token("word", match["first"], self.at, match.end(), (Unit(name, self.at, False),)))
                    self.at = match.end()
                self.add("close", "}", 0)

    def closing(self, at: int) -> int:
        """The position after the brace that closes a group whose inside begins here; 0 if none does."""
        depth = 1
        while depth and at < len(self.text):
            depth += {"{": 1, "}": -1}.get(self.text[at], 0)
            at += 1
        return 0 if depth else at

    def si_number(self, name: str, length: int) -> None:
        """\\SI{9.81}{…}, \\num{9.81}, \\ang{90}."""
        text, length = self.argument(length)
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            raise self.source.error(self.at, f"\\{name} without a number", f"write a number, as in \\{name}{{9.81}}")
        value = None
        if name in ("SI", "qty"):
            unit, length = self.argument(length)
            value = unit_value(unit)
        text = repr(math.radians(float(match[0]))) if name == "ang" else match[0]
        self.add("number", text if value is None or value.factor == 1 else repr(float(Fraction(text) * value.factor)), length)

    def dollar(self, two: str) -> None:
        if two == "$$":
            self.formulas = 0 if self.formulas else 1
            self.add("break", two, 2)
        else:
            self.formulas = 0 if self.formulas else 1
            self.add("soft", "$", 1)

    def word(self, braced: bool = False) -> bool:
        word = read_word(self.source, self.at)
        # {ml} is a product in braces; braces belong to a name only where an index follows them
        if word is None or (braced and self.text[word.end - 1] == "}" and self._balanced(word.end)):
            return False
        start = self.at
        self.found.append(Token("word", self.text[start : word.end], start, word.end, word.units))
        self.at = word.end
        if word.power:
            self.add("sign", "^", 0)
            self.add("number", word.power, 0)
        return True

    def _balanced(self, end: int) -> bool:
        """Whether the braces that open here are closed only at the end: nothing stands behind them."""
        depth = 0
        for at in range(self.at, end):
            depth += {"{": 1, "}": -1}.get(self.text[at], 0)
            if depth == 0:
                return at == end - 1
        return False

    def command(self) -> None:
        if row := _ROW.match(self.text, self.at):
            self.add("row", "\\\\", len(row[0]))
            return
        match = _COMMAND.match(self.text, self.at)
        if match is None:
            raise self.source.error(self.at, "a backslash at the end", "delete it")
        name, length = match[1] or match[2], len(match[0])
        if name in ("begin", "end"):
            self.environment(name, length)
        elif name in latex.SIGN_COMMAND:
            self.add("sign", latex.SIGN_COMMAND[name], length)
        elif name in latex.FRAC:
            self.add("frac", name, length)
            self.arguments(2)
        elif name == "over":
            self.add("over", match[0], length)
        elif name == "sqrt":
            self.add("sqrt", name, length)
            self.arguments(1)
        elif name in latex.FUNCTION:
            self.found.append(Token("word", match[0], self.at, self.at + length, (Unit(name, self.at, False),)))
            self.at += length
        elif name in latex.BRACKET_COMMAND:
            text = latex.BRACKET_COMMAND[name]
            self.add("open" if text in latex.CLOSING else "close", text, length)
        elif name in latex.BAR | latex.NORM:
            self.add("bar" if name in latex.BAR else "norm", match[0], length)
        elif name in ("(", ")"):
            self.formulas = int(name == "(")
            self.add("soft", name, length)
        elif name in latex.BREAK:
            self.formulas = int(name == "[") if name in "[]" else self.formulas
            self.add("break", name, length)
        elif name in latex.SOFT:
            self.add("soft", name, length)
        elif name in latex.STEP:
            bounds = _BOUNDS.match(self.text, self.at + length)
            self.add("step", name, length + (len(bounds[0]) if bounds else 0))
        elif name in _WRAPPERS:
            self.wrapper(name, length)
        elif name in latex.REMARK or self.is_text(name, length):
            self.remark(name, length)
        elif name in latex.SPACE:
            self.at += length
            if name in ("left", "right") and self.text[self.at : self.at + 1] == ".":  # a bracket that is not drawn
                self.at += 1
        elif not self.word():
            self.unread(name, length)

    def wrapper(self, name: str, length: int) -> None:
        """A command around a formula or a number, a unit, or a sign without a value."""
        if name in latex.BOX:
            self.box(length)
        elif name in latex.BRACE:
            self.brace(length)
        elif name in latex.SI_UNIT:
            self.add("soft", "unit", self.argument(length)[1])
        elif name in latex.SI_NUMBER:
            self.si_number(name, length)
        else:
            raise self.sign_error(name)

    def unread(self, name: str, length: int) -> None:
        if name in latex.STYLE:  # its argument is more than a name: it stays, as a group in braces
            self.at += length
        elif name in latex.ACCENT_COMMAND:
            raise self.source.error(
                self.at, f"\\{name} applies to more than one name", "apply it to one name, as in \\dot{q}_1"
            )
        else:
            known = [
                *latex.GREEK_COMMAND,
                *latex.FUNCTION,
                *latex.STYLE,
                *latex.ACCENT_COMMAND,
                *latex.FRAC,
                *latex.SIGN_COMMAND,
            ]
            why = str(unknown_name("command of LaTeX", name[:80], known))
            raise self.source.error(self.at, why, "write the formula without it")

    def environment(self, which: str, length: int) -> None:
        match = _NAMED.match(self.text, self.at + length)
        if match is None:
            raise self.source.error(self.at, f"\\{which} without a name", f"name the environment, as in \\{which}{{bmatrix}}")
        name = match[1]
        if name not in latex.MATRIX and name not in latex.ALIGNED:
            why = str(unknown_name("environment", name, sorted(latex.MATRIX | latex.ALIGNED)))
            raise self.source.error(self.at, why, "use bmatrix for a matrix and align for equations")
        length += len(match[0])
        if which == "begin" and name in latex.WITH_COLUMNS:
            columns = _COLUMNS.match(self.text, self.at + length)
            length += len(columns[0]) if columns else 0
        if name in latex.ALIGNED and name != "document":
            self.formulas = max(0, self.formulas + (1 if which == "begin" else -1))
        self.add(which, name, length)

    def is_text(self, name: str, length: int) -> bool:
        """\\mathrm{sym.} in place of an entry, or \\textrm{ with }: a style whose argument is no name."""
        argument = _BRACED.match(self.text, self.at + length) if name in latex.STYLE else None
        if argument is None:
            return False
        text = argument[1].strip()
        return text.casefold() in latex.SYMMETRIC or (name.startswith("text") and text != argument[1])

    def argument(self, length: int) -> tuple[str, int]:
        """The text in braces after a command of this length, and the length up to its end; empty without braces."""
        opening = _OPENING_BRACE.match(self.text, self.at + length)
        if opening is None:
            return "", length
        at = self.closing(opening.end())
        if not at:
            raise self.source.error(self.at, "this text is not closed", "close it with }")
        return self.text[opening.end() : at - 1], at - self.at

    def remark(self, name: str, length: int) -> None:
        argument, whole = self.argument(length)
        text = argument.strip()
        if text in latex.FUNCTION or text in latex.GREEK_FUNCTION:
            text = latex.GREEK_FUNCTION.get(text, text)
            self.found.append(Token("word", text, self.at, self.at + whole, (Unit(text, self.at, False),)))
            self.at += whole
        elif text.casefold() in latex.CONSTANT and self.found and self.found[-1].text in "+-=":
            self.found.append(Token("word", text, self.at, self.at + whole, (Unit("const", self.at, False),)))
            self.at += whole
        elif text.casefold() in latex.SYMMETRIC:
            self.add("soft", "symmetric", whole)
        elif name in latex.REMARK - latex.TEXT:
            self.add("soft", "remark", whole)
        elif _is_unit(text):
            self.unit(whole)
        else:
            self.add("soft", "prose" if any(c.isalpha() for c in text) else "text", whole)

    def unit(self, length: int) -> None:
        """A unit with its power; in \\text{m}/\\text{s}^2 the operator between units is a part of it."""
        power = _UNIT_POWER.match(self.text, self.at + length)
        length += len(power[0]) if power else 0
        if [t.text for t in self.found[-2:]] in (["unit", "/"], ["unit", "*"]):
            self.found.pop()
            before = self.found.pop()
            length += self.at - before.at
            self.at = before.at
        self.add("soft", "unit", length)


def _is_unit(text: str) -> bool:
    """Whether a text consists of units: N m, kg m^2, rad/s."""
    words = re.findall(r"[^\W\d_]+", text)
    return bool(words) and all(word in latex.UNIT for word in words)
