r"""Parser from tokens to the syntax tree of a formula.

Sums of products; products may be written by juxtaposition; powers bind more tightly than signs; a function applies to the
parenthesis after it, or to one name with a number before it: \sin 2 q_1 \dot q_1 is sin(2 q_1) q̇_1.
"""

from __future__ import annotations

from collections.abc import Sequence

from dynamis.classroom.answers.latex import CLOSING, DOT, SYMMETRIC
from dynamis.classroom.answers.layout import MAX_NESTING
from dynamis.classroom.answers.names import FUNCTION_OF, RECIPROCAL_OF, Names, address_of, ends_in
from dynamis.classroom.answers.tables import GAPS, Slope, length_of_rate, list_cells, matrix_cells, slope_of
from dynamis.classroom.answers.tokens import Token
from dynamis.classroom.answers.tree import DOT_PRODUCT, NORM, Call, MatrixNode, Name, Number, Power, Product, Rate, Sum, Tree
from dynamis.classroom.answers.words import spell
from dynamis.display import counted
from dynamis.errors import FormatError, printable
from dynamis.model.readers.expressions import CONSTANTS, FUNCTIONS
from dynamis.model.readers.numbers import parse_number

_BESIDE_CELL = ("cell", "row", "begin", "end", "comma", "semicolon", "newline")


def parse(tokens: Sequence[Token], names: Names, letter: str = "") -> Tree:
    """The syntax tree of one formula; ``letter`` is that of the matrix it defines."""
    return _Parser(_in_names(tokens, names, letter), names, 0).whole()


def _in_names(tokens: Sequence[Token], names: Names, letter: str) -> list[Token]:
    """The tokens with words split into names, and without dependence arguments: b_{11}(q)."""
    found: list[Token] = []
    k = 0
    while k < len(tokens):
        token = tokens[k]
        k += 1
        if token.kind == "open" and token.text == "{" and tokens[k : k + 1] and tokens[k].text == "}":
            k += 1
        elif token.kind == "frac" and (length := length_of_rate(tokens[k - 1 : k + 11])):
            k += length - 1
            found.append(Token("rate", "", token.at, tokens[k - 1].end))
        elif token.kind in ("frac", "step") and (slope := slope_of(tokens[k - 1 : k + 11])) and _has_value(slope, names):
            k += slope.length - 1
            found.append(Token("rate", slope.variable, token.at, tokens[k - 1].end))
            found += [] if slope.name is None else names.split(slope.name)
        elif token.kind == "word" and _is_transpose(tokens, k - 1, names):
            found.append(Token("name", "T", token.at, token.end))
        elif token.kind == "word":
            key = spell(token.units)
            if key.casefold() in SYMMETRIC and _fills_cell(tokens, k - 1) and not names.is_known(key):
                found.append(Token("sign", "*", token.at, token.end))
                k += k < len(tokens) and tokens[k].kind == "stop"
            elif _stands_alone(tokens, k - 1) and _is_entry(key, names, letter):
                found.append(Token("name", "=" + key, token.at, token.end))
            else:
                found += names.split(token, tokens[k:])
            k = _after_arguments(tokens, k, key, names)
        else:
            found.append(token)
    return found


def _has_value(slope: Slope, names: Names) -> bool:
    """Whether a partial derivative is that of an expression in brackets, or of a scalar that the answer defines."""
    key = spell(slope.name.units) if slope.name is not None else ""
    return slope.name is None or (
        names.vocabulary.is_variable(slope.variable) and names.is_own(key) and key not in names.matrices
    )


def _is_transpose(tokens: Sequence[Token], k: int, names: Names) -> bool:
    """Whether a word is the T of [a, b]^T, ]^{T} or v^T with a vector v of the text."""
    start = k - 1 if k and tokens[k - 1].text == "{" else k
    if start < 2 or tokens[start - 1].text != "^" or spell(tokens[k].units) != "T":
        return False
    base = tokens[start - 2]
    vector = names.vectors and names.vocabulary.is_vector(spell(base.units))
    return base.kind in ("close", "end") or (base.kind == "word" and (vector or ends_in(base, names.matrices)))


def _is_entry(key: str, names: Names, letter: str) -> bool:
    # C = [C_{11}, C_{12}; …] means its own entries, though C_{12} is a cosine elsewhere
    own, index = address_of(key)
    same = own.casefold() == letter.casefold() and names.vocabulary.quantity(key) is None  # \dot q = [\dot q_1; \dot q_2]
    return bool(index) and same and names.is_own(key)


def _stands_alone(tokens: Sequence[Token], k: int) -> bool:
    before = tokens[k - 1] if k else None
    if before is not None and before.text == "-" and k > 1:
        before = tokens[k - 2]
    after = tokens[k + 1] if k + 1 < len(tokens) else None
    return all(t is not None and (t.kind in _BESIDE_CELL or t.text in "[]") for t in (before, after))


def _fills_cell(tokens: Sequence[Token], k: int) -> bool:
    """Whether a word, with or without a full stop, fills a cell of a matrix."""
    after = k + 2 if k + 1 < len(tokens) and tokens[k + 1].kind == "stop" else k + 1
    beside = [*tokens[max(0, k - 1) : k], *tokens[after : after + 1]]
    return len(beside) == 2 and all(t.kind in _BESIDE_CELL or t.text in "[]" for t in beside)


def _after_arguments(tokens: Sequence[Token], k: int, key: str, names: Names) -> int:
    if k >= len(tokens) or tokens[k].text != "(":
        return k
    end, arguments = k + 1, []
    while end < len(tokens) and tokens[end].kind in ("word", "comma"):
        if tokens[end].kind == "word":
            arguments.append(spell(tokens[end].units))
        end += 1
    if end >= len(tokens) or tokens[end].text != ")" or not arguments:
        return k
    of_time = arguments == ["t"] and not names.is_known("t") and key not in FUNCTION_OF
    vectors = all(names.vocabulary.is_vector(x) for x in arguments)
    own = names.is_own(key) and names.vocabulary.resolve(key) is None
    declared = names.arguments.get(key) == tuple(arguments)
    return end + 1 if of_time or (own and (vectors or declared)) else k


class _Parser:
    def __init__(self, tokens: Sequence[Token], names: Names, depth: int) -> None:
        self.tokens, self.names, self.source = tokens, names, names.source
        self.at, self.depth, self.bars = 0, depth, 0
        end = tokens[-1].end if tokens else 0
        self.end = self.last = Token("nothing", "the end", end, end)

    def peek(self) -> Token:
        while self.at < len(self.tokens) and self.tokens[self.at].kind in GAPS:
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else self.end

    def take(self) -> Token:
        token = self.peek()
        self.at += 1
        self.last = token
        return token

    def wrong(self, token: Token, found: str, cure: str) -> FormatError:
        return self.source.error(token.at, found, cure)

    def deeper(self, token: Token) -> None:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.wrong(token, f"brackets are nested deeper than {MAX_NESTING}", "name a part of the formula, as in h = …")

    def whole(self, *, group: bool = False) -> Tree:
        tree = self.fraction() if group else self.sum()
        token = self.peek()
        if token.kind != "nothing":
            raise self.unexpected(token)
        return tree

    def unexpected(self, token: Token) -> FormatError:
        if token.kind == "comma":
            return self.wrong(token, "a comma inside a formula", "write a decimal point, as in 9.81, not a comma")
        if token.kind == "nothing":
            return self.wrong(token, "the formula ends where a value is expected", "complete it")
        if token.kind in ("close", "bar", "norm"):
            return self.wrong(
                token, f"{printable(token.text)} is found where a value is expected", "write a value before it, or delete it"
            )
        if token.kind == "over":
            return self.wrong(token, "\\over without braces around its fraction", "write {a \\over b} or \\frac{a}{b}")
        if token.kind == "step":
            return self.wrong(token, f"{printable(token.text)} is not evaluated", "write the resulting expression")
        return self.wrong(token, f"{printable(token.text)} is not expected here", "write a name, a number or a parenthesis")

    def sum(self) -> Tree:
        first = self.peek()
        self.deeper(first)
        terms = [("+", self.product())]
        while self.peek().kind == "sign" and self.peek().text in "+-":
            terms.append((self.take().text, self.product()))
        self.depth -= 1
        return terms[0][1] if len(terms) == 1 else Sum(tuple(terms), first.at)

    def product(self) -> Tree:
        first = self.peek()
        factors = [("*", self.signed())]
        while True:
            token = self.peek()
            if token.kind == "sign" and token.text in "*/":
                self.take()
                dot = self.source.text[token.at : token.end] in DOT
                factors.append((DOT_PRODUCT if dot else token.text, self.signed()))
            elif self.begins_value(token):
                if token.kind == "number" and self.last.kind == "number":
                    raise self.wrong(
                        token,
                        "two numbers side by side",
                        "put a sign between them, or join their digits; separate the entries of a list by commas",
                    )
                factors.append(("*", self.power()))
            else:
                return factors[0][1] if len(factors) == 1 else Product(tuple(factors), first.at)

    def begins_value(self, token: Token) -> bool:
        if token.kind in ("bar", "norm"):
            return self.bars == 0
        return token.kind in ("number", "name", "open", "frac", "rate", "sqrt", "begin")

    def signed(self) -> Tree:
        negative, first = False, self.peek()
        while self.peek().kind == "sign" and self.peek().text in "+-":
            negative ^= self.take().text == "-"
        value = self.power()
        return Sum((("-", value),), first.at) if negative else value

    def power(self) -> Tree:
        base = self.value()
        if not self.is_power():
            return base
        token = self.take()
        exponent = self.exponent()
        if self.is_power():
            raise self.wrong(self.peek(), "two consecutive exponents", "put the power in parentheses, as in (a^2)^3")
        return Power(base, exponent, base.at if exponent is None else token.at)

    def is_power(self) -> bool:
        return self.peek().kind == "sign" and self.peek().text == "^"

    def exponent(self) -> Tree | None:
        at = self.at
        inside = self.peek().text == "{"
        if inside:
            self.take()
        if self.peek().text == "T":
            self.take()
            if not inside or self.take().text == "}":
                return None
        self.at = at
        first = self.peek()
        negative = first.kind == "sign" and first.text == "-"
        if negative:
            self.take()
        value = self.value()
        return Sum((("-", value),), first.at) if negative else value

    def value(self) -> Tree:
        token = self.take()
        if token.kind == "number":
            number = parse_number(token.text)
            if number is None:
                raise self.wrong(token, f"{printable(token.text)} is not a finite number", "write a realistic number")
            return Number(number, token.at, token.text)
        if token.kind == "name":
            return self.name(token)
        if token.kind == "open":
            return self.group(token)
        if token.kind in ("bar", "norm"):
            return self.absolute(token)
        if token.kind == "rate":
            return Rate(self.argument(), token.at, token.text)
        if token.kind == "frac":
            return Product((("*", self.argument()), ("/", self.argument())), token.at)
        if token.kind == "sqrt":
            if self.peek().text == "[":
                raise self.wrong(self.peek(), "a root other than the square root", "write it as a power")
            return Call("sqrt", (self.argument(),), token.at)
        if token.kind == "begin":
            return self.table(token, *matrix_cells(self.tokens, self.at, self.source), flat=False)
        raise self.unexpected(token)

    def name(self, token: Token) -> Tree:
        key = token.text
        known = not key.startswith("=") and self.names.vocabulary.resolve(key) is None and not self.names.is_own(key)
        if known and key in CONSTANTS:
            return Number(CONSTANTS[key], token.at)
        if known and key in FUNCTION_OF:
            return self.call(token)
        return Name(key, token.at)

    def argument(self) -> Tree:
        """The argument of \\frac and \\sqrt: a group, or one digit or name."""
        token = self.peek()
        if token.kind not in ("open", "number", "name"):
            raise self.unexpected(token)
        return self.value()

    def group(self, token: Token) -> Tree:
        if token.text == "[":
            cells = list_cells(self.tokens, self.at, self.source)
            if cells is not None:
                return self.table(token, *cells, flat=True)
        bars, self.bars = self.bars, 0
        tree = self.fraction()
        self.bars = bars
        self.close(token)
        return tree

    def fraction(self) -> Tree:
        """The inside of a group: a sum, or a fraction of two, as in {a \\over b}."""
        tree = self.sum()
        if self.peek().kind != "over":
            return tree
        at = self.take().at
        return Product((("*", tree), ("/", self.sum())), at)

    def close(self, token: Token) -> None:
        found = self.take()
        if found.kind != "close" or found.text != CLOSING[token.text]:
            self.at -= 1
            raise self.unexpected(found)

    def absolute(self, token: Token) -> Tree:
        self.bars += 1
        tree = self.sum()
        self.bars -= 1
        found = self.take()
        if found.kind != token.kind:
            cure = "write |x| or abs(x)" if token.kind == "bar" else "write \\|v\\|"
            raise self.wrong(token, f"this {token.text} is not closed", cure)
        return Call("abs" if token.kind == "bar" else NORM, (tree,), token.at)

    def call(self, token: Token) -> Tree:
        function = FUNCTION_OF[token.text]
        power = self.function_power(token)
        self.deeper(token)
        following = self.peek()
        arguments = self.arguments() if following.kind == "open" else [self.bare_argument(token)]
        self.depth -= 1
        count = FUNCTIONS[function][0]
        if len(arguments) != count:
            found = f"{token.text} takes {counted(count, 'argument')}, found {len(arguments)}"
            raise self.wrong(token, found, f"write {token.text}({', '.join('xy'[:count])})")
        tree: Tree = Call(function, tuple(arguments), token.at)
        if token.text in RECIPROCAL_OF:
            tree = Product((("*", Number(1.0, token.at)), ("/", tree)), token.at)
        return tree if power is None else Power(tree, power, token.at)

    def function_power(self, token: Token) -> Tree | None:
        if not self.is_power():
            return None
        self.take()
        power = self.exponent()
        if power is None or isinstance(power, Sum):
            name = token.text
            raise self.wrong(token, f"{name} to a negative power is ambiguous", f"write 1/{name}(x), or arc{name}(x)")
        return power

    def arguments(self) -> list[Tree]:
        opening = self.take()
        bars, self.bars = self.bars, 0
        found = [self.fraction()]
        while self.peek().kind == "comma":
            self.take()
            found.append(self.fraction())
        self.bars = bars
        self.close(opening)
        return found

    def bare_argument(self, token: Token) -> Tree:
        first = self.peek()
        if first.kind not in ("number", "name", "frac", "sqrt", "bar"):
            found = f"{token.text} has no argument"
            raise self.wrong(token, found, f"write it in parentheses, as in {token.text}(q_1)")
        tree = self.value()
        if first.kind == "number" and self.peek().kind in ("name", "open", "frac"):
            tree = Product((("*", tree), ("*", self.value())), first.at)
        if self.is_power():
            cure = f"write {token.text}^2(x) for the power of the function, {token.text}(x^2) for that of the argument"
            raise self.wrong(self.peek(), f"this power is ambiguous: of {token.text} or of its argument", cure)
        return tree

    def table(self, opening: Token, rows: list[list[Sequence[Token]]], end: int, *, flat: bool) -> Tree:
        self.deeper(opening)
        trees, spans = [], []
        for row in rows:
            trees.append([self.cell(cell) for cell in row])
            spans.append([(cell[0].at, cell[-1].end) for cell in row])
        self.depth -= 1
        self.at = end
        inner = [cell for row in trees for cell in row]
        if flat and all(isinstance(cell, MatrixNode) and len(cell.rows) == 1 for cell in inner):  # [[a, b], [c, d]]
            trees = [list(cell.rows[0]) for cell in inner if isinstance(cell, MatrixNode)]
            spans = [list(cell.spans[0]) for cell in inner if isinstance(cell, MatrixNode)]
            flat = False
        elif flat and len(trees) > 1:
            flat = False
        sizes = {len(row) for row in trees}
        if len(sizes) > 1:
            found = f"a matrix with rows of {' and '.join(map(str, sorted(sizes)))} entries"
            raise self.wrong(opening, found, "give every row the same number of entries, 0 included")
        return MatrixNode(tuple(map(tuple, trees)), tuple(map(tuple, spans)), flat, opening.at)

    def cell(self, tokens: Sequence[Token]) -> Tree | None:
        if len(tokens) == 1 and tokens[0].kind == "sign" and tokens[0].text in "*?":
            return None
        return _Parser(tokens, self.names, self.depth).whole(group=True)
