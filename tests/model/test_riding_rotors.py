"""Rotors of motors that ride on moving links: the coupling they add, against models that know nothing of them."""

import numpy as np
import pytest
from campaign_params import seeds
from random_trees import ONE_NUMBER, random_inertia, random_states, relative_error
from riding_robots import SICILIANO, random_riding, spatial_arm

import dynamis as dy
from dynamis.algorithms import coriolis, dynamics, mass_matrix, newton_euler, newton_euler_base, regressor
from dynamis.algorithms.joint_physics import spring_torque
from dynamis.algorithms.lagrange import lagrange_program
from dynamis.model.build import with_floating_base
from dynamis.model.description import Drive, Mimic
from dynamis.spatial import Inertia, Pose


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", seeds(2, 5))
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
@pytest.mark.filterwarnings("ignore:random tree")
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


@pytest.mark.filterwarnings("ignore:.*without moving any mass")
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
