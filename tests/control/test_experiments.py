"""Laws side by side on one motion: the figures are those of the simulations, and the picture and the table are there."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.control.chatter import chatter
from dynamis.drawing import with_extremes
from dynamis.task_space.path_check import first_unreachable
from dynamis.task_space.redundancy import LAWS, MINIMISED

ts = dy.task_space
SIZES = {f"{name}_{k}": x for name, x in (("a", 0.5), ("l", 0.25), ("m", 2.0), ("I", 0.05)) for k in (1, 2, 3)}
TASK, START = ts.Position(rows=(0, 1)), [0.3, 0.8, 0.9]


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_3r", parameters=SIZES | {"g": 0.0})


@pytest.fixture(scope="module")
def found(arm):
    return dy.control.compare_laws(arm, LAWS, ts.Circle(0.12, period=2.0, cycles=2), task=TASK, q0=START)


@pytest.mark.parametrize("law", ["computed-torque", "feedforward-pd"])
def test_errors_of_exact_models_are_within_their_bound(law):
    run = dy.control.compare_laws(dy.load("planar_2r_melchiorri"), law, [1.0, 0.0], duration=0.5).runs[0]
    assert (run.tracking.largest < run.bound).all()
    assert run.bound.max() < 1e-3


@pytest.mark.parametrize("motion", [ts.Circle(0.1, 2.0, 2), ts.Line(0.3, 2.0, 2, component=1)])
def test_motions_are_differentiated_rightly_and_close_their_cycles(motion):
    x0 = np.array([0.4, 0.5])
    desired, step = motion.from_start(x0), 1e-5
    for t in (0.13, 0.7, 1.4, 1.9, 2.3, 3.3):
        forth, back = desired(t + step), desired(t - step)
        np.testing.assert_allclose(desired(t)[1], (forth[0] - back[0]) / (2 * step), atol=1e-8)
        np.testing.assert_allclose(desired(t)[2], (forth[1] - back[1]) / (2 * step), atol=1e-7)
    for t in (0.0, 2.0, 4.0, 5.0):
        np.testing.assert_allclose(desired(t), [x0, [0, 0], [0, 0]], atol=1e-12)
    if isinstance(motion, ts.Circle):
        np.testing.assert_allclose(np.linalg.norm(desired(0.7)[0] - x0 + [0.1, 0.0]), 0.1)
    else:
        np.testing.assert_allclose(desired(1.0)[0], x0 + np.array([0.0, 0.3]))


def test_every_law_executes_the_same_motion(found):
    assert [run.name for run in found.runs] == list(LAWS)
    for run in found.runs:
        assert run.trajectory.complete
        assert run.error.max() < 1e-5


def test_figures_are_those_of_the_simulations(arm, found):
    run = found["acceleration-energy"]
    made = run.trajectory
    squares = 0.5 * np.sum(made.tau**2, axis=1)
    assert run.null_space.costs["torque"] == pytest.approx(np.trapezoid(squares, made.t))
    assert run.peak_torque == np.abs(made.tau).max()
    assert run.null_space.drift[-1] == pytest.approx(np.linalg.norm(made.q[-1] - made.q[0]))
    assert len(run.null_space.drift) == 2
    # at the end of a cycle the task is at rest, so all that moves is unseen
    np.testing.assert_allclose(run.null_space.speed[-1], np.linalg.norm(made.v[-1]), atol=1e-4)


def test_at_the_start_each_law_is_the_cheapest_of_its_kind(arm):
    # all laws meet the same state only there: afterwards each is in its own
    q, v, x_ddot = np.array(START), np.zeros(3), np.array([1.0, 0.0])
    for name in LAWS:
        costs = {other: ts.resolve(arm, q, v, TASK, x_ddot, other).tau for other in LAWS}
        W = {"torque": np.eye(3), "acceleration-energy": np.linalg.inv(arm.mass_matrix(q)),
             "driven-acceleration": np.linalg.matrix_power(np.linalg.inv(arm.mass_matrix(q)), 2)}[name]  # fmt: skip
        found = {other: tau @ W @ tau for other, tau in costs.items()}
        assert min(found, key=found.get) == name


def test_the_least_torque_whips_the_arm_up_and_damping_calms_the_consistent_law(arm, found):
    # [Hollerbach, Suh 1987]: the least torque now is no saving later
    assert found["torque"].null_space.speed.max() > 5 * found["driven-acceleration"].null_space.speed.max()
    assert found["torque"].peak_torque > 5 * found["driven-acceleration"].peak_torque
    design = dy.control.LawDesign(null_space=ts.Damping(8.0))
    calm = dy.control.compare_laws(arm, "acceleration-energy", found.motion, task=TASK, q0=START, design=design)
    assert calm.runs[0].null_space.speed[-1] < 0.2 * found["acceleration-energy"].null_space.speed[-1]
    assert calm.runs[0].error.max() < 1e-5


def test_the_table_has_a_line_for_each_law(found):
    text = found.table()
    assert str(found) == text
    for name in LAWS:
        assert name in text
    assert "2 cycles of 2 s" in text
    assert "*" in text


def test_laws_of_a_task_can_be_compared_on_a_goal_and_on_cycles(arm):
    goal = arm.pose(START)[:2, 3] + [0.05, 0.0]
    for motion in (goal, ts.Line(0.05, 0.5, 1)):
        found = dy.control.compare_laws(arm, ["operational-space", "torque"], motion, task=TASK, q0=START, duration=1.0)
        assert found.complete
        assert all(run.error[-1] < 1e-4 for run in found.runs)
        assert found["operational-space"].stability.stable
        assert found["torque"].stability is None
        assert (found["torque"].null_space is None) == (motion is goal)
        assert "stability" in found.table()


def test_joint_laws_are_compared_on_a_goal(tmp_path):
    planar = dy.load("planar_2r_melchiorri")
    found = dy.control.compare_laws(planar, ["pd-gravity", "computed-torque"], [0.5, -0.5], error=0.05, duration=1.0)
    text = found.table()
    assert all(words in text for words in ("pd-gravity", "computed-torque", "to a goal, model parameters off by up to 5 %"))
    assert found["computed-torque"].error.max() < found["pd-gravity"].error.max()
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert len(found.plot().figure.axes) == 8


def test_errors_that_are_rounding_have_an_axis_of_a_fixed_range():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    exact = dy.control.compare_laws(dy.load("planar_2r_melchiorri"), "slotine-li", [0.5] * 2, duration=1.0)
    assert 0.0 < exact.runs[0].tracking.largest.max() < 1e-10
    errors = exact.plot()[1]
    assert (errors.get_ylabel(), errors.get_ylim()) == ("nrad", (-1.0, 1.0))


def test_laws_name_their_cost_by_its_formula(found):
    assert {run.null_space.minimises for run in found.runs} == set(MINIMISED.values())
    assert not any("equation" in cost for cost in MINIMISED.values())


def test_the_picture_has_two_panels_for_each_law_and_three_for_all(found):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    figure = found.plot().figure
    assert [len(part.axes) for part in figure.subfigs] == [0, 6, 3]


def test_laws_of_ones_own_stand_beside_the_others(arm):
    def heavy_base(robot, q, v, task, acceleration, **options):
        return ts.least_cost_torque(robot, q, v, task, acceleration, weight=np.array([1.0, 2.0, 8.0]), **options)

    found = dy.control.compare_laws(arm, {"heavy base": heavy_base}, ts.Line(0.1, 1.0, 1), task=TASK, q0=START)
    assert found["heavy base"].error.max() < 1e-5
    with pytest.raises(dy.NameLookupError, match="heavy base"):
        found["light base"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"q0": [0.3, 0.0, 0.0]}, "the task is singular at q0"),
        ({"laws": []}, "laws= is empty"),
        ({"laws": ["power"]}, "torque"),
        ({"motion": "circle"}, "goal must be 2 finite numbers"),
        ({"laws": ["computed-torque"]}, "a Circle is a motion of a task"),
        ({"laws": ["computed-torque", "torque"], "motion": [0.5, 0.5]}, "the goal is one of a task"),
        ({"motion": ts.Circle(components=(0, 2))}, "has 2"),
        ({"design": dy.control.LawDesign(bandwidth=-1.0)}, "positive"),
        ({"design": dy.control.LawDesign(bandwidth=[[1.0, 2.0], [0.0, 1.0]])}, "bandwidth"),
        ({"seconds": -1}, "seconds"),
        ({"task": ts.PoseTask()}, "fewer rows"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(arm, options, words):
    given = {"task": TASK, "motion": ts.Circle(0.1), "q0": START} | options
    with pytest.raises(dy.DynamisError, match=words):
        dy.control.compare_laws(arm, **given)


@pytest.mark.parametrize(
    "make",
    [lambda: ts.Circle(-1.0), lambda: ts.Circle(cycles=0), lambda: ts.Circle(components=(1, 1)), lambda: ts.Line(period=0)],
)
def test_motions_that_make_no_sense_are_refused(make):
    with pytest.raises(dy.InputError):
        make()


# the command


def command(*arguments):
    result = CliRunner().invoke(cli, ["redundancy", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


SETTINGS = [word for name, value in (SIZES | {"g": 0.0}).items() for word in ("--set", f"{name}={value}")]
SHORT = ["--rows", "xy", "--q0", "0.3,0.8,0.9", "--period", "1", "--cycles", "1", "--size", "0.05"]


def test_the_command_prints_the_table_and_draws(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path / "laws.png"
    result = command("planar_3r", *SETTINGS, *SHORT, "--law", "torque", "--law", "driven-acceleration", "--plot", path)
    assert result.exit_code == 0, result.output
    for words in ("torque", "driven-acceleration", "1 cycle of 1 s", f"wrote {path}"):
        assert words in result.output
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_command_gives_data():
    result = command("planar_3r", *SETTINGS, *SHORT, "--law", "acceleration-energy", "--null-damping", 3, "--json")
    data = json.loads(result.output)
    assert data["laws"][0]["law"] == "acceleration-energy"
    assert data["laws"][0]["largest_error"] < 1e-5
    assert data["task"] == ["x", "y"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody"], "nobody"),
        (["planar_3r"], "parameters without values"),
        (["panda", "--rows", "xq"], "--rows takes"),
        (["panda", "--task", "pose", "--rows", "x"], "all six"),
        (["panda", "--along", "x"], "--along takes 2"),
        (["panda", "--rows", "x"], "a circle needs two"),
        (["panda", "--gains", "1,2,3"], "--gains"),
        (["panda", "--law", "power"], "torque"),
        (["kuka_iiwa14", "--q0", "0"], "the task is singular at q0"),
        (["panda", "--frame", "panda_lnk5"], "panda_link5"),
        (["panda", "--cycles", "0"], "cycles"),
    ],
)
def test_a_question_that_cannot_be_answered_ends_with_status_2_and_a_sentence(arguments, words):
    result = command(*arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_one_angle_of_an_orientation_is_a_task_by_the_letter_of_its_axis():
    result = command(
        "planar_3r", *SETTINGS, "--task", "orientation", "--rows", "z", "--along", "z", "--motion", "line", "--cycles", 1,
        "--law", "driven-acceleration", "--null-damping", 3, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["laws"][0]["largest_error"] < 1e-5


def test_a_motion_out_of_the_workspace_is_an_error_with_a_start_from_which_it_can_be_followed():
    arm, task, motion = dy.load("ur5e"), dy.task_space.Position(), dy.task_space.Circle(0.1)
    with pytest.raises(
        dy.InputError, match=r"leaves the workspace at t = 0\.8 s: choose another start, such as q0=\("
    ) as caught:
        dy.control.compare_laws(arm, None, motion, task=task)
    start = np.array([float(x) for x in re.search(r"q0=\(([^)]*)\)", str(caught.value))[1].split(",")])
    desired = motion.from_start(task.value(arm, start))
    assert first_unreachable(arm, task, start, desired, motion.period) is None
    # beyond the longest reach, the distance of all joints in a line
    far = motion.from_start(task.value(arm, arm.home()))(0.8)[0]
    assert not dy.inverse_kinematics(arm, far).found


def test_dry_friction_on_a_light_link_is_resolved_by_the_default_step(tmp_path):
    (tmp_path / "light.toml").write_text("""
[robot]
gravity = [0, -9.81, 0]
[[link]]
mass = 2
com = [0.2, 0, 0]
coulomb = 1
viscous = 1
[[link]]
xyz = [0.4, 0, 0]
mass = 0.05
inertia = { xx = 1e-4, yy = 1e-4, zz = 1e-4 }
com = [0.02, 0, 0]
coulomb = 1
viscous = 1
""")
    robot = dy.load(tmp_path / "light.toml")
    largest = [
        dy.control.compare_laws(robot, "computed-torque", [0.3, 0.3], step=step)["computed-torque"].tracking.largest
        for step in (None, 1e-4)
    ]
    np.testing.assert_allclose(*largest, rtol=0.25)


def test_laws_with_a_sample_rate_are_sampled(arm):
    robot = dy.load("planar_2r_melchiorri")
    laws = ["computed-torque", "slotine-li"]
    slow = dy.control.compare_laws(robot, laws, [0.5, -0.5], design=dy.control.LawDesign(rate=40.0))
    fast = dy.control.compare_laws(robot, laws[:1], [0.5, -0.5], design=dy.control.LawDesign(rate=1000.0))
    held = slow["computed-torque"].trajectory.tau
    assert len(np.unique(held[:, 0])) <= 2.0 * 40.0 + 1.0  # of 2 s
    assert (slow["computed-torque"].rate, slow["slotine-li"].rate) == (40.0, 40.0)
    worse, better = (x["computed-torque"].tracking.largest for x in (slow, fast))
    assert (worse > 5.0 * better).all()
    circle = {"motion": ts.Circle(0.1, 2.0, 1), "task": TASK, "q0": START, "design": dy.control.LawDesign(rate=100.0)}
    motion = dy.control.compare_laws(arm, "torque", **circle)["torque"]
    assert motion.rate == 100.0
    assert motion.trajectory.complete


def test_the_parameters_of_an_adaptive_law_change_at_the_samples():
    arm, designs = dy.load("planar_2r_melchiorri"), [dy.control.LawDesign(rate=rate) for rate in (None, 1000.0, 50.0)]
    runs = [
        dy.control.compare_laws(arm, "slotine-li", [0.3, 0.2], design=design, error=0.2, duration=1.0) for design in designs
    ]
    continuous, fast, slow = (run["slotine-li"].tracking.largest.max() for run in runs)
    assert 0.0 < abs(fast - continuous) < 0.02 * continuous < slow - continuous


def test_torques_that_swing_every_few_samples_are_named_and_drawn_in_full():
    def compare(rate, bandwidth=10.0):
        design = dy.control.LawDesign(rate=rate, bandwidth=bandwidth)
        return dy.control.compare_laws(
            dy.load("planar_2r_melchiorri"), law, [0.8, -0.6], design=design, error=0.05, duration=1.0
        )

    law = "computed-torque"
    good, bad = compare(1000.0), compare(50.0, 48.0)  # k_d T = 1.92: stable, with poorly damped swings
    assert not good.runs[0].chatter
    assert len(good.runs[0].trajectory.t) == 1001
    (run,) = bad.runs
    assert set(run.chatter) == {"joint1", "joint2"}
    assert run.chatter["joint1"].period == pytest.approx(2.0 / 50.0)
    assert 0.1 < run.chatter["joint1"].share <= 1.0
    assert run.chatter["joint1"].swing > 0.5 * run.tracking.peak[0]
    assert run.chatter_verdict.startswith("the torque chatters at the sample rate: 'joint1' (by up to ")
    assert run.chatter_verdict in str(bad)
    assert [x["name"] for x in run.as_dict()["chatter"]] == ["joint1", "joint2"]
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    panel = bad.plot()[2]
    assert panel.get_title(loc="left") == "torques: 2 of 2 chatter at the sample rate"
    assert np.ptp(panel.lines[0].get_ydata()) == np.ptp(run.trajectory.tau[:, 0])


def test_single_reversals_slow_swings_and_rounding_are_no_chatter():
    t = np.arange(1001) / 1000.0
    robot = dy.load("planar_2r_melchiorri")

    def found(first, second):
        zeros = np.zeros((len(t), 2))
        tau = np.column_stack([np.broadcast_to(first, len(t)), np.broadcast_to(second, len(t))])
        return chatter(dy.Trajectory(robot, t, zeros, zeros, tau, zeros, zeros), 1000.0)

    alternating = np.where(np.arange(1001) % 2, 1.0, -1.0)
    step = np.where(t < 0.5, 1.0, -1.0)
    assert found(np.sin(200.0 * t), step) == {}
    assert found(np.sin(5.0 * t) + 0.01 * alternating, 1e-12 * alternating) == {}
    assert found(np.sin(5.0 * t) + np.where((t > 0.5) & (t < 0.504), alternating, 0.0), 0.0) == {}
    assert list(found(np.sin(5.0 * t) + np.where((t > 0.5) & (t < 0.52), alternating, 0.0), 0.0)) == ["joint1"]
    slow = found(np.where(np.arange(1001) % 6 < 3, 2.0, -2.0), 0.0)["joint1"]
    assert (slow.period, slow.swing) == (pytest.approx(6e-3), 4.0)


def test_curves_of_many_points_keep_their_extremes():
    t = np.linspace(0.0, 1.0, 100_001)
    y = np.sin(3.0 * t)
    y[[12345, 54321]] = 5.0, -7.0
    drawn = with_extremes(t, y)
    assert len(drawn[0]) < 5000
    assert (drawn[0][0], drawn[0][-1]) == (0.0, 1.0)
    assert (drawn[1].min(), drawn[1].max()) == (-7.0, 5.0)
