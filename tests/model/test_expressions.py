from __future__ import annotations

import contextlib
import math
import time

import pytest

import dynamis as dy
from dynamis.model.readers.expressions import parse_expression

VALUES = {
    "1": 1, "-1": -1, "--1": 1, "+-+1": -1, "2^3^2": 512, "-2^2": -4, "2**-1": 0.5, "1/4/2": 0.125, "1-2-3": -4, "2+3*4": 14,
    " ( 1 + 2 ) * 3 ": 9, "1e3": 1000, ".5": 0.5, "5.": 5, "pi": math.pi, "cos(pi)": -1, "atan2(1, -1)": 3 * math.pi / 4,
    "max(1, min(2, 3))": 2, "abs(-2)": 2, "sign(-3)": -1, "sqrt(2)^2": 2, "tan(0.3)": math.tan(0.3), "exp(log(2))": 2, "a*b_1": 6,
    "tanh(0.2)": math.tanh(0.2), "90deg": math.pi / 2, "-2*45 deg": -math.pi / 2, "asin(1)": math.pi / 2, "acos(1)": 0,
}  # fmt: skip
BAD = ["", " ", "1+", "*1", "1 2", "1,2", "()", "(1", "1)", "((1)", "1//2", "1%2", "a b", "c", "1_000", "0x10", "1e400", "1..2", "1e", "nan", "inf",
       "1j", "θ", "２", "=1", "'1'", "lambda: 1", "__import__('os')", "__import__", "().__class__", "a.real", "a.__class__", "[1]", "{1}",
       "a if a else a", "1;1", "1\n+\n'x'", "open(1)", "eval(1)", "exec(1)", "print(1)", "sin", "sin()", "sin(1, 2)", "max(1)", "atan2(1)",
       "1/0", "0^-1", "(-1)^0.5", "sqrt(-1)", "log(0)", "log(-1)", "asin(2)", "acos(-2)", "exp(1000)", "9^9^9^9", "1e308*10", "1e308^2",
       "-1e308*10", "\x00", "1\x00", "$(rm -rf /)", "`ls`", "%s", "@", "a(1)", "1e308+1e308", "pi()", "deg", "a deg", "1deg deg"]  # fmt: skip

HANGS = 60.0  # seconds of processor time: what is meant takes far less, what is guarded against far more


@pytest.mark.parametrize("text", VALUES)
def test_arithmetic_has_its_usual_meaning(text):
    assert parse_expression(text, {"a": 2.0, "b_1": 3.0}) == pytest.approx(VALUES[text], rel=1e-15)


@pytest.mark.parametrize("text", BAD)
def test_what_is_not_finite_arithmetic_is_refused_in_words(text):
    with pytest.raises(dy.InputError) as caught:
        parse_expression(text, {"a": 2.0})
    assert 10 < len(str(caught.value)) < 300
    assert str(caught.value).isprintable()
    assert "(34," not in str(caught.value)  # an errno is not a sentence


BOMBS = {
    "parentheses": "(" * 5000 + "1" + ")" * 4999,
    "powers": "2^" * 4900 + "1",
    "powers of one": "1^" * 4900 + "1",
    "powers of minus": "2^-" * 3000 + "1",
    "minus": "-" * 9_999 + "1",
    "calls": "sin(" * 2000 + "1" + ")" * 2000,
    "megabyte": "1+" * 500_000 + "1",
    "megabyte number": "9" * 1_000_000,
    "megabyte name": "a" * 1_000_000,
    "sum": "+".join(["1"] * 4000),
    "factorial tower": "9^9^9^9^9^9^9",
    "nested maxima": "max(1," * 1500 + "1" + ")" * 1500,
}


@pytest.mark.parametrize("case", BOMBS)
def test_an_expression_bomb_is_evaluated_or_refused_at_once(case):
    start = time.process_time()
    try:
        value = parse_expression(BOMBS[case], {"a": 1.0})
    except dy.InputError as error:
        assert len(str(error)) < 300
    else:
        assert math.isfinite(value)
    assert time.process_time() - start < HANGS


@pytest.mark.parametrize(
    "text", ["m*(1e308*10)", "m/0", "m^(1/0)", "m*1e308*1e308", "0*m/0", "m + (1e308*10 - 1e308*10)", "2^m", "m^m"]
)
def test_a_symbol_does_not_hide_a_number_that_is_not_finite(text):
    with pytest.raises(dy.InputError):
        parse_expression(text, {"m": dy.symbol("m")})


def test_a_symbolic_bomb_is_read_and_printed_in_time(save):
    rows = "".join(f'a{k} = "a{k - 1}*a{k - 1} + a{k - 1}"\n' for k in range(1, 40))
    start = time.process_time()
    robot = dy.load(save(f'[parameters]\na0 = "symbol"\n{rows}[[dh]]\nmass = "a39"\n', "robot.toml"))
    assert robot.model.symbolic
    with contextlib.suppress(dy.DynamisError):  # too long for a file
        robot.write(save("", "out.toml"))
    assert time.process_time() - start < HANGS


def test_a_wrong_expression_in_a_file_names_the_key_and_the_line(two_links, refused):
    message = str(refused(two_links('com = ["l/2", 0, 0]', 'com = ["l//2", 0, 0]'), "robot.toml"))
    assert "robot.toml:16: error: [[link]] 'upper': com: in the expression 'l//2'" in message


def test_an_expression_may_use_only_parameters_above_it(refused):
    assert "no parameter named 'b'" in str(refused('[parameters]\na = "b"\nb = 1\n', "robot.toml"))
