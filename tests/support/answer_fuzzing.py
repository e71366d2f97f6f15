"""Answers made at random from the pieces of real ones: each gets a verdict or an error that says what to do."""

from __future__ import annotations

import functools
import random
import traceback

import numpy as np

import dynamis as dy
from dynamis.classroom.checking import names
from dynamis.classroom.checking.quantities import is_of_link

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
    r"\text{ with }", r"\text{ N m}^2", r"\text{const.}", r"\sec", r"\sqrt{1 - s_1^2}", r"- \tau_1 = 0", r"= \tau_2 +",
    r"\theta", r"\dot\theta", "x", r"\ddot x", "xdot", "h'", "F", "u", r"\tau_2 = 0 \\", "c_2 =", r"\theta = q_2 \\", "= 0", r"\pi",
    r"\frac l2", r"\over", "sen", r"\|v\|^2", "v_{c2} =", r"\dot q^T", r"= \tau", r"\mu_z =", "Y =", "p_1 =", r"\ddot q",
]  # fmt: skip


def whole_answers(form):
    """(quantity, right answer), from which wrong ones are made."""
    matrices = {"mass-matrix": ("M", form.M), "coriolis": ("C", form.C), "gravity": ("g", form.g),
                "equations": ("tau", form.torque), "coriolis-vector": ("c", form.coriolis_vector)}  # fmt: skip
    for quantity, (letter, value) in matrices.items():
        yield quantity, f"{letter} = {value.latex()}"
        yield quantity, str(value)
        yield quantity, "\n".join(f"{letter}_{''.join(str(k + 1) for k in i)} = {x}" for i, x in np.ndenumerate(value))
    yield "kinetic-energy", f"T = {form.kinetic_energy}"
    yield "potential-energy", f"U = {form.potential_energy.latex()}"


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


@functools.cache
def exercises():
    """Of each robot, its closed form and right answers."""
    forms = {name: dy.load(name).closed_form() for name in ROBOTS}
    return {name: (form, list(whole_answers(form))) for name, form in forms.items()}


def answer(seed):
    """(robot, quantity, text) of one answer; the same seed gives the same answer."""
    rng = random.Random(f"answer {seed}")
    robot = rng.choice(ROBOTS)
    quantity, text = rng.choice(exercises()[robot][1])
    if rng.random() < 0.5:
        quantity = rng.choice(names()[:9])
    if rng.random() < 0.3:
        return robot, quantity, " ".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 12)))
    return robot, quantity, changed(text, rng) if rng.random() < 0.9 else text


def judge(seed):
    """ "correct", "wrong" or "refused"; anything else is an exception."""
    robot, quantity, text = answer(seed)
    try:
        verdict = dy.check_answer(exercises()[robot][0], quantity, text, body=1 if is_of_link(quantity) else None)
    except dy.DynamisError:
        return "refused"
    assert verdict.report()
    assert verdict.report(hint=True)
    return "correct" if verdict.correct else "wrong"


def check(seeds, folder=""):
    """What went wrong, as (seed, sentence), and how many answers were judged."""
    wrong, judged = [], 0
    for seed in seeds:
        try:
            judged += judge(seed) != "refused"
        except Exception:
            wrong.append((seed, f"{answer(seed)}: {traceback.format_exc(limit=-3)}"))
    return wrong, judged
