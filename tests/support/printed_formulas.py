"""The structure of a printed formula: which symbols, grouped how; only the order of terms and factors is left out.

A reader for the LaTeX of lecture notes that is independent of the one under test.
"""

from __future__ import annotations

import re
from fractions import Fraction

IGNORED = re.compile(r"\\(?:left|right|bigl|bigr|big|Big|mathbf|boldsymbol|,|;|!|quad)(?![A-Za-z])|[\s~&]")
TOKEN = re.compile(r"\\[A-Za-z]+|[0-9]+|[A-Za-z]|[-+^_{}()\[\]=/]|\\\\")


def structure(latex):
    """Nested: a sum is ("sum", sorted terms), a product ("product", number, sorted (factor, power))."""
    parser = _Parser(TOKEN.findall(IGNORED.sub(" ", latex)))
    result = parser.sum()
    assert parser.at == len(parser.tokens), f"{latex!r}: stopped at {parser.tokens[parser.at :]}"
    return result


def entries(latex):
    """The structures of the entries of a matrix, row by row."""
    body = re.search(r"\\begin\{[bp]matrix\}(.*)\\end\{[bp]matrix\}", latex, re.S)[1]
    return [[structure(cell) for cell in row.split("&")] for row in body.split(r"\\")]


class _Parser:
    def __init__(self, tokens):
        self.tokens, self.at = tokens, 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def sum(self):
        terms, sign = [], 1
        while self.peek() in ("+", "-"):
            sign = -sign if self.take() == "-" else sign
        terms.append(self.product(sign))
        while self.peek() in ("+", "-"):
            sign = -1 if self.take() == "-" else 1
            while self.peek() in ("+", "-"):
                sign = -sign if self.take() == "-" else sign
            terms.append(self.product(sign))
        if len(terms) == 1:
            return terms[0]
        return ("sum", tuple(sorted(terms, key=repr)))

    def product(self, sign):
        number, factors = Fraction(sign), {}
        while self.peek() and self.peek() not in "+-)]}=":
            base = self.factor()
            power = 1
            if self.peek() == "^":
                self.take()
                power = int(self.group_text())
            if isinstance(base, Fraction):
                number *= base**power
            else:
                factors[base] = factors.get(base, 0) + power
        return ("product", number, tuple(sorted(factors.items(), key=repr)))

    def factor(self):
        token = self.take()
        if token in "([":
            inner = self.sum()
            assert self.take() in ")]"
            return inner
        if token.isdigit():
            return Fraction(int(token))
        if token in (r"\tfrac", r"\frac"):
            return Fraction(int(self.group_text()), int(self.group_text()))
        if token in (r"\sin", r"\cos"):
            square = ""
            if self.peek() == "^":
                self.take()
                square = self.group_text()
            argument = self.symbol(self.take())
            return (token, argument) if not square else (token, argument, square)
        return self.symbol(token)

    def symbol(self, token):
        name = token
        if token in (r"\dot", r"\ddot", r"\tilde"):
            inner = self.group_text()
            letter, _, index = inner.partition("_")
            name = f"{token}({letter})" + (f"_{index}" if index else "")
        if self.peek() == "_":
            self.take()
            name += "_" + self.group_text()
        return name.replace(r"\vartheta", r"\theta")

    def group_text(self):
        token = self.take()
        if token != "{":
            return token
        depth, parts = 1, []
        while depth:
            token = self.take()
            depth += (token == "{") - (token == "}")
            if depth:
                parts.append(token)
        return "".join(p for p in parts if p not in "{}")
