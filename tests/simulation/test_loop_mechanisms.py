"""Mechanisms against what is known about them: position formulas, free bodies, velocity relations, another simulator."""

import numpy as np
import pytest
from loop_mechanisms import rows

import dynamis as dy
from dynamis.errors import InputError
from dynamis.kinematics.closures import Distance, InPlane, Point
from dynamis.simulation.loops.mechanisms import delta, five_bar, four_bar, slider_crank

GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.3, 0.9, 0.7
MASSES = (0.5, 1.5, 1.2)
G = np.array([0.0, -9.81])


def freudenstein(crank_angle):
    """Both angles of the rocker: K1 cos θ4 − K2 cos θ2 + K3 = cos(θ2 − θ4), solved for tan(θ4 / 2)."""
    k1, k2 = GROUND / CRANK, GROUND / ROCKER
    k3 = (CRANK**2 - COUPLER**2 + ROCKER**2 + GROUND**2) / (2 * CRANK * ROCKER)
    c = np.cos(crank_angle)
    A, B, C = c - k1 - k2 * c + k3, -2 * np.sin(crank_angle), k1 - (k2 + 1) * c + k3
    return [2 * np.arctan2(-B + sign * np.sqrt(B * B - 4 * A * C), 2 * A) for sign in (1, -1)]


@pytest.mark.parametrize("side", [1, -1])
def test_four_bar_positions_are_freudensteins(side):
    loop = four_bar(GROUND, CRANK, COUPLER, ROCKER, angle=0.2, side=side)
    q = loop.home()
    for angle in np.linspace(0.2, 2 * np.pi, 25):  # a full turn, from one position to the next
        q = loop.assemble([angle, *q[1:]], locked=["crank"])
        apart = [abs(np.angle(np.exp(1j * (q[2] - other)))) for other in freudenstein(angle)]
        assert min(apart) < 1e-10
        assert max(apart) > 0.1
        built = four_bar(GROUND, CRANK, COUPLER, ROCKER, angle=angle, side=side).home()
        assert abs(np.angle(np.exp(1j * (q[2] - built[2])))) < 1e-10


def free_bodies(q, v, torque):
    """Accelerations and pin forces of the four-bar from Newton's and Euler's laws for three bodies in the plane.

    Unknowns: (a_G, α) of crank, coupler, rocker; forces at A (on the crank), B (on the coupler, from the crank), C (on the
    coupler, from the rocker), D (on the rocker).
    """
    angles, w = (q[0], q[0] + q[1], q[2]), (v[0], v[0] + v[1], v[2])
    u = [np.array([np.cos(x), np.sin(x)]) for x in angles]
    A, D = np.zeros(2), np.array([GROUND, 0.0])
    B, C = CRANK * u[0], CRANK * u[0] + COUPLER * u[1]
    middles = [(A + B) / 2, (B + C) / 2, (C + D) / 2]
    lengths = (CRANK, COUPLER, ROCKER)
    K, k = np.zeros((17, 17)), np.zeros(17)
    # which forces act on which body, where, and with which sign
    acting = [[(0, A, 1), (1, B, -1)], [(1, B, 1), (2, C, 1)], [(2, C, -1), (3, D, 1)]]
    for i, forces in enumerate(acting):
        m = MASSES[i]
        K[3 * i, 3 * i] = K[3 * i + 1, 3 * i + 1] = m
        K[3 * i + 2, 3 * i + 2] = m * lengths[i] ** 2 / 12
        k[3 * i : 3 * i + 2] = m * G
        k[3 * i + 2] = torque if i == 0 else 0.0
        for pin, at, sign in forces:
            r = at - middles[i]
            place = 9 + 2 * pin
            K[3 * i, place] = K[3 * i + 1, place + 1] = -sign
            K[3 * i + 2, place : place + 2] = -sign * np.array([-r[1], r[0]])
    # a_G + α × r − ω² r of the bodies that share a pin agree
    sharing = [(A, [(0, 1)]), (B, [(0, 1), (1, -1)]), (C, [(1, 1), (2, -1)]), (D, [(2, 1)])]
    for pin, (at, bodies) in enumerate(sharing):
        row = 9 + 2 * pin
        for i, sign in bodies:
            r = at - middles[i]
            K[row, 3 * i] = K[row + 1, 3 * i + 1] = sign
            K[row, 3 * i + 2], K[row + 1, 3 * i + 2] = -sign * r[1], sign * r[0]
            k[row : row + 2] += sign * w[i] ** 2 * r
    x = np.linalg.solve(K, k)
    return x[[2, 5, 8]], x[9:].reshape(4, 2)


@pytest.mark.parametrize("closed_by", ["plane", "point", "pin"])
@pytest.mark.parametrize("angle", [0.4, 2.0, 4.1])
def test_multipliers_are_the_pin_forces_of_the_free_bodies(angle, closed_by):
    loop = four_bar(GROUND, CRANK, COUPLER, ROCKER, masses=MASSES, angle=angle, closed_by=closed_by)
    v = loop.assemble_velocity(loop.home(), [3.0, 0.0, 0.0], locked=["crank"])
    a, forces = loop.forward_dynamics(loop.home(), v, [0.7, 0.0, 0.0])
    turning, pins = free_bodies(loop.home(), v, 0.7)
    np.testing.assert_allclose(a, [turning[0], turning[1] - turning[0], turning[2]], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(forces[:2], pins[2], rtol=1e-10, atol=1e-10)
    assert np.abs(forces[2:]).max(initial=0.0) < 1e-12  # nothing pushes out of the plane


def test_the_reduced_mass_of_the_four_bar_is_its_kinetic_energy():
    loop = four_bar()
    v = loop.assemble_velocity(loop.home(), [3.0, 0.0, 0.0], locked=["crank"])
    found = loop.reduced_dynamics(loop.home(), v, np.zeros(3), independent=["crank"])
    assert abs(0.5 * found.mass_matrix[0, 0] * 9.0 - loop.robot.kinetic_energy(loop.home(), v)) < 1e-12


@pytest.mark.parametrize("angle", [0.3, 1.4, 2.8, 5.0])
def test_slider_crank_velocity_is_the_books(angle):
    r, l, e = 0.2, 0.6, 0.05
    loop = slider_crank(r, l, offset=e, angle=angle)
    B = loop.reduced_dynamics(loop.home(), np.zeros(3), np.zeros(3), independent=["crank"]).B
    drop = r * np.sin(angle) - e
    root = np.sqrt(l * l - drop * drop)
    assert abs(loop.home()[2] - (r * np.cos(angle) + root)) < 1e-14
    assert abs(B[2, 0] - (-r * np.sin(angle) - r * np.cos(angle) * drop / root)) < 1e-13


def test_slider_crank_at_its_dead_points_has_a_slider_that_stands():
    loop = slider_crank(angle=0.0)
    B = loop.reduced_dynamics(loop.home(), np.zeros(3), np.zeros(3), independent=["crank"]).B
    assert abs(B[2, 0]) < 1e-15
    assert rows(loop.robot, loop.closures, loop.home()).h == pytest.approx([0.0, 0.0])


def test_a_symmetric_five_bar_falls_symmetrically():
    loop = five_bar(angles=(np.pi - 0.9, 0.9))
    motion = loop.simulate(0.3, rtol=1e-10, atol=1e-12, points=7)
    tool = motion.path("left_lower_end")
    np.testing.assert_allclose(tool[:, 0], 0.2, atol=1e-8)
    np.testing.assert_allclose(motion.q[:, 0] + motion.q[:, 2], np.pi, atol=1e-8)


def test_delta_angles_follow_from_the_platform_in_closed_form():
    base, arm, rod, platform = 0.2, 0.3, 0.8, 0.05
    loop = delta(base, arm, rod, platform, angles=(0.1, 0.5, 0.9))
    x = loop.home()[3:]
    for k in range(3):
        turn = 2 * np.pi * k / 3
        c, s = np.cos(turn), np.sin(turn)
        # the rod's lower end, seen from the shoulder in the arm's own plane
        px, py, pz = c * x[0] + s * x[1] + platform - base, -s * x[0] + c * x[1], x[2]
        # (px − L cos θ)² + py² + (pz + L sin θ)² = rod²
        E, F, H = -2 * arm * px, 2 * arm * pz, px**2 + py**2 + pz**2 + arm**2 - rod**2
        roots = [np.arctan2(F, E) + sign * np.arccos(-H / np.hypot(E, F)) for sign in (1, -1)]
        assert min(abs(np.angle(np.exp(1j * (loop.home()[k] - root)))) for root in roots) < 1e-12


def test_gravity_on_a_level_delta_is_shared_by_its_arms():
    loop = delta()
    now = loop.reduced_dynamics(loop.home(), np.zeros(6), np.zeros(6), independent=["arm_1", "arm_2", "arm_3"])
    np.testing.assert_allclose(now.bias, now.bias[0], rtol=1e-12)
    # holding still: virtual work of the weights
    B = now.B
    work = 0.6 * 9.81 * 0.15 * np.cos(0.3) * np.eye(3)[0] - 0.4 * 9.81 * B[5]
    np.testing.assert_allclose(-now.bias, np.full(3, work[0]), rtol=1e-10)


def spatial_four_bar():
    """Crank and rocker that turn about different axes, and a rod on two balls between them, held by closures alone."""
    bar = dy.Inertia.about_com(1.0, (0.2, 0.0, 0.0), np.diag([0.01, 0.02, 0.02]))
    d = dy.Description("RSSR").add_link("base")
    d.add_link("crank", "base", "continuous", joint_name="crank", inertia=bar)
    d.add_link("crank_end", "crank", origin=dy.Pose.translation((0.3, 0.0, 0.0)))
    d.add_link(
        "rocker",
        "base",
        "continuous",
        joint_name="rocker",
        axis=(0, 1, 0),
        origin=dy.Pose.translation((1.0, 0.0, 0.2)),
        inertia=bar,
    )
    d.add_link("rocker_end", "rocker", origin=dy.Pose.translation((0.0, 0.0, 0.6)))
    d.add_link("rod", "base", "free", joint_name="rod", inertia=bar)
    d.add_link("rod_end", "rod", origin=dy.Pose.translation((1.0, 0.0, 0.0)))
    return dy.constrained(dy.Robot(d), closures=(Point("rod", "crank_end"), Point("rod_end", "rocker_end")))


def test_a_spatial_four_bar_has_one_motion_and_an_idle_spin_of_its_rod():
    loop = spatial_four_bar()
    q = loop.home()
    assert loop.independence(q).degrees_of_freedom == 2
    v = loop.assemble_velocity(q, [3.0, *[0.0] * 7])
    motion = loop.simulate(2.0, q, v, rtol=1e-10, atol=1e-12, points=51)
    assert np.abs(motion.energy_error).max() < 1e-8 * motion.kinetic_energy.max()
    assert motion.drift.max() < 1e-12
    found = loop.reduced_dynamics(motion.q[20], motion.v[20], np.zeros(8))
    np.testing.assert_allclose(found.full_acceleration, motion.acceleration[20], atol=1e-10)


def test_a_truss_stands_and_carries_its_weight():
    bar = dy.Inertia.about_com(1.0, (0.5, 0.0, 0.0), np.diag([0.0, 1 / 12, 1 / 12]))
    d = dy.Description("truss", gravity=np.array([0.0, -9.81, 0.0])).add_link("base")
    for name, x in (("left", 0.0), ("right", 1.0)):
        d.add_link(name, "base", "continuous", joint_name=name, origin=dy.Pose.translation((x, 0, 0)), inertia=bar)
        d.add_link(f"{name}_end", name, origin=dy.Pose.translation((1.0, 0.0, 0.0)))
    robot, closure = dy.Robot(d), InPlane("left_end", "right_end", normal_frame="base")
    truss = dy.constrained(robot, closures=closure)
    q = truss.assemble([1.0, 2.0])
    assert truss.independence(q).degrees_of_freedom == 0
    motion = truss.simulate(1.0, q, points=3)
    np.testing.assert_allclose(motion.q, np.tile([np.pi / 3, 2 * np.pi / 3], (3, 1)), atol=1e-12)
    # each bar's weight, half of it at its end, is held by a thrust along the other
    np.testing.assert_allclose(motion.constraint_forces[-1], [-9.81 / (2 * np.sqrt(3)), 0.0], atol=1e-12)
    with pytest.raises(InputError, match=r"stays open by 0\.2"):
        dy.constrained(robot, closures=(closure, Distance("left_end", "base", 1.2))).assemble(q)


def test_a_four_bar_in_mujoco_moves_alike():
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")
    bar = '<inertial pos="{x} 0 0" mass="{m}" diaginertia="1e-9 {k} {k}"/>'
    a, b, c = (bar.format(x=l / 2, m=m, k=m * l * l / 12) for l, m in zip((CRANK, COUPLER, ROCKER), MASSES, strict=True))
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/>
      <option timestep="1e-4" gravity="0 -9.81 0" integrator="RK4" iterations="200" tolerance="1e-14"/>
      <worldbody>
        <body name="crank"><joint name="crank" axis="0 0 1"/>{a}
          <body name="coupler" pos="{CRANK} 0 0"><joint name="coupler" axis="0 0 1"/>{b}
            <site name="coupler_end" pos="{COUPLER} 0 0"/></body></body>
        <body name="rocker" pos="{GROUND} 0 0"><joint name="rocker" axis="0 0 1"/>{c}<site name="rocker_end" pos="{ROCKER} 0 0"/></body>
      </worldbody>
      <equality><connect site1="coupler_end" site2="rocker_end" solref="2e-3 1" solimp="0.9999 0.9999 0.001"/></equality>
    </mujoco>""")
    loop = four_bar(GROUND, CRANK, COUPLER, ROCKER, masses=MASSES)
    data = mujoco.MjData(model)
    data.qpos[:] = loop.home()
    for _ in range(10000):
        mujoco.mj_step(model, data)
    motion = loop.simulate(1.0, points=2)
    np.testing.assert_allclose(data.qpos, motion.q[-1], atol=1e-5)  # its constraints are soft
