"""What every motion promises: one answer for a float, for arrays and for a symbol; rest outside; derivatives that are those."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.scalar import Program
from dynamis.trajectories import double_s, follow, joint_move, line, polynomial, spline, spline_path, time_optimal, trapezoidal
from dynamis.trajectories.motion import Polynomials

HOME = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])


def ur5e_line():
    robot = dy.load("ur5e")
    end = robot.pose(HOME)
    end[:3, 3] += 0.1, 0.1, -0.1
    return follow(robot, line(robot.pose(HOME), end, trapezoidal(0, 1, velocity=1.0, acceleration=4.0)), q0=HOME)


MOTIONS = {
    "polynomial": lambda: polynomial([0.0, 1.0], [2.0, -1.0], 1.5, order=7, start_velocity=[0.3, 0.0]),
    "one polynomial": lambda: polynomial(0.5, 2.0, 0.7, order=3),
    "trapezoid": lambda: trapezoidal(1.0, -2.0, velocity=1.0, acceleration=2.0),
    "triangle": lambda: trapezoidal(1.0, 1.1, velocity=1.0, acceleration=2.0),
    "double S": lambda: double_s(0.0, 2.0, velocity=1.0, acceleration=2.0, jerk=8.0, start_velocity=0.3),
    "joint move": lambda: joint_move([0.0, 1.0, 2.0], [1.0, 1.0, -1.0], velocity=1.0, acceleration=3.0, jerk=20.0),
    "spline": lambda: spline([0.0, 0.5, 1.2, 2.0], [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.0, 0.0]]),
    "quintic spline": lambda: spline([0.0, 0.5, 1.2, 2.0], [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.0, 0.0]], order=5),
    "followed line": ur5e_line,
    "time_optimal": lambda: time_optimal(
        dy.load("planar_2r_melchiorri"), [[0, 0], [1, 0.5], [1, 1]], acceleration=4.0, points=20
    ),
}


@pytest.fixture(scope="module", params=MOTIONS, ids=lambda name: name.replace(" ", "_"))
def motion(request):
    return MOTIONS[request.param]()


def test_numbers_arrays_and_a_symbol_give_the_same(motion):
    T = motion.duration
    times = np.concatenate([[-0.5, 0.0, T, T + 0.3], np.linspace(0.01, 0.99, 37) * T]).reshape(1, -1)
    t = dy.symbol("t")
    traced = [Program([t], expression) for expression in motion.at(t)]
    for k, (many, program) in enumerate(zip(motion.at(times), traced, strict=True)):
        assert many.shape == times.shape + motion.shape
        for j, time in enumerate(times[0]):
            one = motion.at(float(time))[k]
            assert np.shape(one) == motion.shape
            assert np.allclose(one, many[0, j], rtol=0, atol=1e-13 * (1 + abs(many).max()))
            assert np.allclose(program(time), many[0, j], rtol=0, atol=1e-10 * (1 + abs(many).max()))


def test_velocities_and_accelerations_are_the_derivatives(motion):
    h = 1e-6 * motion.duration
    t = np.random.default_rng(0).uniform(2 * h, motion.duration - 2 * h, 300)
    far = np.abs(t[:, None] - motion.breaks).min(axis=1) > 2 * h  # accelerations may jump at breaks
    t = t[far]
    (q0, v0, _), (_, v, a), (q1, v1, _) = (motion.at(t + d) for d in (-h, 0.0, h))
    assert np.allclose((q1 - q0) / (2 * h), v, atol=1e-6 * (1 + abs(v).max()))
    assert np.allclose((v1 - v0) / (2 * h), a, atol=2e-5 * (1 + abs(a).max()))


def test_positions_and_velocities_have_no_jumps(motion):
    inner, close = motion.breaks[1:-1], 1e-9 * motion.duration
    for before, after in list(zip(motion.at(inner - close), motion.at(inner + close), strict=True))[:2]:
        assert np.allclose(before, after, atol=1e-6 * (1 + abs(np.asarray(before)).max(initial=0.0)))


def test_it_rests_before_the_start_and_after_the_end(motion):
    for outside, end in ((-1.0, 0.0), (motion.duration + 1.0, motion.duration)):
        q, v, a = motion.at(outside)
        assert np.array_equal(q, motion.at(end)[0])
        assert not np.any(v)
        assert not np.any(a)


def test_a_reference_is_compiled_into_rollouts():
    robot = dy.load("planar_2r_melchiorri")
    reference = joint_move([0.0, 0.0], [0.6, -0.4], velocity=1.0, acceleration=2.0, jerk=20.0)

    def law(robot, t, q, v):
        qd, vd, ad = reference.at(t)
        return robot.inverse_dynamics(q, v, ad + 100.0 * (qd - q) + 20.0 * (vd - v))

    made = dy.rollouts(robot, 1.5, np.array([[0.0, 0.0], [0.02, -0.02]]), controller=law, step=1e-3, every=50)
    assert made.note == ""
    assert np.abs(made.q[:, 0] - reference.at(made.t)[0]).max() < 1e-5
    assert np.abs(made.q[-1] - [0.6, -0.4]).max() < 1e-4


def test_peaks_are_exact():
    motion = Polynomials(np.array([0.0, 1.0, 3.0]), np.array([[[0.0], [1.0], [-1.0]], [[0.0], [-1.0], [0.5]]]))
    assert motion.peaks() == pytest.approx(0.5)  # at t = 2, within a piece; 0.25 at t = 0.5
    assert motion.derivative().peaks() == pytest.approx(1.0)
    assert motion.stretched(2.0).derivative().peaks() == pytest.approx(0.5)


def test_only_times_are_taken_for_times():
    motion = spline_path([[0.0, 0.0], [1.0, 1.0]])
    for wrong in ("soon", np.nan, [0.0, np.nan], np.array([dy.symbol("t"), dy.symbol("u")], dtype=object)):
        with pytest.raises(dy.InputError, match=r"^t (must be|contains)"):
            motion.at(wrong)


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_a_saved_motion_is_a_file_of_states_of_the_commands(tmp_path, suffix):
    robot = dy.load("planar_2r_melchiorri")
    motion = dy.trajectories.joint_move([0.0, 0.5], [1.0, -0.5], robot=robot, velocity=2.0, acceleration=5.0)
    path = motion.save(tmp_path / f"move{suffix}", robot=robot, samples=301)
    result = CliRunner().invoke(cli, ["id", "planar_2r_melchiorri", "--states", str(path), "--json"])
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    t, q, v, a = motion.sample(301)
    tau = robot.inverse_dynamics(q, v, a)
    assert facts["tau"] == pytest.approx(tau)
    assert facts["rms_over"] == "time"
    assert facts["rms"] == pytest.approx(np.sqrt(np.trapezoid(tau**2, t, axis=0) / motion.duration))


def test_bad_files_of_motions_are_refused(tmp_path):
    robot = dy.load("ur5e")
    motion = dy.trajectories.joint_move([0.0, 0.5], [1.0, -0.5], duration=1.0)
    header = motion.save(tmp_path / "plain.csv").read_text().splitlines()[0]
    assert header == "t,q1,q2,v1,v2,a1,a2"
    with pytest.raises(dy.InputError, match=r"the suffix must be \.csv or \.npz"):
        motion.save(tmp_path / "move.txt")
    with pytest.raises(dy.InputError, match="the motion has 2 joints, robot 'UR5e' 6 coordinates"):
        motion.save(tmp_path / "move.csv", robot=robot)
    with pytest.raises(dy.InputError, match="one variable"):
        dy.trajectories.polynomial(0.0, 1.0, 1.0).save(tmp_path / "profile.csv")
