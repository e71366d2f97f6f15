"""The same function gives the same listing, text and key in every process, and whatever was traced before."""

import gc
import shutil
import subprocess

import numpy as np
import pytest
from joint_zoo import zoo_robot
from processes import output_of

from dynamis.algorithms import coriolis, dynamics
from dynamis.compiler import jit, llvm_text
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.lowering import trace
from dynamis.scalar import symbol

LISTINGS = """
import hashlib
import numpy as np
import dynamis as dy
from dynamis.compiler import jit, llvm_text

def law(robot, q, v, goal):
    push = np.where(v[0] < 0.25, goal - q, 0.1 * (goal - q)) / (1.0 + q[0] * q[0])
    return push + robot.gravity(q) + np.arctan2(np.sin(q), np.cos(q) + 1.5) - 3e-5 * v

texts = []
for name, base, functions in (("scara", "fixed", ("forward_dynamics", "regressor")), ("go2", "floating", ("inverse_dynamics",))):
    robot = dy.load(name, base=base)
    for function in functions:
        kernel = robot.kernel(function)
        texts += [kernel.code.text(), kernel._key("double"), kernel._key("float")]
        texts += [llvm_text.render(kernel.code, jit.host_target(p)) for p in ("double", "float")]
robot = dy.load("ur5e")
kernel = robot.compile(law, goal=6)
texts += [kernel.code.text(), kernel._key("double")]
x = np.linspace(0.1, 0.9, 6)
texts += [kernel(x, x, x).tobytes().hex(), robot.forward_dynamics(x, x, x).tobytes().hex()]
for text in texts:
    print(hashlib.sha256(text.encode()).hexdigest(), len(text))
"""


def languages():
    """A locale that writes numbers with a comma, where the system has one; the plain one otherwise."""
    found = (
        subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout if shutil.which("locale") else ""
    )
    return next((name for name in found.split() if name.lower().startswith(("de_", "it_", "fr_"))), "C.UTF-8")


def test_a_listing_is_the_same_in_every_process(tmp_path):
    """Whatever the seed of hashes, language, folder, time zone or optimisation of the interpreter."""
    (tmp_path / "a folder with ümläut").mkdir()
    quick = {"DYNAMIS_NO_CACHE": "1", "DYNAMIS_TIER": "quick"}
    runs = [
        output_of(LISTINGS, cwd=tmp_path, PYTHONHASHSEED="0", LC_ALL="C", **quick),
        output_of(LISTINGS, "-O", cwd=tmp_path.anchor, PYTHONHASHSEED="1", LC_ALL=languages(), TZ="Asia/Kathmandu", **quick),
        output_of(
            LISTINGS,
            "-X",
            "utf8",
            cwd=tmp_path / "a folder with ümläut",
            PYTHONHASHSEED="4294967295",
            LC_ALL="C.UTF-8",
            **quick,
        ),
    ]
    lines = [run.splitlines() for run in runs]
    assert len(lines[0]) == 19
    assert len(set(lines[0])) == 19  # all different from each other
    assert lines[0] == lines[1] == lines[2]


def two_products(x):
    """Which of the products is fused with the sum decides how the sum rounds."""
    return np.array([x[0] * x[1] + x[2] * x[3], np.sin(x[0]) * x[1] + np.cos(x[0]) * x[2]])


def test_expressions_that_somebody_holds_do_not_change_a_listing():
    """Expressions are shared by the whole process: those made earlier must not decide the order of later ones."""
    arguments = [("held", 4)]  # a name of its own, so that no other test has a hand in it
    fresh = Kernel([two_products], arguments, "f")
    text = fresh.code.text()
    values = np.random.default_rng(0).uniform(-1, 1, (200, 4))
    result = fresh(values)
    gc.collect()
    x = [symbol(f"held[{k}]") for k in range(4)]
    held = [x[2] * x[3], np.cos(x[0]) * x[2]]
    again = Kernel([two_products], arguments, "f")
    assert np.array_equal(again(values), result)
    assert again.code.text() == text
    del held


@pytest.mark.parametrize("algorithm", [dynamics.inverse_dynamics, coriolis.coriolis_matrix], ids=["torques", "matrix"])
def test_a_robots_listing_does_not_depend_on_what_was_traced_before(algorithm, request):
    model = zoo_robot("screws").model
    letters = [f"{letter} of {request.node.name}" for letter in ("q", "v", "a")]  # symbols no other test has
    sizes = [model.nq, model.n, model.n]
    arguments = list(zip(letters, sizes, strict=True))[: 3 if algorithm is dynamics.inverse_dynamics else 2]

    def listing():
        return trace(lambda *x: algorithm(model, *x), arguments).text()

    fresh = listing()
    gc.collect()
    assert listing() == fresh
    gc.collect()
    # symbols of the same names, in the hands of somebody who made them in another order and computed with them
    q, v = (np.array([symbol(f"{a}[{k}]") for k in reversed(range(n))], dtype=object)[::-1] for a, n in arguments[:2])
    held = [dynamics.bias(model, q, v), dynamics.gravity(model, q)]
    assert listing() == fresh
    del held


def test_the_text_for_the_compiler_is_made_from_the_listing_alone():
    model = zoo_robot("wrists").model
    code = trace(lambda q: dynamics.gravity(model, q), [("q", model.nq)])
    for precision in ("double", "float"):
        target = jit.host_target(precision)
        text = llvm_text.render(code, target)
        assert llvm_text.render(code, target) == text
        assert jit.assemble(text, 0) == jit.assemble(text, 0)


def test_vectors_have_the_same_width_in_both_precisions():
    double, single = jit.host_target("double"), jit.host_target("float")
    assert double.width == single.width
    assert single.lanes == 2 * double.lanes
    for wide in (double, single):
        short = jit.single_state_target(wide.precision)
        assert (short is None) is (wide.width <= jit.SHORT)
        assert short is None or (short.precision, short.width) == (wide.precision, jit.SHORT)


def test_better_code_is_asked_for_unless_the_quick_tier_is_wanted(monkeypatch):
    asked = []
    monkeypatch.setattr("dynamis.compiler.kernel._background.ask", lambda name, job: asked.append(name))
    for tier, expected in (("quick", []), (None, ["tripled"])):
        monkeypatch.delenv("DYNAMIS_TIER", raising=False)
        if tier:
            monkeypatch.setenv("DYNAMIS_TIER", tier)
        kernel = Kernel([lambda x: 3.0 * x], [("x", 2)], "tripled")
        assert kernel.state() == "at the first call"
        assert np.array_equal(kernel(np.ones(2)), [3.0, 3.0])
        assert kernel.state() == "float64 baseline code, optimisation pending"
        assert asked == expected
