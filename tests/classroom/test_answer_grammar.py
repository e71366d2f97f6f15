"""Formulas: their usual meaning, round trips of random expressions, and refusals that say what to write."""

import time

import numpy as np
import pytest

import dynamis as dy
from dynamis.classroom.answers import Vocabulary, parse_answer
from dynamis.scalar import Node, cos, evaluate, sign, sin, sqrt, symbol, tanh
from dynamis.scalar.graph import show, topological

X, Y, Z = (symbol(name) for name in ("x", "y", "z_1"))
Q, V, A = ([symbol(f"{letter}{k}") for k in (1, 2)] for letter in "qva")
NAMES = Vocabulary(Q, V, A, (True, True), {"x": X, "y": Y, "z_1": Z})
VALUES = {X: 0.7, Y: -1.3, Z: 2.1, Q[0]: 0.4, Q[1]: -0.9, V[0]: 1.1, V[1]: 0.3, A[0]: -0.2, A[1]: 1.7}


def number(text):
    return float(evaluate(parse_answer(f"w = {text}", NAMES).definitions["w"].node, VALUES))


x, y, z, q1, q2 = (VALUES[n] for n in (X, Y, Z, *Q))
MEANINGS = {
    r"\frac{12}{34}x": 12 / 34 * x, r"\frac{0.5}{x}": 0.5 / x, r"\sqrt{16}": 4, "1": 1, "-x": -x, "--x": x, "2^3": 8, "-x^2": -(x**2), "x**2": x**2, "x^{2}": x**2, "x^{-1}": 1 / x, "x^-1": 1 / x, "x²y³": x**2 * y**3,
    "1/2 x": x / 2, "1/2x": x / 2, "x/y z_1": x / y * z, "x - y - z_1": x - y - z, "2(x+y)(x-y)": 2 * (x + y) * (x - y), "9.81 x": 9.81 * x, "1e-3x": 1e-3 * x, ".5 x": x / 2,
    r"\frac{x}{y}": x / y, r"\frac12 x": x / 2, r"\frac{1}2x": x / 2, r"\frac1{2}x": x / 2, r"\dfrac{x+y}{x-y}": (x + y) / (x - y), r"\tfrac{3}{2}": 1.5,
    r"x \cdot y \times z_1": x * y * z, r"\left( x + y \right)^2": (x + y) ** 2, r"\left[x\left(1+y\right)\right]": x * (1 + y), r"\{x + y\}x": (x + y) * x,
    r"\bigl(x+y\bigr)\Bigl(x-y\Bigr)": (x + y) * (x - y), "{x}{y}": x * y, "{}x{}": x, "|y|": abs(y), "|x - |y||": abs(x - abs(y)), "|x||y|": abs(x) * abs(y), r"\left|y\right|": abs(y), r"\lvert y\rvert": abs(y),
    "sin(q_1+q_2)": np.sin(q1 + q2), r"\sin(q_1 + q_2)": np.sin(q1 + q2), r"\sin q_1": np.sin(q1), r"\sin^2 q_1": np.sin(q1) ** 2, r"\sin^{2}(q_1)": np.sin(q1) ** 2, r"\sin{q_1}": np.sin(q1), "cos q2": np.cos(q2),
    "sin(q1)^2": np.sin(q1) ** 2, r"\sin 2q_1": np.sin(2 * q1), r"\sin 2\theta_1 \dot{\theta}_1": np.sin(2 * q1) * VALUES[V[0]], r"\cos q_2 \, \dot{q}_2": np.cos(q2) * VALUES[V[1]],
    r"\cos\theta_1\sin\theta_2": np.cos(q1) * np.sin(q2), r"\sin\frac{q_1}{2}": np.sin(q1 / 2), r"x\cos q_1 y": x * np.cos(q1) * y, r"\cos\left(q_1\right)x": np.cos(q1) * x, "cos12": np.cos(q1 + q2),
    r"\operatorname{sgn}(y)": -1, "sgn(y)": -1, "sign(x)": 1, r"\mathrm{sgn}(\dot{q}_1)": 1, r"\text{sgn}(y)": -1, r"\sqrt{x}": np.sqrt(x), "sqrt(x)": np.sqrt(x), r"\sqrt2": np.sqrt(2), "tanh(x)": np.tanh(x),
    "atan2(x, y)": np.arctan2(x, y), "pi": np.pi, r"2\pi": 2 * np.pi, r"\tan q_1": np.tan(q1), "exp(x)": np.exp(x), r"\ln x": np.log(x), r"\arcsin(x)": np.arcsin(x), "x .* y ./ z_1": x * y / z, "2*-3": -6,
    r"x\;y\,z_1\!\quad x": x * y * z * x, r"x ~ y": x * y, "+x": x, "x (t)": x, "x + % remark\n y": x + y,
}  # fmt: skip


@pytest.mark.parametrize("text", MEANINGS)
def test_a_formula_has_its_usual_meaning(text):
    assert number(text) == pytest.approx(MEANINGS[text], rel=1e-14)


REFUSED = {
    "": "there is nothing after this =", "x +": "ends where a value is expected", "* x": "'*' is not expected", "(x": "'(' is not closed", "x)": "')' is unmatched", "(x]": "']' is found before '('", "x // y": "'/' is not expected",
    "()": "')' is found where a value is expected", "1 2": "two numbers side by side", "1e400": "not a finite number", "x^0.5": "not a small integer", "x^y": "not a small integer", "x^{100}": "not a small integer", "2^{1000000000}": "not a small integer",
    "x^2^3": "two consecutive exponents", r"\sin q_1^2": "this power is ambiguous: of sin", r"\sin^{-1} x": "is ambiguous", r"\sin": "sin has no argument", r"\sin -q_1": "sin has no argument", "sin(x, y)": "takes 1 argument", "atan2(x)": "takes 2 arguments",
    "(1,5)": "a comma inside a formula", "x/0": "division of x by zero", "1/0": "divided by zero", "0^{-1}": "divided by zero", "sqrt(-1)": "not a real number", "1e300*1e300": "too large", "1e300 x 1e300": "too large", r"\sqrt[3]{x}": "other than the square root",
    "|x": "this | is not closed", r"\int x": "no answer", r"x \partial": "no answer", r"\frac{x}": "ends where a value", "x & y": "& outside a matrix", "[1, 2] + x": "a matrix and a scalar are added", "[1, 2] + [1, 2, 3]": "matrices of",
    "[x, y] * [x, y]": "cannot be multiplied", "sin([1, 2])": "a matrix is found where an argument", "[1, 2; 3]": "rows of 1 and 2 entries", "[1, , 2]": "an empty entry", r"\begin{bmatrix} 1 & \\ 2 & 3 \end{bmatrix}": "an empty entry",
    r"\begin{bmatrix} 1": "is not closed", r"\begin{bmatrix} 1 \end{pmatrix}": "is closed", "'x'": "''' is not a mathematical symbol", "lambda: 1": "':' is not a mathematical symbol", "x.__class__": "is not", "open(1)": "no quantity named 'open'", "eval(x)": "no quantity named 'eval'",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_formula_is_refused_in_words(text):
    with pytest.raises(dy.FormatError) as caught:
        parse_answer(f"w = {text}", NAMES, "answer.tex")
    message = str(caught.value)
    assert REFUSED[text] in message
    assert message.startswith("answer.tex:1:")
    assert "To repair: " in message
    assert message.rsplit("\n", maxsplit=1)[-1].strip() == "^"


BOMBS = {
    "parentheses": "w = " + "(" * 20_000 + "1" + ")" * 20_000,
    "unclosed": "(" * 40_000,
    "braces": "{" * 40_000,
    "brackets": "[" * 20_000 + "]" * 20_000,
    "calls": "w = " + r"\sin" * 5_000 + " x",
    "minus": "w = " + "-" * 40_000 + "1",
    "bars": "w = " + "|" * 9_000,
    "sum": "w = " + "x + " * 8_000 + "1",
    "letters": "w = " + " ".join(["x" * 79] * 150),
    "megabyte": "x" * 1_000_000,
    "displays": r"\[" * 20_000,
    "environments": r"\begin{align}" * 7_000,
    "powers": "w = " + "(" * 30 + "x" + "^{64})" * 30,
    "factorial tower": "w = 9^9^9^9^9",
    "definitions": "\n".join(f"d_{{{'abcdefghij'[k // 100]}{k % 100:02}}} = d_{{{'abcdefghij'[(k + 1) // 100]}{(k + 1) % 100:02}}}" for k in range(900)) + "\nd_{j00} = x",
    "cells": "w = [" + "1," * 8_000 + "1]",
    "accents": r"\dot" * 20_000,
    "indices": "m_{" * 30_000,
    "equals": "=" * 30_000,
    "texts": r"\text{" * 16_000,
}  # fmt: skip


@pytest.mark.parametrize("case", BOMBS)
def test_a_hostile_text_is_read_or_refused_at_once(case):
    start = time.process_time()
    try:
        parse_answer(BOMBS[case], NAMES, "bomb")
    except dy.FormatError as error:
        assert str(error).startswith("bomb:1:")
        assert len(str(error)) < 1000
    assert time.process_time() - start < 60.0  # seconds of processor time: it takes far less, what is guarded against far more


def test_the_deepest_brackets_that_are_read_overflow_no_stack():
    text = "w = " + "-(x*-" * 38 + "y" + ")" * 38
    assert float(evaluate(parse_answer(text, NAMES).definitions["w"].node, VALUES)) == pytest.approx(x**38 * y)


def random_expression(rng, depth=5):
    """An expression of the operations an answer can have, bounded where it is divided."""
    if depth == 0 or rng.random() < 0.1:
        leaves = [*VALUES, 1.0, 0.5, 3.0, 0.125]
        return leaves[rng.integers(len(leaves))]
    a, b = random_expression(rng, depth - 1), random_expression(rng, depth - 1)
    kind = rng.integers(9)
    if kind < 3:
        return a + b if kind else a - b
    if kind < 5:
        return a * b
    if kind == 5:
        return a / (sin(b) * 0.5 + 2.0)
    if kind == 6:
        return -a
    if kind == 7:
        return (sin, cos, tanh, abs)[rng.integers(4)](a)
    return sqrt(a * a + 1.0) * sign(b)


def latex(node):
    """A plain rendering in LaTeX, every operand in parentheses."""
    written = {}

    def text(part):
        if isinstance(part, Node):
            return written[id(part)]
        return f"{part!r}" if part >= 0 else f"({part!r})"

    for n in topological([node]):
        a = [] if n.op == "symbol" else [text(arg) for arg in n.args]
        if n.op == "symbol":
            letter, index = n.args[0][0], n.args[0].strip("xyzqva_")
            dots = {"q": "q", "v": r"\dot{q}", "a": r"\ddot{\theta}"}.get(letter, letter)
            written[id(n)] = f"{dots}_{{{index}}}" if index else letter
        elif n.op in ("add", "sub"):
            written[id(n)] = rf"\left({a[0]} {'+' if n.op == 'add' else '-'} {a[1]}\right)"
        elif n.op == "mul":
            written[id(n)] = rf"\left( {a[0]} \cdot {a[1]} \right)"
        elif n.op == "div":
            written[id(n)] = rf"\frac{{{a[0]}}}{{{a[1]}}}"
        elif n.op == "neg":
            written[id(n)] = rf"(-{a[0]})"
        elif n.op == "sqrt":
            written[id(n)] = rf"\sqrt{{{a[0]}}}"
        elif n.op == "abs":
            written[id(n)] = rf"\left|{a[0]}\right|"
        else:
            written[id(n)] = rf"\operatorname{{{n.op}}}({a[0]})"
    return text(node)


@pytest.mark.parametrize("seed", range(60))
def test_random_expressions_come_back_from_text_and_from_latex(seed):
    expression = random_expression(np.random.default_rng(seed)) + X
    expected = float(evaluate(expression, VALUES))
    plain = show(expression, limit=10**9, exact=True).replace("a1", "qdd1").replace("a2", "ddq2")
    for text in (plain, latex(expression)):
        assert number(text) == pytest.approx(expected, rel=1e-11, abs=1e-11)


AS_IN_TEX = {  # a command takes a group, one digit or one letter
    r"\frac x2": x / 2, r"\frac x2 y": x / 2 * y, r"\frac1x y": y / x, r"\frac xy": x / y, r"\frac{z_1}2 y": z / 2 * y, r"\frac 1{x}": 1 / x,
    r"\frac123": 1.5, r"\frac12 3": 1.5, r"\frac\pi2": np.pi / 2, r"\frac{1}{\frac12}": 2, r"\frac z_1 2": z / 2, r"\sqrt x y": np.sqrt(x) * y,
    r"\sqrt2x": np.sqrt(2) * x, r"\sqrt{x}2": 2 * np.sqrt(x), r"\cos\frac{q_1}2 y": np.cos(q1 / 2) * y, r"\frac{\dot q_1}2": VALUES[V[0]] / 2,
    r"{x \over y}": x / y, r"{x + y \over 2 x} y": (x + y) / (2 * x) * y, r"{1 \over {1 \over x}}": x, r"\left( x \over 2 \right)^2": (x / 2) ** 2,
    r"\sin{q_1 \over 2}": np.sin(q1 / 2), r"\sen q_1": np.sin(q1), r"\operatorname{sen}(q_1)": np.sin(q1), "sen^2 q_1": np.sin(q1) ** 2,
    r"\text{sen}(q_1)": np.sin(q1), r"\mathrm{sen}\, q_1": np.sin(q1), r"\tg q_1": np.tan(q1), "cotg(q_1)": 1 / np.tan(q1), r"\arcsen(x)": np.arcsin(x),
}  # fmt: skip


@pytest.mark.parametrize("text", AS_IN_TEX)
def test_arguments_without_braces_and_fractions_with_over_are_read_as_in_tex(text):
    assert number(text) == pytest.approx(AS_IN_TEX[text], rel=1e-12)


def test_the_fraction_of_over_is_in_braces():
    with pytest.raises(dy.FormatError, match=r"\\over without braces.*write \{a \\over b\}"):
        number(r"x \over y")
