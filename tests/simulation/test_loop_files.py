"""Robots with closed loops in files: what is written is read again, and closures that mean nothing are refused."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.model.closures import CLOSURES

MECHANISMS = {
    "plane": lambda: dy.loops.four_bar(),
    "pin": lambda: dy.loops.four_bar(closed_by="pin"),
    "point": lambda: dy.loops.four_bar(closed_by="point"),
    "distance": lambda: dy.loops.delta(),
    "slider": lambda: dy.loops.slider_crank(),
    "coupled": lambda: dy.constrained(
        dy.load("planar_2r_melchiorri"), closures=dy.loops.Coupled("joint2", "joint1", -2.0, 0.3)
    ),
    "knee": lambda: dy.constrained(
        dy.load("planar_2r_melchiorri"), closures=dy.loops.Coupled("joint2", "joint1", -2.0, 0.3, (0.4, 0.0, -0.1))
    ),
    "held": lambda: dy.constrained(dy.load("planar_2r_melchiorri"), closures=dy.loops.Coupled("joint2", offset=0.3)),
    "weld": lambda: dy.constrained(dy.load("ur5e"), closures=dy.loops.Weld("tool0", "base")),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_read_as_it_was_written(name, tmp_path):
    before, path = MECHANISMS[name](), tmp_path / "robot.toml"
    before.write(path)
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        robot = dy.load(path)
    after = dy.constrained(robot)
    assert after.closures == before.closures
    q, v = before.home() if name != "weld" else np.array([0.1, -1.2, 1.6, -0.9, -1.3, 0.2]), np.zeros(robot.n)
    if name != "weld":  # six rows for six joints, closed nowhere near
        assert np.abs(after.forward_dynamics(q, v, v)[0] - before.forward_dynamics(q, v, v)[0]).max() < 1e-12


@pytest.mark.parametrize("suffix", [".mjcf", ".usda", ".urdf", ".sdf"])
def test_closures_that_a_format_does_not_have_are_named(suffix, tmp_path):
    with pytest.warns(dy.ModelWarning, match=r"closures of loops of the kind plane \(1: coupler_end\)"):
        dy.loops.four_bar().write(tmp_path / f"robot{suffix}")


def test_contacts_and_anchors_are_in_no_file(tmp_path):
    dog = dy.load("go2", base="floating")
    with pytest.raises(dy.InputError, match="no file format has rigid contacts"):
        dy.constrained(dog, points="FL_foot").write(tmp_path / "dog.toml")
    held = dy.constrained(dog, closures=dy.loops.Anchor("FL_foot", (0, 0, 0)))
    with pytest.raises(dy.InputError, match="Anchor: use a Weld or a Point"):
        held.write(tmp_path / "dog.toml")


def test_an_attached_mechanism_keeps_its_closures(tmp_path):
    dy.loops.four_bar().write(tmp_path / "hand.toml")
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        hand = dy.load(tmp_path / "hand.toml")
    (closure,) = dy.loops.closures(dy.load("ur5e").attach(hand, "tool0", prefix="hand_"))
    assert (closure.frame_a, closure.normal_frame) == ("hand_coupler_end", "hand_base")


def test_a_joint_that_is_a_polynomial_is_locked_with_the_other_one(tmp_path):
    MECHANISMS["knee"]().write(tmp_path / "knee.toml")
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        knee = dy.load(tmp_path / "knee.toml")
    assert knee.reduced({"joint1": 0.5}).n == 0
    with pytest.raises(dy.InputError, match="'joint2' is a polynomial of 'joint1': lock that joint instead"):
        knee.reduced({"joint2": 0.5})


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('kind = "pinn"\nfirst = "link2"\nsecond = "base"', "the kind is 'pinn'"),
        ('first = "link2"\nsecond = "base"', "the kind is missing"),
        ('kind = "point"\nfirst = "link3"\nsecond = "base"', "there is no link 'link3'.*To repair: name 'link"),
        ('kind = "point"\nfirst = "link2"', "one of its two links is missing"),
        ('kind = "point"\nfirst = "link2"\nsecond = "link2"', "connects link 'link2' to itself"),
        ('kind = "coupled"\nfirst = "joint2"\nsecond = "joint2"', "connects joint 'joint2' to itself"),
        ('kind = "coupled"\nfirst = "joint3"', "there is no joint 'joint3'"),
        ('kind = "plane"\nfirst = "link2"\nsecond = "base"\naxis_of = "floor"', "there is no link 'floor'"),
        ('kind = "pin"\nfirst = "link2"\nsecond = "base"\naxis = [0, 0, 0]', "an axis is zero"),
        ('kind = "pin"\nfirst = "link2"\nsecond = "base"\naxis = [0, 1]', "axis"),
        ('kind = "distance"\nfirst = "link2"\nsecond = "base"', "the length is missing or 0"),
        ('kind = "distance"\nfirst = "link2"\nsecond = "base"\nlength = "1 m"', "length"),
        ('kind = "weld"\nfirst = "link2"\nsecond = "base"\nratio = 2', "no key named 'ratio'"),
        ('kind = "coupled"\nfirst = "joint2"\nsecond = "joint1"\nhigher = 2', "higher"),
        ('kind = "coupled"\nfirst = "joint2"\nsecond = "joint1"\nhigher = [1, 2, 3, 4]', "higher"),
        ('kind = "weld"\nfirst = 2\nsecond = "base"', "first"),
    ],
)
def test_closures_that_mean_nothing_are_refused_with_their_line(row, words, tmp_path):
    path = tmp_path / "arm.toml"
    dy.load("planar_2r_melchiorri").write(path)
    lines = path.read_text().count("\n")
    path.write_text(f"{path.read_text()}\n[[closure]]\n{row}\n")
    with pytest.raises(dy.DynamisError, match=words) as refused:
        dy.load(path)
    line = int(re.search(r"arm.toml:(\d+): error", str(refused.value))[1])
    assert lines + 2 <= line <= lines + 2 + len(row.splitlines())


def test_a_closure_of_two_links_that_are_fixed_to_each_other_is_refused_where_it_is_used(tmp_path):
    arm = dy.load("planar_2r_melchiorri").with_frame("tool", "link2")
    arm.write(tmp_path / "arm.toml")
    with (tmp_path / "arm.toml").open("a") as file:
        file.write('\n[[closure]]\nkind = "point"\nfirst = "tool"\nsecond = "link2"\n')
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        robot = dy.load(tmp_path / "arm.toml")
    with pytest.raises(dy.InputError, match="'tool' and 'link2' are fixed to the same body"):
        dy.constrained(robot)


def test_an_unknown_key_is_one_error(tmp_path):
    dy.load("planar_2r_melchiorri").write(tmp_path / "arm.toml")
    with (tmp_path / "arm.toml").open("a") as file:
        file.write('\n[[closure]]\nkind = "point"\nfirst = "base"\nsecond = "link2"\nlengh = 1\n')
    assert len(dy.check(tmp_path / "arm.toml").errors) == 1


def test_every_kind_is_written_somewhere():
    assert set(CLOSURES) <= {x.kind for make in MECHANISMS.values() for x in written(make())}


def written(mechanism):
    from dynamis.kinematics.file_closures import described

    return [described(x) for x in mechanism.closures]


@pytest.fixture
def four_bar(tmp_path):
    dy.loops.four_bar().write(tmp_path / "four_bar.toml")
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        return dy.load(tmp_path / "four_bar.toml")


@pytest.mark.parametrize(
    "use",
    [
        lambda robot: dy.simulate(robot, 0.01),
        lambda robot: dy.rollouts(robot, 0.01, robot.home()[None]),
        lambda robot: dy.linearize(robot, robot.home()),
        lambda robot: dy.write_fmu(robot, "unused/four_bar.fmu", binary=False),
        lambda robot: dy.optimize.trajectory(robot, robot.home(), robot.home(), 0.1, nodes=5),
    ],
    ids=["simulate", "rollouts", "linearize", "fmu", "optimize"],
)
def test_functions_of_the_tree_warn_of_open_loops(four_bar, use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unused").mkdir()
    with pytest.warns(dy.ModelWarning, match=r"closes loops \(plane of 'coupler_end' and 'rocker_end'\), which are open in"):
        use(four_bar)


def test_a_mechanism_keeps_its_home_and_others_find_one(four_bar):
    assert np.abs(dy.constrained(four_bar).home() - dy.loops.four_bar().home()).max() < 1e-9
    without = four_bar.description
    without.appearance.pose.clear()  # from zero the bars do not close
    with pytest.raises(dy.InputError, match="do not close from this guess"):
        dy.constrained(dy.Robot(without)).assemble(np.zeros(3))
    closed = dy.constrained(dy.Robot(without))
    ends = [closed.robot.pose(closed.home(), name)[:3, 3] for name in ("coupler_end", "rocker_end")]
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


def test_closures_are_listed(four_bar, tmp_path):
    assert "1 closure of loops" in repr(four_bar)
    result = CliRunner().invoke(cli, ["info", str(tmp_path / "four_bar.toml")])
    assert "Closures of loops" in result.output
    assert "coupler_end" in result.output
    assert "dynamis simulate close the loops" in " ".join(result.output.split())


def test_a_constrained_robot_in_place_of_a_robot_is_refused_with_the_cure():
    with pytest.raises(dy.InputError, match="got ConstrainedRobot; its attribute robot is the tree"):
        dy.manipulability(dy.loops.four_bar(), [0.0] * 3, "coupler_end")


def test_a_subtree_names_the_loops_it_cuts(four_bar):
    with pytest.warns(dy.ModelWarning, match="closures of 'coupler_end' end outside of what 'crank' carries"):
        four_bar.subtree("crank")


@pytest.mark.parametrize(
    "analysis",
    [
        lambda robot, q: dy.workspace(robot, "coupler_end", samples=100),
        lambda robot, q: dy.manipulability(robot, q, "coupler_end"),
        lambda robot, q: dy.statics.static_torques(robot, q, frame="coupler_end"),
        lambda robot, q: dy.statics.stiffness(robot, q, [1e3] * 3, frame="coupler_end"),
        lambda robot, q: dy.operational_space(robot, q, 0.0 * q, dy.task_space.Position("coupler_end"), truncate=True),
        lambda robot, q: dy.structural_bounds(robot, -1.0, 1.0, seconds=0.1),
    ],
)
def test_analyses_of_the_open_chain_say_so(analysis, tmp_path):
    dy.loops.four_bar().write(tmp_path / "fb.toml")
    with pytest.warns(dy.ModelWarning, match="those of the tree"):
        robot = dy.load(tmp_path / "fb.toml")
    with pytest.warns(dy.ModelWarning, match=r"closes loops .* which are open in"):
        analysis(robot, robot.home())


TWO_LINKS = """
[robot]
name = "two"
[[link]]
link = "upper"
joint = "shoulder"
mass = 1
com = [0.1, 0, 0]
inertia = {xx = 0.1, yy = 0.1, zz = 0.1}
[[link]]
link = "fore"
joint = "elbow"
xyz = [0.3, 0, 0]
[[frame]]
link = "end"
parent = "fore"
"""


def test_a_coupling_of_links_names_the_joint_that_moves_them():
    for name, cure in (("fore", "name joint 'elbow'"), ("end", "name a joint")):
        closure = f'[[closure]]\nkind = "coupled"\nfirst = "{name}"\nsecond = "shoulder"\n'
        with pytest.raises(dy.ModelError, match=f"'{name}' is a link, and this kind couples joints; .*{cure}"):
            dy.load(TWO_LINKS + closure)


def test_a_link_without_mass_in_a_loop_need_not_be_changed():
    with pytest.warns(dy.ModelWarning) as told:
        dy.load(TWO_LINKS + '[[closure]]\nkind = "coupled"\nfirst = "elbow"\nsecond = "shoulder"\n')
    assert any("none, if the robot moves with its loops closed" in str(w.message) for w in told)
    assert not any("make the joint fixed" in str(w.message) for w in told)


def test_too_few_motors_are_counted():
    loop = dy.loops.five_bar()
    rest = np.zeros(4)
    with pytest.raises(dy.SingularError, match=r"1 coordinate with motors, and 2 degrees of freedom; name more in actuated="):
        loop.inverse_dynamics(loop.home(), rest, rest + 1.0, actuated=["left"])


def test_a_free_platform_that_moves_in_q_is_told_when_written_as_mjcf(tmp_path):
    d = dy.Description("platform").add_link("base")
    body = dy.Inertia.about_com(1.0, (0.0, 0.0, 0.1), 0.1 * np.eye(3))
    d.add_link("platform", "base", "free", inertia=body)
    d.add_link("leg", "base", "revolute", axis=(0, 1, 0), inertia=body)
    with pytest.warns(
        dy.ModelWarning, match="free joints, whose coordinates are the last of q there: 1 element, 'platform_joint'"
    ):
        dy.Robot(d).write(tmp_path / "platform.mjcf")
    assert dy.load(tmp_path / "platform.mjcf").coordinate_names[0] == "leg_joint"
