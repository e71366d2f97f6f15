"""Controllers as C: it compiles without a warning, passes its own test, and agrees with Python."""

import shutil
import subprocess

import numpy as np
import pytest

import dynamis as dy
from dynamis import control
from dynamis.trajectories.joint_moves import joint_move

COMPILER = shutil.which("gcc") or shutil.which("clang")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]
ARM = dy.load("planar_2r_melchiorri")
PUMA = dy.load("puma560")
MOVE = joint_move(np.zeros(6), np.linspace(0.5, -0.5, 6), duration=1.0)
TASK = dy.task_space.Position(rows=(0, 1))
LAWS = {
    "computed_torque": (PUMA, control.ComputedTorque.designed(MOVE, bandwidth=10.0)),
    "slotine_li": (ARM, control.SlotineLi.designed(ARM, [0.1, 0.2], bandwidth=5.0)),
    "impedance": (ARM, control.Impedance([1.0, 1.0], 500.0, TASK, inertia=20.0)),
    "momentum_observer": (PUMA, control.MomentumObserver(control.PDGravity.designed(PUMA, MOVE, bandwidth=8.0), 6)),
    "hybrid_force_position": (ARM, control.HybridForcePosition.designed([1.0, 1.0], 5.0, [0.0, 1.0], TASK, bandwidth=5.0)),
}


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("name", LAWS)
def test_it_compiles_passes_its_own_test_and_agrees_with_python(tmp_path, name):
    robot, law = LAWS[name]
    paths = control.write_c(robot, law, tmp_path)
    label = f"control_{name}"
    assert [p.name for p in paths] == [f"{label}.h", f"{label}.c"]
    program = tmp_path / "selftest"
    flag = f"-D{label.upper()}_SELFTEST"
    subprocess.run([COMPILER, *FLAGS, flag, str(paths[1]), "-o", str(program), "-lm"], check=True, cwd=tmp_path)
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "0 wrong of 20" in run.stdout
    _, here, there = through_c(tmp_path, robot, law, label)
    for mine, theirs in zip(here, there, strict=True):
        assert np.abs(mine - theirs).max() <= 1e-11 * max(1.0, np.abs(mine).max())


def through_c(folder, robot, law, label):
    """(inputs, Python's results, C's results) at one state."""
    import ctypes

    library = folder / f"lib{label}.so"
    subprocess.run([COMPILER, *FLAGS, "-shared", "-fPIC", str(folder / f"{label}.c"), "-o", str(library), "-lm"], check=True)
    function = getattr(ctypes.CDLL(str(library)), label)
    rng = np.random.default_rng(5)
    q, v = rng.uniform(0.3, 1.0, robot.n), rng.uniform(-1.0, 1.0, robot.n)
    dynamic = law.size > 0
    x = [law.start(robot, q, v) + 0.1] if dynamic else []
    measured = [rng.uniform(-5.0, 5.0, size) for size in law.measures.values()]
    if dynamic:
        here = [law(robot, 0.4, q, v, *x, *measured), law.rates(robot, 0.4, q, v, *x, *measured)]
        if isinstance(law, control.MomentumObserver):
            here.append(law.residual(robot, q, v, *x))
    else:
        here = [law(robot, 0.4, q, v, *measured)]
    there = [np.zeros_like(h) for h in here]
    inputs = [np.array([0.4]), q, v, *x, *measured]
    function(*(a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in [*inputs, *there]))
    return inputs, here, there


def test_the_header_says_what_goes_in_and_out(tmp_path):
    robot, law = LAWS["slotine_li"]
    header, _ = control.write_c(robot, law, tmp_path, name="adaptive")
    text = header.read_text()
    assert header.name == "adaptive.h"
    for line in ("input t: 1 number\n", "input q: 2 numbers", "input x: 6 numbers", "output tau: 2", "output x_dot: 6"):
        assert line in text


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_single_precision_passes_its_own_test(tmp_path):
    robot, law = LAWS["computed_torque"]
    _, source = control.write_c(robot, law, tmp_path, precision="float")
    program, flag = tmp_path / "selftest", "-DCONTROL_COMPUTED_TORQUE_SELFTEST"
    subprocess.run([COMPILER, *FLAGS, flag, str(source), "-o", str(program), "-lm"], check=True)
    assert subprocess.run([str(program)], capture_output=True, check=False).returncode == 0


def saturated(t, q, v):
    """A law of a user, with a branch."""
    return np.clip(900.0 * (0.5 - q) - 200.0 * v, -50.0, 50.0) if t > 0.5 else 0.0 * q


class Integral(dy.Controller):
    size = 2

    def __call__(self, robot, t, q, v, x):
        return robot.gravity(q) - np.where(np.abs(q) > 0.1, 400.0, 900.0) * q - 200.0 * v - 30.0 * x

    def rates(self, robot, t, q, v, x):
        return q if np.abs(x).max() < 5.0 else 0.0 * q


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
@pytest.mark.parametrize(
    "law", [saturated, Integral(), lambda robot, t, q, v: robot.gravity(q) - 9.0 * v], ids=["function", "states", "lambda"]
)
def test_controllers_of_users_are_exported_too(tmp_path, law):
    _, source = control.write_c(ARM, law, tmp_path)
    program, flag = tmp_path / "selftest", f"-D{source.stem.upper()}_SELFTEST"
    subprocess.run([COMPILER, *FLAGS, flag, str(source), "-o", str(program), "-lm"], check=True)
    assert subprocess.run([str(program)], capture_output=True, check=False).returncode == 0
    q, v = np.random.default_rng(0).normal(size=(2, 9, 2))
    for t in (0.2, 0.8):
        more = [0.3 * q] if isinstance(law, Integral) else []
        given = control.compile_law(ARM, law)(np.full((9, 1), t), q, v, *more)
        first = (t,) if law is saturated else (ARM, t)
        expected = [law(*first, *row) for row in zip(q, v, *more, strict=True)]
        assert np.allclose(given[0] if more else given, expected, atol=1e-12)


def test_what_is_no_controller_is_refused(tmp_path):
    for bad, cure in (
        (None, "a controller is a function"),
        (dy.Sampled(saturated, rate=100.0), "without Sampled"),
        (lambda t, q, v, k: k * q, "default"),
    ):
        with pytest.raises(dy.InputError, match=cure):
            control.write_c(ARM, bad, tmp_path)
    with pytest.raises(dy.InputError, match="integer of at least 1"):
        control.write_c(ARM, LAWS["slotine_li"][1], tmp_path, states=0)
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(dy.InputError, match="cannot be written"):
        control.write_c(ARM, LAWS["slotine_li"][1], blocked)
    with pytest.raises(dy.InputError, match="parameters without values"):
        control.compile_law(dy.load("planar_2r"), LAWS["slotine_li"][1])


def test_the_residual_of_an_observer_is_computed_with_the_model_of_its_law(tmp_path):
    robot, law = LAWS["momentum_observer"]
    model = control.perturbed(robot, 0.2, seed=1)
    q, v = np.linspace(0.3, 0.8, 6), np.linspace(-1.0, 1.0, 6)
    x = law.start(robot, q, v)
    for given, known in ((law, robot), (law.with_model(model), model)):
        _, _, r = control.compile_law(robot, given)(np.zeros(1), q, v, x)
        assert np.allclose(r, law.residual(known, q, v, x), atol=1e-9)
    header, _ = control.write_c(robot, law, tmp_path)
    assert "output r: 6" in header.read_text()


def test_the_header_states_the_period_and_the_first_states(tmp_path):
    class Filtered(Integral):
        def start(self, robot, q, v):
            return np.broadcast_to([0.5, -2.0], v.shape)

    for law, sentence in (
        (Integral(), "Integral of planar 2R (Melchiorri), x starts at 0\n"),
        (dy.Sampled(Filtered(), 250.0), ", called every 0.004 s, with tau held between the calls, x starts at 0.5, -2 at rest"),
        (saturated, "saturated of planar 2R (Melchiorri)\n"),
    ):
        assert sentence in control.write_c(ARM, law, tmp_path)[0].read_text()


@pytest.mark.parametrize("duration", [[1.0], -1.0, np.nan, np.inf, "a"])
def test_durations_are_positive_numbers(tmp_path, duration):
    with pytest.raises(dy.InputError, match="duration"):
        control.write_c(ARM, saturated, tmp_path, duration=duration)
    with pytest.raises(dy.InputError, match="duration"):
        control.FeedforwardPD.designed(ARM, [0.1, 0.2], bandwidth=5.0).check(ARM, duration=duration)
