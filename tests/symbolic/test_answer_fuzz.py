"""Answers made at random from the pieces of real ones: each gets a verdict or an error that says what to do."""

import os
import random

import numpy as np
import pytest

import dynamis as dy
from dynamis.symbolic.checking import names

ROBOTS = ("planar_2r", "pendulum_from_vertical", "motor_with_load", "planar_prp", "cartesian_2p")
PIECES = [
    "M", "C", "g", "c", "T", "U", r"\tau", "tau_1", "I", "I_1", "m_1", "m_2", "l_1", "l_{c1}", "a_1", "q", "q_1", "q_2", "q_3",
    r"\dot{q}_1", r"\ddot q_2", "dq1", "q_1'", "θ̇₁", "m₂", "s_1", "c_{12}", "c12", "S_2", "c[1-2]", "s_123", "h", "d_2",
    r"\sin", r"\cos q_1", "sin(q_1/2)", r"\tan(\frac{q_1}{2})", r"\cos(2 q_1)", "sin^2", "cos(q_1/3)", "sin(1e9 q_1)",
    "0", "1", "2", "1/2", "½", "²", "^2", "^{2}", "^{-1}", "^T", "^99", "1e308", "0.5", "9.81", "0.0444444", ".5", "1,5",
    "+", "-", "*", "/", "=", "=", "==", r"\cdot", r"\ast", r"\times", r"\frac", r"\frac12", r"\sqrt", "|", r"\|",
    "(", ")", "[", "]", "{", "}", r"\{", r"\}", r"\left(", r"\right)", r"\left", r"\right", r"\bigl(", r"\bigr)",
    r"\begin{bmatrix}", r"\end{bmatrix}", r"\begin{pmatrix}", r"\end{pmatrix}", r"\begin{align}", r"\end{align}", "&", r"\\",
    ";", ",", "\n", " ", r"\quad", "$", "$$", r"\[", r"\]", r"\text{sym.}", "sym.", "%", "#", r"\partial", r"\sum_{i}", r"\int",
    r"\foo", "é", "♥", "\u200b", "_", "__", "_{", r"\mathrm{sym.}", r"\text{", "•", "~", "'", "²²", "₂", r"\infty", "nan", "inf",
]  # fmt: skip


def whole_answers(form):
    """Right answers, from which wrong ones are made."""
    matrices = {"M": form.M, "C": form.C, "g": form.g, "tau": form.torque, "c": form.coriolis_vector}
    for letter, value in matrices.items():
        yield f"{letter} = {value.latex()}"
        yield str(value)
        yield "\n".join(f"{letter}_{''.join(str(k + 1) for k in i)} = {x}" for i, x in np.ndenumerate(value))
    yield f"T = {form.kinetic_energy}"
    yield f"U = {form.potential_energy.latex()}"


def changed(text, rng):
    """An answer with pieces of it deleted, doubled, exchanged, or replaced by others."""
    words = text.replace("(", " ( ").replace(")", " ) ").replace("*", " * ").split(" ")
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        k, j = rng.randrange(len(words)), rng.randrange(len(words))
        match rng.randrange(6):
            case 0:
                words[k] = rng.choice(PIECES)
            case 1:
                words.insert(k, rng.choice(PIECES))
            case 2:
                del words[k]
            case 3:
                words[k], words[j] = words[j], words[k]
            case 4:
                words[k:k] = words[j : j + rng.randrange(1, 5)]
            case 5:
                words[k] = words[k][: rng.randrange(len(words[k]) + 1)]
        if not words:
            return ""
    return " ".join(words)


def check_many(count, seed):
    """How many answers got a verdict, were refused and were right; any other exception ends the test."""
    rng = random.Random(seed)
    forms = {name: dy.load(name).closed_form() for name in ROBOTS}
    right_ones = {name: list(whole_answers(form)) for name, form in forms.items()}
    outcomes = {"correct": 0, "wrong": 0, "refused": 0}
    for k in range(count):
        robot = rng.choice(ROBOTS)
        form, quantity = forms[robot], rng.choice(names()[:9])
        if rng.random() < 0.3:
            text = " ".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 12)))
        else:
            text = changed(rng.choice(right_ones[robot]), rng)
        try:
            verdict = form.check_answer(quantity, text, body=1)
            assert verdict.report()
            assert verdict.report(hint=True)
            outcomes["correct" if verdict.correct else "wrong"] += 1
        except dy.DynamisError:
            outcomes["refused"] += 1
        except Exception as error:
            raise AssertionError(f"answer {k} of seed {seed}: {robot}, {quantity}: {text!r}") from error
    return outcomes


def test_random_answers_are_judged_or_refused():
    outcomes = check_many(200, seed=1)
    assert all(outcomes.values()), outcomes


@pytest.mark.campaign
def test_many_random_answers_are_judged_or_refused():
    for part in range(int(os.environ.get("DYNAMIS_FUZZED_ANSWERS", "20000")) // 1000):
        check_many(1000, seed=1000 + part)
