"""`Robot.replace`: what it changes, what it keeps, what it refuses."""

import numpy as np
import pytest

import dynamis as dy


@pytest.mark.parametrize(
    ("changes", "cure"),
    [
        ({"effort": 0.0}, r"robot\.replace\(actuators=\{'elbow_joint': dynamis\.Saturated\(effort=0\.0\)\}\)"),
        ({"velocity": 0}, r"robot\.reduced\(\{'elbow_joint': 0\.0\}\)"),
        ({"lower": 0.0, "upper": 0.0}, r"robot\.reduced\(\{'elbow_joint': 0\.0\}\)"),
    ],
)
def test_a_limit_of_zero_is_refused_where_it_stands_for_no_limit(changes, cure):
    with pytest.raises(dy.InputError, match=f"limit.* of joint 'elbow_joint' cannot .*0, .*not known: {cure}"):
        dy.load("ur5e").replace(limits={"elbow_joint": changes})


def test_limits_of_one_position_and_of_one_side_at_zero_are_kept():
    robot = dy.load("ur5e").replace(limits={"elbow_joint": {"lower": 0.5, "upper": 0.5}, "wrist_1_joint": {"lower": 0.0}})
    assert (robot.limits["lower"][2], robot.limits["upper"][2], robot.limits["lower"][3]) == (0.5, 0.5, 0.0)
    assert (robot.random(0, 50)[:, 2] == 0.5).all()


def test_limits_that_a_file_gives_as_zero_can_be_replaced_one_by_one():
    d = dy.load("ur5e").description
    d.joint("elbow_joint").limits = type(d.joint("elbow_joint").limits)(0.0, 0.0, 0.0, 0.0)
    with pytest.warns(dy.ModelWarning, match="elbow_joint"):
        robot = dy.Robot(d)
    limits = robot.replace(limits={"elbow_joint": {"velocity": 2.0}}).limits
    assert (limits["velocity"][2], limits["effort"][2], limits["upper"][2]) == (2.0, np.inf, np.inf)


def test_a_continuous_joint_with_new_position_limits_has_them(tmp_path):
    robot = dy.Robot(
        dy.Description("wheel").add_link("base").add_link("disc", "base", "continuous", inertia=dy.solids.disc(0.2, mass=1.0))
    )
    limited = robot.replace(limits={"disc_joint": {"lower": -1.0, "upper": 2.0}})
    for suffix in (".urdf", ".sdf", ".toml", ".mjcf"):
        limited.write(tmp_path / f"limited{suffix}")
        for wheel in (limited, dy.load(tmp_path / f"limited{suffix}")):
            assert (wheel.limits["lower"].item(), wheel.limits["upper"].item()) == pytest.approx((-1.0, 2.0))
    robot.write(tmp_path / "free.urdf")
    dy.load(tmp_path / "free.urdf").replace(limits={"disc_joint": {"lower": -1.0, "upper": 2.0}}).write(tmp_path / "again.urdf")
    assert dy.load(tmp_path / "again.urdf").limits["upper"].item() == 2.0


def test_examples_of_messages_name_joints_of_the_robot():
    robot = dy.load("ur5e")
    for wrong in ({"friction": 2.0}, {"friction": {"elbow_joint": 2.0}}, {"limits": 3.0}, {"limits": {"elbow_joint": 3.0}}):
        with pytest.raises(dy.InputError, match=r"mapping such as \{'shoulder_pan_joint': \{"):
            robot.replace(**wrong)


def ball(mass):
    return dy.solids.sphere(0.05, mass=mass)


ARM = dy.load("planar_2r_melchiorri")  # its tip is link2, a link with mass


def test_an_inertia_is_that_of_the_link_beside_its_payload():
    own = dy.solids.sphere(0.1, mass=10.0)
    expected = ARM.replace(inertias={"link2": own}).replace(payload=ball(6.0))
    for loaded in (
        ARM.replace(payload=ball(6.0), inertias={"link2": own}),
        ARM.replace(payload=ball(6.0)).replace(inertias={"link2": own}),
    ):
        assert loaded.mass == pytest.approx(66.0)
        q = loaded.random(0)
        np.testing.assert_allclose(loaded.mass_matrix(q), expected.mass_matrix(q), rtol=1e-12)
        assert loaded.replace(payload=0).mass == pytest.approx(60.0)
        assert loaded.replace(payload=ball(1.0)).mass == pytest.approx(61.0)


@pytest.mark.filterwarnings("ignore:robot .* as its root")
@pytest.mark.parametrize(
    "edit",
    [
        lambda robot: robot.with_frame("pen", "link2", dy.Pose.translation([0.1, 0.0, 0.0])),
        lambda robot: robot.rerooted("link2"),
        lambda robot: robot.attach(dy.load("planar_2r_melchiorri"), "link2", prefix="b_"),
        lambda robot: dy.load("ur5e").attach(robot, prefix="b_"),
        lambda robot: dy.load("ur5e").attach(robot, "forearm_link", prefix="b_"),  # two tips
    ],
)
def test_the_payload_of_the_tip_is_found_where_the_tip_has_changed(edit):
    loaded, free = edit(ARM.replace(payload=ball(6.0))), edit(ARM)
    assert loaded.replace(payload=0).mass == pytest.approx(free.mass)
    if loaded.model.tip is not None:
        moved = loaded.replace(payload=ball(1.0))
        assert moved.mass == pytest.approx(free.mass + 1.0)
        assert list(moved.description.payloads) == [loaded.model.tip]


def test_payload_zero_that_would_remove_nothing_names_the_frame_of_the_payload():
    at_elbow = ARM.replace(payload=ball(2.0), payload_frame="link1")
    for wrong in ({}, {"payload_frame": "link2"}):
        with pytest.raises(
            dy.InputError, match=r"the payload of robot .* is at 'link1': name its frame, payload_frame='link1'"
        ):
            at_elbow.replace(payload=0, **wrong)
    both = at_elbow.replace(payload=ball(1.0))
    assert both.mass == pytest.approx(ARM.mass + 3.0)
    assert both.replace(payload=0).mass == pytest.approx(ARM.mass + 2.0)
    assert ARM.replace(payload=0).mass == ARM.mass
    pair = dy.load("ur5e").attach(ARM.replace(payload=ball(1.0)), prefix="l_")
    pair = pair.attach(ARM.replace(payload=ball(1.0)), "forearm_link", prefix="r_")
    with pytest.raises(dy.InputError, match=r"is at 'l_link2' and 'r_link2': name its frame, payload_frame='l_link2'"):
        pair.replace(payload=0)


PLATE = dy.Inertia(1.0, np.zeros(3), np.diag([1.0, 0.1, 0.1]))
NEGATIVE = dy.Inertia(1.0, np.zeros(3), -5.0 * np.eye(3))


@pytest.mark.parametrize(("inertia", "found"), [(PLATE, "break the triangle inequality"), (NEGATIVE, "not positive definite")])
def test_inertias_that_no_body_has_are_warned_of_wherever_they_are_given(inertia, found):
    robot = dy.load("ur5e")
    d = robot.description
    d.link("forearm_link").mass_properties = inertia
    for place, give in (
        ("link 'forearm_link'", lambda: robot.replace(inertias={"forearm_link": inertia})),
        ("payload at 'tool0'", lambda: robot.replace(payload=inertia)),
        ("link 'forearm_link'", lambda: dy.Robot(d)),
    ):
        with pytest.warns(dy.ModelWarning, match=rf"warning: {place}: the principal moments .*{found}.*nearest_consistent"):
            given = give()
        given.replace(gravity=(0, 0, 0)).reduced({"elbow_joint": 0.0})  # nothing new
        dy.Robot(given.description)


def test_negative_friction_and_joints_without_mass_are_warned_of_in_python():
    robot = dy.load("ur5e")
    d = robot.description
    d.joint("elbow_joint").drive.viscous = -1.0
    with pytest.warns(dy.ModelWarning, match="joint 'elbow_joint': viscous is -1"):
        dy.Robot(d)
    d = ARM.description
    d.link("link2").mass_properties = None
    with pytest.warns(dy.ModelWarning, match="joint 'joint2': it moves link 'link2' and nothing with mass"):
        dy.Robot(d)
    with pytest.warns(dy.ModelWarning, match="with other inertias: joint 'joint2' can move without moving any mass"):
        light = ARM.replace(inertias={"link2": dy.Inertia.zero()})
    light.replace(inertias={"link2": dy.Inertia.zero()})


def test_a_robot_of_the_library_has_no_warnings_of_its_own_numbers():
    robot = dy.load("puma560")
    assert dy.check(robot).warnings
    dy.Robot(robot.description)
    d = robot.description
    d.link(d.links[-1].name).mass_properties = NEGATIVE
    with pytest.warns(dy.ModelWarning) as caught:
        dy.Robot(d)
    assert len(caught) == 1


def test_symbols_and_the_one_moment_of_planar_motion_are_no_doubt():
    m, moment = dy.symbol("m"), dy.Inertia(1.0, np.zeros(3), np.diag([0.0, 0.0, 0.1]))
    d = dy.Description("planar").add_link("base").add_link("a", "base", "revolute", inertia=moment)
    assert dy.check(d).ok
    assert not dy.check(d).warnings
    dy.Robot(d).replace(inertias={"a": moment}, payload=dy.solids.point_mass(mass=m))
    dy.load("planar_2r").replace(inertias={"link2": dy.Inertia(m, np.zeros(3), np.diag([m, 0.0, 0.0]))})


def test_a_tensor_that_is_not_symmetric_is_refused():
    skewed = dy.Inertia(1.0, np.zeros(3), np.array([[1.0, 0.3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    for given in ({"inertias": {"forearm_link": skewed}}, {"payload": skewed}):
        with pytest.raises(dy.InputError, match="the inertia tensor is not symmetric"):
            dy.load("ur5e").replace(**given)
    for impossible, found in (
        (dy.Inertia(np.nan, np.zeros(3), np.eye(3)), "mass is nan"),
        (dy.Inertia(-1.0, np.zeros(3), np.eye(3)), "the mass is -1 kg"),
    ):
        with pytest.raises(dy.ModelError, match=found):
            dy.load("ur5e").replace(inertias={"forearm_link": impossible})
        with pytest.raises(dy.ModelError, match=found):
            dy.load("ur5e").replace(payload=impossible)
    with pytest.warns(dy.ModelWarning, match="payload at 'link2': the mass is -1 kg"):
        ARM.replace(payload=dy.Inertia(-1.0, np.zeros(3), np.zeros((3, 3))))


def test_limits_in_degrees_and_a_gear_that_does_not_turn_are_warned_of():
    robot = dy.load("ur5e")
    with pytest.warns(dy.ModelWarning, match=r"joint 'elbow_joint': a limit of 180 rad is 28\.6 turns") as caught:
        degrees = robot.replace(limits={"elbow_joint": {"lower": -180, "upper": 180}})
    assert len(caught) == 1
    degrees.replace(limits={"elbow_joint": {"velocity": 180.0}})  # not given again
    with pytest.warns(dy.ModelWarning, match="joint 'elbow_joint': gear_ratio is 0: its rotor does not turn"):
        robot.replace(friction={"elbow_joint": {"gear_ratio": 0}})
    ball = dy.Description("ball").add_link("base").add_link("arm", "base", "spherical", inertia=dy.solids.sphere(0.1, mass=1.0))
    with pytest.warns(dy.ModelWarning, match="position limits on a spherical joint, which has several positions"):
        dy.Robot(ball).replace(limits={"arm_joint": {"upper": 1.0}})


def test_of_a_tensor_in_a_description_the_symmetric_part_is_used():
    robots = []
    for tensor in ([[1.0, 0.3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[1.0, 0.15, 0.0], [0.15, 1.0, 0.0], [0.0, 0.0, 1.0]]):
        d = dy.load("ur5e").description
        d.link("forearm_link").mass_properties.tensor = np.array(tensor)
        if tensor[1][0]:
            robots.append(dy.Robot(d))
        else:
            with pytest.warns(dy.ModelWarning, match=r"not symmetric; allowed: .* its symmetric part is used"):
                robots.append(dy.Robot(d))
    q = robots[0].random(0)
    np.testing.assert_allclose(robots[0].mass_matrix(q), robots[1].mass_matrix(q), rtol=1e-14)


def test_gravity_is_switched_off_by_zero_and_needs_a_direction_otherwise():
    robot = dy.load("ur5e")
    assert np.array_equal(robot.replace(gravity=0).model.gravity, np.zeros(3))
    with pytest.raises(
        dy.InputError, match=r"gravity must be a vector in m/s², such as \(0, 0, -9.81\), or 0 for none; got 9.81"
    ):
        robot.replace(gravity=9.81)


def test_symbols_take_values_in_memory():
    def loaded(mass):
        return ARM.replace(payload=dy.solids.sphere(0.05, mass=mass), friction={"joint1": {"viscous": 3.0 * mass}})

    unknown, q, v = loaded(dy.symbol("m")), np.array([0.3, 0.5]), np.array([1.0, -2.0])
    with pytest.raises(dy.InputError, match=r"give them: robot\.replace\(parameters=\{'m': value\}\)"):
        dy.simulate(unknown, 0.1)
    known = unknown.replace(parameters={"m": 2.0})
    assert not known.model.symbolic
    np.testing.assert_array_equal(known.inverse_dynamics(q, v, v), loaded(2.0).inverse_dynamics(q, v, v))
    assert known.replace(payload=0).mass == ARM.mass  # still a payload
    assert unknown.replace(parameters={"m": 2.0}, gravity=0).gravity(q).tolist() == [0.0, 0.0]
    assert unknown.replace(parameters={"m": 2.0 * dy.symbol("k")}).description.symbol_names() == ["k"]
    elastic = ARM.replace(actuators={"joint2": dy.Elastic(dy.symbol("K"), inertia=0.1)})
    assert elastic.replace(parameters={"K": 800.0}).actuators["joint2"] == dy.Elastic(800.0, inertia=0.1)


def test_a_symbol_is_found_under_another_spelling_as_when_loaded():
    arm = dy.load("planar_2r")
    assert str(arm.replace(parameters={"m1": 7.0}).closed_form().M) == str(
        dy.load("planar_2r", parameters={"m1": 7.0}).closed_form().M
    )
    with pytest.raises(dy.InputError, match="gives 'm_1' twice, under two spellings: m1, m_1"):
        arm.replace(parameters={"m1": 7.0, "m_1": 8.0})


@pytest.mark.parametrize(
    ("values", "cause"),
    [
        ({"mm": 1.0}, "no symbol named 'mm'; did you mean 'm'"),
        ({"m": np.nan}, "the value of 'm' is nan"),
        ({"m": "heavy"}, "must be a number or a symbol, got str"),
        ({"m": -2.0}, "the mass of the payload at 'link2' is -2, by the values of m"),
        (2.0, "parameters= must be a mapping such as {'m': 1.0}"),
    ],
)
def test_values_that_a_symbol_cannot_take_are_refused(values, cause):
    unknown = ARM.replace(payload=dy.solids.sphere(0.05, mass=dy.symbol("m")))
    with pytest.raises((dy.InputError, dy.NameLookupError), match=cause):
        unknown.replace(parameters=values)


def test_values_that_are_doubtful_are_warned_of():
    unknown = ARM.replace(friction={"joint1": {"viscous": dy.symbol("c")}})
    with pytest.warns(dy.ModelWarning, match="joint1.*-3"):
        unknown.replace(parameters={"c": -3.0})
