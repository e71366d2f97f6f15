"""Studies for sweeps, made from a seed by exchanging values, lines and characters of a sound one."""

from __future__ import annotations

import random
import traceback
import warnings

from file_fuzzing import unsafe
from fuzzing import mutated

from dynamis.errors import DynamisError
from dynamis.sweeps.study_file import study_from_text

STUDY = """robot = "planar_2r_melchiorri"
duration = 0.1
draws = 4
seed = 7
method = "rk4"
step = 0.001
friction = "none"
q0 = [0.1, 0.2]

[hold]
q = [0.5, 0.5]
stiffness = 5000
damping = 1500
gravity = true

[payload]
mass = 2
x = 0.1

[vary]
"payload.z" = { uniform = [0, 20] }
"viscous.*" = { normal = [30, 10], within = [0, 100] }
"q0.joint1" = { normal = [0.5, 0.05] }
"coulomb.joint1" = { log_uniform = [0.001, 10] }
"torque.joint2" = { from = 0, to = "pi", count = 3 }
"mass.link1" = { choice = [40, 50] }
"gravity.y" = { grid = [-9.81, -1.62] }
"""
EXTREME = ["1e-320", "1e308", "-1e308", "1e400", "nan", "9" * 400, "[1e-320, 1e308]", "[[1]]", "{}", '"1/0"', '"9^9^9"', "true"]


def text_of(seed):
    """One study; the same seed gives the same."""
    r = random.Random(f"study {seed}")
    text = STUDY
    for _ in range(r.choice((0, 1, 2))):
        lines = text.split("\n")
        k = r.randrange(len(lines))
        if "=" in lines[k]:
            lines[k] = lines[k].rsplit("=", 1)[0] + "= " + r.choice(EXTREME) + (" }" if lines[k].endswith("}") else "")
        text = "\n".join(lines)
    return mutated(text, seed) if r.random() < 0.7 else text


def check(seeds, folder=""):
    """What went wrong, as (seed, sentence), and how many studies were accepted."""
    wrong, accepted = [], 0
    for seed in seeds:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                study = study_from_text(text_of(seed))
                said = repr(study) + repr([study.values(k) for k in range(min(study.cases, 3))])
            accepted += 1
        except DynamisError as error:
            said = str(error)
        except Exception:
            said = ""
            wrong.append((seed, traceback.format_exc(limit=-4)))
        if unsafe(said):
            wrong.append((seed, f"not safe to print: {said!r:.300}"))
    return wrong, accepted
