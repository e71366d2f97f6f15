"""Random expressions of every operation, made so that rounding can be told from being wrong.

Two kinds of value are kept apart. Exact ones are multiples of a power of two, small enough that sums, products and
comparisons of them round in no precision: only they are compared, rounded down or used as conditions, where the least
error would make a large one. Smooth ones are anything continuous.
"""

from __future__ import annotations

import numpy as np

from dynamis.scalar import Node, Program, gradient, kept, node, symbol, topological
from dynamis.scalar.linear import pivot

BITS = 20  # of an exact value: single precision has 24
LARGEST = 30.0  # of a smooth value


class RandomGraph:
    """``outputs``, expressions of ``exact`` inputs (multiples of ¼ up to 4) and ``smooth`` ones (−2 … 2)."""

    def __init__(self, rng, operations=60, inputs=3, kinks=True):
        self.rng, self.kinks = rng, kinks
        self.inputs = [symbol(f"x[{k}]") for k in range(2 * inputs)]
        self.exact = [(x, 4.0, 2) for x in self.inputs[:inputs]]  # expression, largest size, digits behind the point
        self.smooth = [(x, 2.0) for x in self.inputs[inputs:]]
        for _ in range(operations // 3):
            self._add_exact()
        for _ in range(operations - operations // 3):
            self._add_smooth()
        used = [x for x, _, _ in self.exact[-4:]], [x for x, _ in self.smooth[-6:]]
        self.exact_outputs, self.smooth_outputs = used
        self.outputs = np.array([*used[0], *used[1]], dtype=object)

    def function(self, x):
        """The same as a function to trace: symbols are one object wherever they are made."""
        assert list(x) == self.inputs
        return self.outputs

    def values(self, count, dtype):
        half = len(self.inputs) // 2
        exact = self.rng.integers(-16, 17, (count, half)) / 4.0
        exact[: count // 4] = np.round(exact[: count // 4])  # more of them equal, more of them zero
        return np.concatenate([exact, self.rng.uniform(-2.0, 2.0, (count, half))], axis=1).astype(dtype)

    def reference(self, x):
        return Program(self.inputs, self.outputs)(*x.astype(float).T)

    def uncertainty(self, x):
        """What a rounding of relative size 1 in every operation does to each output, to first order: Σ |∂out/∂node| |node|.

        Terms of a sum may be added in any order, so a sum counts as large as the sizes of its terms together.
        """
        exact = {id(e) for e, _, _ in self.exact}
        nodes, sizes = [], {}
        for n in topological(self.outputs):
            if n.op in ("add", "sub", "neg"):
                sizes[id(n)] = sum(sizes[id(a)] if isinstance(a, Node) else abs(a) for a in n.args)
            else:
                sizes[id(n)] = abs(n)
            if n.op != "symbol" and id(n) not in exact:
                nodes.append(n)
        size = Program(self.inputs, np.array([sizes[id(n)] for n in nodes], dtype=object))(*x.astype(float).T)
        columns = [np.zeros(len(x)) for _ in self.exact_outputs]
        for output in self.smooth_outputs:
            weight = Program(self.inputs, gradient(output, nodes))(*x.astype(float).T)
            columns.append((np.abs(weight) * size).sum(axis=-1))
        return np.stack(columns, axis=-1)

    # the operations

    def _pick(self, pool):
        recent = max(0, len(pool) - 25)  # mostly late ones, so that graphs become deep
        return pool[int(self.rng.integers(recent if self.rng.random() < 0.7 else 0, len(pool)))]

    def _add_exact(self):
        rng = self.rng
        (a, size_a, digits_a), (b, size_b, digits_b), (c, _, _) = (self._pick(self.exact) for _ in range(3))
        number = float(rng.integers(-4, 5)) or 0.5
        match rng.choice(
            ["add", "sub", "mul", "neg", "abs", "sign", "floor", "min", "max", "truth", "not", "and", "or", "where", "number"]
        ):
            case "add":
                new = a + b, size_a + size_b, max(digits_a, digits_b)
            case "sub":
                new = a - b, size_a + size_b, max(digits_a, digits_b)
            case "mul":
                new = a * b, size_a * size_b, digits_a + digits_b
            case "neg":
                new = -a, size_a, digits_a
            case "abs":
                new = abs(a), size_a, digits_a
            case "sign":
                new = np.sign(a), 1.0, 0
            case "floor":
                new = np.floor(a), size_a + 1.0, 0
            case "min":
                new = np.minimum(a, b), max(size_a, size_b), max(digits_a, digits_b)
            case "max":
                new = np.maximum(a, number), max(size_a, 4.0), digits_a + 1
            case "truth":
                test = (a < b, a <= b, a == b, a > number, a >= b, a != b)[int(rng.integers(6))]
                new = test, 1.0, 0
            case "not":
                new = node.unary("not", a), 1.0, 0
            case "and":
                new = node.binary("and", a < b, a < c), 1.0, 0
            case "or":
                new = node.binary("or", a < b, b <= c), 1.0, 0
            case "where":
                new = np.where(c, a, b), max(size_a, size_b), max(digits_a, digits_b)
            case _:
                new = number * a - 0.5, 4.0 * size_a + 0.5, digits_a + 1
        self._keep_exact(*new)

    def _keep_exact(self, expression, size, digits):
        if isinstance(expression, Node) and np.log2(size + 1.0) + digits <= BITS:
            self.exact.append((expression, size, digits))

    def _positive(self):
        """Something that stays away from zero."""
        x, size = self._pick(self.smooth)
        match int(self.rng.integers(4)):
            case 0:
                return np.sqrt(x * x + 0.5), size + 1.0
            case 1:
                return np.exp(np.tanh(x)), np.e
            case 2:
                return 1.5 + np.sin(x), 2.5
        return x * x + 0.7, size * size + 0.7

    def _add_smooth(self):
        rng = self.rng
        (a, size_a), (b, size_b) = self._pick(self.smooth), self._pick(self.smooth)
        (e, size_e, _), (p, size_p) = self._pick(self.exact), self._positive()
        number = float(rng.uniform(-2.0, 2.0))
        smooth = ["add", "sub", "mul", "div", "neg", "sqrt", "sin", "cos", "asin", "acos", "atan2", "pow", "exp", "log", "tanh", "number",
                  "mix", "fused", "shared", "keep"]  # fmt: skip
        match rng.choice([*smooth, "abs", "min", "max", "where", "pivot"] if self.kinks else smooth):
            case "add":
                new = a + b, size_a + size_b
            case "sub":
                new = a - b, size_a + size_b
            case "mul":
                new = a * b, size_a * size_b
            case "div":
                new = a / p, 2.0 * size_a
            case "neg":
                new = -a, size_a
            case "keep":
                new = kept(a - b), size_a + size_b
            case "pivot":
                new = pivot(p, 1.0), size_p
            case "sqrt":
                new = np.sqrt(p), size_p + 1.0
            case "sin":
                new = np.sin(a), 1.0
            case "cos":
                new = np.cos(a - b), 1.0
            case "asin":
                new = np.arcsin(0.9 * np.sin(a)), 1.6
            case "acos":
                new = np.arccos(0.9 * np.cos(a)), 3.2
            case "atan2":
                new = (np.arctan2(a, p), 1.6) if rng.random() < 0.5 else (np.arctan2(p, a), 3.2)
            case "pow":
                new = p ** np.tanh(a), size_p + 3.0
            case "exp":
                new = np.exp(np.sin(a)), np.e
            case "log":
                new = np.log(p), size_p + 1.0
            case "tanh":
                new = np.tanh(a), 1.0
            case "number":
                new = number * a + 0.3, 2.0 * size_a + 0.3
            case "mix":
                new = a * e / 8.0, size_a * size_e / 8.0
            case "fused":
                new = a * b - number * a, size_a * size_b + 2.0 * size_a
            case "shared":  # two quotients by one value, one of them used inside
                new = a / p - b / p, 2.0 * (size_a + size_b)
            case "abs":
                new = abs(a), size_a
            case "min":
                new = np.minimum(a, b), max(size_a, size_b)
            case "max":
                new = np.maximum(a, b if rng.random() < 0.5 else number), max(size_a, size_b, 2.0)
            case _:
                new = np.where(e, a, b), max(size_a, size_b)
        expression, size = new
        if isinstance(expression, Node) and size <= LARGEST:
            self.smooth.append((expression, float(size)))
