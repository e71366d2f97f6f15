"""Rotors of motors that ride on moving links: the coupling they add, against models that know nothing of them."""

import numpy as np
import pytest
from campaign_params import seeds
from random_trees import ONE_NUMBER, random_description, random_inertia, random_pose, random_states, relative_error

import dynamis as dy
from dynamis.algorithms import coriolis, dynamics, mass_matrix, newton_euler, newton_euler_base, regressor
from dynamis.algorithms.joint_physics import spring_torque
from dynamis.algorithms.lagrange import lagrange_program
from dynamis.model.build import with_floating_base
from dynamis.model.description import Drive, Mimic, rotors_riding
from dynamis.spatial import Inertia, Pose

SICILIANO = """
[robot]
name = "planar arm with motors"
gravity = [0, "-g", 0]
[parameters]
a_1 = "symbol"
l_1 = "symbol"
l_2 = "symbol"
m_1 = "symbol"
m_2 = "symbol"
m_m2 = "symbol"
I_1 = "symbol"
I_2 = "symbol"
I_m1 = "symbol"
I_m2 = "symbol"
k_r1 = "symbol"
k_r2 = "symbol"
g = "symbol"
# link 1 with the motor of joint 2 at its end, locked
[[link]]
link = "upper"
mass = "m_1 + m_m2"
com = ["(m_1*l_1 + m_m2*a_1)/(m_1 + m_m2)", 0, 0]
inertia = { zz = "I_1 + m_1*l_1^2 + I_m2 + m_m2*a_1^2 - (m_1*l_1 + m_m2*a_1)^2/(m_1 + m_m2)" }
rotor_inertia = "I_m1"
gear_ratio = "k_r1"
motor_link = "base"
[[link]]
link = "fore"
xyz = ["a_1", 0, 0]
mass = "m_2"
com = ["l_2", 0, 0]
inertia = { zz = "I_2" }
rotor_inertia = "I_m2"
gear_ratio = "k_r2"
motor_link = "upper"
"""


def random_riding(seed, bodies=5, **options):
    """A random tree whose rotors ride on random links before their joints, about random axes, with either sign of ratio."""
    rng = np.random.default_rng(seed)
    d = random_description(rng, bodies, **options)
    carrier = {joint.child: joint for joint in d.joints}
    for joint in d.joints:
        if joint.type not in ONE_NUMBER:
            continue
        before = [joint.parent]
        while before[-1] in carrier:
            before.append(carrier[before[-1]].parent)
        joint.drive.motor_link = str(rng.choice(before))
        joint.drive.gear_ratio *= rng.choice([-1.0, 1.0])
        joint.drive.rotor_inertia = rng.uniform(0.005, 0.05)
        if rng.random() < 0.5:
            axis = rng.standard_normal(3)
            joint.drive.motor_axis = tuple(axis / np.linalg.norm(axis))
    return d, rng


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", seeds(3, 5))
def test_all_formulations_agree_on_random_trees_with_riding_rotors(seed, floating):
    d, rng = random_riding(seed)
    robot = dy.Robot(with_floating_base(d) if floating else d)
    m = robot.model
    if not robot.n:
        return
    q, v, a = random_states(rng, robot, 3)
    by_lagrange, rates = lagrange_program(m)(q, v, a)
    for k in range(3):
        tau = newton_euler.rnea(m, q[k], v[k], a[k])
        M, C = mass_matrix.crba(m, q[k]), coriolis.coriolis_matrix(m, q[k], v[k])
        moved = tau + m.rotor * a[k]
        assert relative_error(newton_euler_base.rnea_base_frame(m, q[k], v[k], a[k]), tau) < 1e-12
        assert relative_error(by_lagrange[k], moved + spring_torque(m, q[k])) < 1e-11
        assert relative_error(mass_matrix.mass_matrix_from_jacobians(m, q[k]), M) < 1e-12
        assert relative_error(M @ a[k] + C @ v[k] + dynamics.gravity(m, q[k]), moved) < 1e-11
        Y = regressor.regressor(m, q[k], v[k], a[k])
        assert relative_error(Y @ regressor.parameters(m), dynamics.inverse_dynamics(m, q[k], v[k], a[k])) < 1e-11
        power = v[k] @ (moved + spring_torque(m, q[k]))
        assert abs(rates[k].sum() - power) < 1e-10 * (np.abs(rates[k]).sum() + np.abs(moved) @ np.abs(v[k]))
        h = 1e-5
        M_at = {s: mass_matrix.crba(m, robot.integrate(q[k], s * h * v[k])) for s in (-2, -1, 1, 2)}
        M_dot = (8.0 * (M_at[1] - M_at[-1]) - (M_at[2] - M_at[-2])) / (12.0 * h)
        assert np.abs(M_dot - C - C.T).max() < 1e-8 * (np.abs(M).max() + np.abs(M_dot).max())
    # what users call is compiled from frames and inertias moved elsewhere
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(tau, [dynamics.inverse_dynamics(m, *state) for state in zip(q, v, a, strict=True)]) < 1e-11
    assert relative_error(robot.forward_dynamics(q, v, tau), a) < 1e-8
    assert relative_error(robot.mass_matrix(q), [mass_matrix.crba(m, x) for x in q]) < 1e-12
    kinetic = 0.5 * np.einsum("...i,...ij,...j", v, robot.mass_matrix(q), v)
    assert relative_error(robot.kinetic_energy(q, v), kinetic) < 1e-11


def with_rotors_as_links(d):
    """The same robot with each rotor a link on a joint of its own; and for each such joint (whose it is, its ratio)."""
    riding = dy.Robot(d)
    extended, ratios = d.copy(), {}
    zero = riding.neutral()
    for joint in d.joints:
        drive = joint.drive
        if joint.type == "fixed" or drive.motor_link is None:
            continue
        axis = drive.motor_axis
        if axis is None:
            R_link = riding.pose(zero, drive.motor_link)[:3, :3]
            R_joint = riding.pose(zero, joint.parent)[:3, :3] @ joint.origin.R
            axis = R_link.T @ R_joint @ joint.axis / np.linalg.norm(joint.axis)
        axis = np.array(axis)
        disc = 0.5 * drive.rotor_inertia * (np.eye(3) + np.outer(axis, axis))
        extended.attach_payload(Inertia(0.0, np.zeros(3), -disc), drive.motor_link)
        # a rotor anywhere on its link, turned anyhow, is the same rotor: only its axis and its tensor count
        place = Pose.translation([0.3, -0.2, 0.1])
        extended.add_link(f"{joint.name} rotor", drive.motor_link, "continuous", joint_name=f"{joint.name} spin", axis=axis,
                          origin=place, inertia=Inertia(0.0, np.zeros(3), disc))  # fmt: skip
        ratios[f"{joint.name} spin"] = (joint.name, drive.gear_ratio)
        own = extended.joint(joint.name).drive
        own.rotor_inertia, own.motor_link, own.motor_axis = 0.0, None, None
    return dy.Robot(extended), ratios


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize("seed", range(10))
def test_a_riding_rotor_is_a_link_on_a_joint_tied_to_the_one_it_drives(seed):
    d, rng = random_riding(100 + seed, mimics=False, kinds=(*ONE_NUMBER, "fixed"), tails=True)
    robot = dy.Robot(d)
    if not robot.n:
        return
    free, ratios = with_rotors_as_links(d)
    # every coordinate of the large robot from those of the small one
    names = list(robot.coordinate_names)
    A = np.zeros((free.n, robot.n))
    for row, name in enumerate(free.coordinate_names):
        leader, ratio = ratios.get(name, (name, 1.0))
        A[row, names.index(leader)] = ratio
    q, v, a = random_states(rng, robot, 1)
    q, v, a = q[0], v[0], a[0]
    assert relative_error(robot.mass_matrix(q), A.T @ free.mass_matrix(A @ q) @ A) < 1e-11
    assert relative_error(robot.inverse_dynamics(q, v, a), A.T @ free.inverse_dynamics(A @ q, A @ v, A @ a)) < 1e-11
    assert relative_error(robot.gravity(q), A.T @ free.gravity(A @ q)) < 1e-11


def test_the_planar_arm_with_motors_of_siciliano(tmp_path):
    (tmp_path / "arm.toml").write_text(SICILIANO)
    form = dy.load(tmp_path / "arm.toml").closed_form()
    names = "a_1 l_1 l_2 m_1 m_2 m_m2 I_1 I_2 I_m1 I_m2 k_r1 k_r2 g"
    a1, l1, l2, m1, m2, mm2, I1, I2, Im1, Im2, k1, k2, g = map(dy.symbol, names.split())
    q1, q2 = form.q
    v1, v2 = form.v
    c2 = np.cos(q2)
    # [Siciliano 2009, §7.3.2]
    book = {
        (0, 0): I1 + m1 * l1**2 + k1**2 * Im1 + I2 + m2 * (a1**2 + l2**2 + 2.0 * a1 * l2 * c2) + Im2 + mm2 * a1**2,
        (0, 1): I2 + m2 * (l2**2 + a1 * l2 * c2) + k2 * Im2,
        (1, 1): I2 + m2 * l2**2 + k2**2 * Im2,
    }
    for (i, j), entry in book.items():
        assert form.M[i, j] == form.algebra.of_node(entry)
        assert form.M[j, i] == form.M[i, j]
    h = -m2 * a1 * l2 * np.sin(q2)
    assert form.C[0, 0] == form.algebra.of_node(h * v2)
    assert form.C[0, 1] == form.algebra.of_node(h * (v1 + v2))
    assert form.C[1, 0] == form.algebra.of_node(-h * v1)
    assert form.C[1, 1].is_zero
    assert form.g[0] == form.algebra.of_node((m1 * l1 + mm2 * a1 + m2 * a1) * g * np.cos(q1) + m2 * l2 * g * np.cos(q1 + q2))
    assert form.g[1] == form.algebra.of_node(m2 * l2 * g * np.cos(q1 + q2))


def test_the_closed_form_of_rotors_is_linear_in_its_parameters(tmp_path):
    (tmp_path / "arm.toml").write_text(SICILIANO)
    form = dy.load(tmp_path / "arm.toml").closed_form()
    for Y, parameters in ((form.regressor, form.parameters), (form.base_regressor, form.base_parameters)):
        assert all(x.is_zero for x in (Y @ parameters - form.torque).flat)
    assert any(str(x) == "I_m2" for x in form.base_parameters)
    assert (form.N + form.N.T).is_zero
    assert not any("rotor" in str(rule) for rule in form.base.rules)
    assert "motor rotors mounted on links" in form.derivation().markdown()


def spatial_arm(**motor):
    """Two axes at right angles: the rotor of the second, on the first link, is a gyroscope."""
    d = dy.Description("turret", gravity=np.zeros(3)).add_link("base")
    body = Inertia.about_com(2.0, (0.1, 0.0, 0.05), np.diag([0.03, 0.04, 0.05]))
    d.add_link("pan", "base", "revolute", joint_name="pan_joint", axis=(0, 0, 1), inertia=body)
    d.add_link("tilt", "pan", "revolute", joint_name="tilt_joint", axis=(0, 1, 0), inertia=body, origin=Pose.translation([0, 0, 0.2]),
               drive=Drive(rotor_inertia=1e-3, gear_ratio=50.0, **motor))  # fmt: skip
    return d


def test_a_rotor_across_the_axis_couples_nothing_at_rest_but_turns_the_gyroscope():
    d = spatial_arm(motor_link="pan", motor_axis=(1.0, 0.0, 0.0))
    robot, plain = dy.Robot(d), dy.Robot(d).replace(rotors="reflected")
    q, v = np.array([0.3, 0.7]), np.array([2.0, 3.0])
    np.testing.assert_allclose(robot.mass_matrix(q), plain.mass_matrix(q), atol=1e-12)
    # spin r q̇ I about x of a link that pans: the moment is about y of the pan link, which its bearing holds
    np.testing.assert_allclose(robot.bias(q, v), plain.bias(q, v), atol=1e-12)
    # on a base that tilts, the bearing is the base's own joint: r q̇₂ I ω_z turns about y
    moving = dy.Robot(with_floating_base(d))
    still = moving.replace(rotors="reflected")
    q, v = moving.neutral(), np.zeros(moving.n)
    v[list(moving.coordinate_names).index("tilt_joint")], v[5] = 3.0, 2.0
    gyroscopic = moving.bias(q, v) - still.bias(q, v)
    spin = 50.0 * 3.0 * 1e-3
    np.testing.assert_allclose(gyroscopic[3:6], [0.0, 2.0 * spin, 0.0], atol=1e-12)


def test_a_motor_along_the_axis_of_its_link_couples_both():
    robot = dy.Robot(spatial_arm(motor_link="pan", motor_axis=(0.0, 0.0, 1.0)))
    plain = robot.replace(rotors="reflected")
    difference = robot.mass_matrix([0.3, 0.7]) - plain.mass_matrix([0.3, 0.7])
    np.testing.assert_allclose(difference, [[0.0, 50.0 * 1e-3], [50.0 * 1e-3, 0.0]], atol=1e-12)


def test_riding_and_reflected_are_a_switch():
    d = spatial_arm()
    robot = dy.Robot(d)
    riding = robot.replace(rotors="riding")
    assert [j.drive.motor_link for j in riding.description.joints] == [None, "pan"]
    assert riding.model.rotor.tolist() == [0.0, 0.0]
    assert robot.model.rotor.tolist() == [0.0, 2.5]
    assert riding.link_names == robot.link_names
    assert riding.model.tip == robot.model.tip == "tilt"
    assert riding.coordinate_names == robot.coordinate_names
    back = riding.replace(rotors="reflected")
    np.testing.assert_array_equal(back.mass_matrix([0.1, 0.2]), robot.mass_matrix([0.1, 0.2]))
    # the parameters keep their meaning, one more is told apart
    assert riding.parameter_names == [*robot.parameter_names, "tilt_joint.rotor.inertia"]
    differs = np.flatnonzero(riding.parameters[:-1] != robot.parameters)
    assert [robot.parameter_names[k] for k in differs] == ["tilt_joint.rotor"]
    assert riding.parameters[-1] == pytest.approx(1e-3)
    with pytest.raises(dy.InputError, match="choose 'riding' or 'reflected'"):
        robot.replace(rotors="riding on")


def test_a_motor_on_the_base_is_its_reflected_inertia():
    d = spatial_arm()
    d.joint("pan_joint").drive = Drive(rotor_inertia=2e-3, gear_ratio=10.0, motor_link="base")
    robot = dy.Robot(d)
    assert not robot.model.coupled
    assert robot.model.rotor.tolist() == pytest.approx([0.2, 2.5])
    floating = dy.Robot(with_floating_base(d))
    assert floating.model.coupled  # that base moves
    assert floating.model.rotor.tolist()[6:] == pytest.approx([0.0, 2.5])


def test_random_configurations_do_not_depend_on_rotors():
    d = spatial_arm()
    d.joint("tilt_joint").drive.gear_ratio = 1.0
    d.joint("tilt_joint").type = "prismatic"
    d.joint("tilt_joint").limits.lower, d.joint("tilt_joint").limits.upper = -0.1, 0.2
    robot = dy.Robot(d)
    riding = robot.replace(rotors="riding")
    np.testing.assert_array_equal(riding.random(3, 20), robot.random(3, 20))
    np.testing.assert_array_equal(riding.integrate([0.1, 0.2], [1.0, 2.0]), [1.1, 2.2])


def test_a_rotor_follows_a_joint_that_follows_another():
    d = spatial_arm(motor_link="pan")
    d.add_link("cover", "pan", "revolute", joint_name="cover_joint", axis=(0, 1, 0), inertia=random_inertia(np.random.default_rng(0)),
               mimic=Mimic("tilt_joint", -2.0, 0.3),
               drive=Drive(rotor_inertia=3e-3, gear_ratio=7.0, motor_link="pan", motor_axis=(0.0, 0.0, 1.0)))  # fmt: skip
    robot = dy.Robot(d)
    without = d.copy()
    without.joint("cover_joint").drive = Drive()
    difference = robot.mass_matrix([0.4, 0.5]) - dy.Robot(without).mass_matrix([0.4, 0.5])
    spin, inertia = 7.0 * -2.0, 3e-3
    np.testing.assert_allclose(difference, [[0.0, spin * inertia], [spin * inertia, spin**2 * inertia]], atol=1e-12)


def test_symbols_may_stand_for_rotor_and_ratio():
    d = spatial_arm(motor_link="pan", motor_axis=(0.0, 0.0, 1.0))
    d.joint("tilt_joint").drive.rotor_inertia = dy.symbol("J")
    d.joint("tilt_joint").drive.gear_ratio = -dy.symbol("r")
    form = dy.Robot(d).closed_form()
    J, r = dy.symbol("J"), dy.symbol("r")
    assert form.M[0, 1] == form.algebra.of_node(-r * J)
    assert (form.M[1, 1].diff(J) - form.algebra.of_node(r * r)).is_zero
    assert form.M[0, 0].diff(J).is_zero


def test_bounds_hold_for_riding_rotors():
    d = spatial_arm(motor_link="pan", motor_axis=(0.0, 0.6, 0.8))
    robot = dy.Robot(d)
    bounds = dy.structural_bounds(robot, lower=[-100.0, -100.0], upper=[100.0, 100.0])
    eigenvalues = np.linalg.eigvalsh(robot.mass_matrix(robot.random(0, 200)))
    assert bounds.mu_1.lower <= eigenvalues.min()
    assert eigenvalues.max() <= bounds.mu_2.upper < 1.5 * eigenvalues.max()
    assert bounds.prismatic_dependence == ()


@pytest.mark.parametrize(("changes", "found"), [
    ({"motor_link": "tilt"}, "which the joint itself moves"),
    ({"motor_link": "pam"}, "did you mean 'pan'"),
    ({"motor_link": 3}, "must be a name"),
    ({"motor_link": "pan", "motor_axis": (0.0, 0.0, 2.0)}, "the motor axis has length 2"),
    ({"motor_link": "pan", "motor_axis": (0.0, 0.0, 0.0)}, "the motor axis has length 0"),
    ({"motor_link": "pan", "motor_axis": (0.0, np.nan, 0.0)}, "motor axis is"),
    ({"motor_link": "pan", "motor_axis": "z"}, "motor axis is"),
    ({"motor_axis": (0.0, 0.0, 1.0)}, "no link to be on"),
])  # fmt: skip
def test_motors_that_cannot_be_there_are_refused(changes, found):
    with pytest.raises(dy.ModelError, match=found) as error:
        dy.Robot(spatial_arm(**changes))
    assert "To repair" in str(error.value)


def test_a_joint_with_several_variables_has_no_riding_rotor():
    d = spatial_arm(motor_link="pan")
    d.joint("tilt_joint").type = "spherical"
    with pytest.raises(dy.ModelError, match="drives a spherical joint"):
        dy.Robot(d)
    d.joint("tilt_joint").drive.motor_link = None
    assert not dy.Robot(d).replace(rotors="riding").model.coupled


def test_the_reader_says_where_the_motor_is_wrong(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text('[[link]]\nlink = "upper"\n\n[[link]]\nlink = "fore"\nmotor_link = "uper"\n')
    with pytest.raises(dy.ModelError, match=r"arm\.toml:4: error: joint 'joint2': its motor link .* did you mean 'upper'"):
        dy.load(file)
    file.write_text('[[link]]\nlink = "upper"\nmotor_link = "base"\nmotor_axis = [0, 3, 4]\nmass = 1\n')
    with pytest.raises(dy.ModelError, match=r"arm\.toml:1: error: joint 'joint1': the motor axis has length 5"):
        dy.load(file)


@pytest.mark.parametrize(
    ("suffix", "form"), [("toml", "link"), ("urdf", "link"), ("toml", "dh"), ("toml", "mdh"), ("toml", "poe")]
)
def test_motors_survive_being_written(suffix, form, tmp_path):
    rng = np.random.default_rng(5)
    d = spatial_arm(motor_link="pan", motor_axis=(0.0, 0.6, 0.8))
    d.joint("pan_joint").drive = Drive(rotor_inertia=2e-3, gear_ratio=-10.0, motor_link="base")
    d.joint("tilt_joint").origin = random_pose(rng)
    d.add_link("tool", "tilt", "revolute", joint_name="tool_joint", axis=(0.6, 0.0, -0.8), origin=random_pose(rng),
               inertia=random_inertia(rng), drive=Drive(rotor_inertia=4e-3, gear_ratio=3.0, motor_link="pan"))  # fmt: skip
    robot = dy.Robot(d)
    robot.write(tmp_path / f"arm.{suffix}", form)
    again = dy.load(tmp_path / f"arm.{suffix}")
    for name in ("pan_joint", "tilt_joint", "tool_joint"):
        ours, theirs = d.joint(name).drive, again.description.joint(name).drive
        assert (ours.motor_link, ours.motor_axis) == (theirs.motor_link, theirs.motor_axis)
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    assert relative_error(again.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a)) < 1e-10


def test_symbols_of_a_motor_survive_being_written(tmp_path):
    (tmp_path / "arm.toml").write_text(SICILIANO)
    robot = dy.load(tmp_path / "arm.toml")
    robot.write(tmp_path / "again.toml")
    again = dy.load(tmp_path / "again.toml")
    assert [x == y for x, y in zip(robot.closed_form().M.flat, again.closed_form().M.flat, strict=True)] == [True] * 4


def test_c_export_and_gathered_numbers_of_a_riding_robot(tmp_path):
    robot = dy.Robot(spatial_arm(motor_link="pan", motor_axis=(0.0, 0.0, 1.0)))
    paths = robot.write_c("inverse_dynamics", tmp_path)
    assert all(path.exists() for path in paths)
    with pytest.raises(dy.InputError, match="rotors mounted on links"):
        robot.articulated_inertias([0.0, 0.0])
    motion = dy.simulate(robot, 0.5, v0=[1.0, 2.0])
    np.testing.assert_allclose(motion.energy, motion.energy[0], rtol=1e-6)


def test_every_library_arm_may_have_its_rotors_riding():
    for name in ("puma560", "motor_with_load"):
        robot = dy.load(name)
        if robot.model.symbolic:
            assert robot.replace(rotors="riding").closed_form().expanded
            continue
        riding = robot.replace(rotors="riding")
        q, v, a = (x[0] for x in random_states(np.random.default_rng(1), robot, 1))
        tau = riding.inverse_dynamics(q, v, a)
        assert relative_error(riding.forward_dynamics(q, v, tau), a) < 1e-9
        assert relative_error(riding.regressor(q, v, a) @ riding.parameters, tau) < 1e-11


def test_rotors_riding_keeps_a_motor_where_it_was_said_to_be():
    d = spatial_arm(motor_link="base", motor_axis=(1.0, 0.0, 0.0))
    assert rotors_riding(d).joint("tilt_joint").drive.motor_link == "base"


def test_a_link_lighter_than_the_rotor_on_it_is_doubtful(tmp_path):
    file = tmp_path / "arm.toml"
    text = """[[link]]
link = "upper"
mass = 1
com = [0.5, 0, 0]
inertia = {{ xx = 0.01, yy = 0.01, zz = {} }}

[[link]]
link = "fore"
mass = 1
com = [0.5, 0, 0]
rotor_inertia = 0.02
gear_ratio = 10
motor_link = "upper"
"""
    file.write_text(text.format(0.02))
    assert len(dy.check(file)) == 0
    file.write_text(text.format(0.015))
    (problem,) = dy.check(file)
    assert (problem.code, problem.severity, problem.line) == ("rotor-inertia", "warning", 7)
    assert "add the motor's inertia to the link's" in str(problem)


@pytest.mark.parametrize(("seed", "mimics"), [(0, False), (1, True), (3, True)])
def test_closed_forms_and_fewest_parameters_of_random_arms_with_riding_rotors(seed, mimics):
    d, rng = random_riding(seed, 3, kinds=("revolute", "prismatic"), mimics=mimics, tails=False)
    for joint in d.joints:
        joint.axis, joint.origin = np.eye(3)[rng.integers(3)], Pose.translation(np.round(rng.uniform(-1.0, 1.0, 3), 1))
        joint.drive.motor_axis = tuple(np.eye(3)[rng.integers(3)]) if rng.random() < 0.5 else None
    robot = dy.Robot(d)
    form = robot.closed_form()
    q, v, a = (x[0] for x in random_states(rng, robot, 1))
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(form.kernel("inverse_dynamics")(q, v, a), tau) < 1e-12
    assert (form.N + form.N.T).is_zero
    values = dict(zip([*form.q, *form.v, *form.a], [*q, *v, *a], strict=True))
    Y, parameters = (dy.evaluate(np.array(x.node(), dtype=object), values) for x in (form.base_regressor, form.base_parameters))
    assert relative_error(Y @ parameters, tau) < 1e-12
    # in each rotor's direction there is one number, and no more of them than rotors are told apart from links
    rotors = [body for _, body in robot.model.moving if body.is_rotor]
    reflected = dy.Robot(d).replace(rotors="reflected").closed_form()
    assert form.base.dimension <= reflected.base.dimension + len(rotors)


def test_a_motor_without_an_axis_of_its_own_turns_about_that_of_its_joint_where_all_coordinates_are_zero():
    """A joint on the way that follows another is turned by its offset there."""
    rng = np.random.default_rng(2)
    d = dy.Description("arm").add_link("base").add_link("a", "base", "revolute", joint_name="j1", inertia=random_inertia(rng))
    d.add_link("b", "a", "revolute", joint_name="j2", axis=[1.0, 0.0, 0.0], origin=random_pose(rng), inertia=random_inertia(rng),
               mimic=Mimic("j1", 1.0, 0.4))  # fmt: skip
    d.add_link("c", "b", "revolute", joint_name="j3", axis=[0.0, 1.0, 0.0], origin=random_pose(rng), inertia=random_inertia(rng),
               drive=Drive(rotor_inertia=1e-3, gear_ratio=10.0, motor_link="a"))  # fmt: skip
    robot = dy.Robot(d)
    ((_, rotor),) = regressor.rotors(robot.model)
    carrier, turned = (robot.pose(np.zeros(2), link)[:3, :3] for link in ("a", "c"))
    np.testing.assert_allclose(carrier @ rotor.motion.axis, turned[:, 1], atol=1e-14)
