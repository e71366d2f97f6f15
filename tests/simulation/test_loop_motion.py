"""The motion of robots with loops in time: energy, drift, forces, refusals, files."""

import numpy as np
import pytest
from loop_mechanisms import BODY, every_mechanism

import dynamis as dy
from dynamis.errors import InputError
from dynamis.kinematics.closures import Anchor, Pin, Point, Weld
from dynamis.model.description import Drive
from dynamis.simulation.loops.mechanisms import four_bar
from dynamis.simulation.sources import SourceError


@every_mechanism
def test_energy_stays_and_loops_stay_closed(loop):
    robot, q = loop.robot, loop.home()
    v = loop.assemble_velocity(q, np.ones(robot.n))
    motion = loop.simulate(1.5 if robot.n == 3 else 0.7, q, v, rtol=1e-10, atol=1e-12, points=101)
    assert motion.complete
    assert np.abs(motion.energy_error).max() < 1e-8 * motion.kinetic_energy.max()
    assert motion.drift.max() < 1e-12
    assert motion.velocity_drift.max() < 1e-12
    assert motion.statistics["largest correction"] < 1e-9
    assert motion.constraint_forces.shape == (101, len(motion.constraint_names))


def test_without_stabilisation_the_loops_drift_and_baumgarte_holds_them():
    loop = four_bar()
    drift = {
        how: loop.simulate(5.0, rtol=1e-6, atol=1e-8, stabilisation=how, points=51).drift.max()
        for how in ("none", "baumgarte", "projection")
    }
    assert drift["projection"] < 1e-12 < drift["baumgarte"] < drift["none"]


def test_stiff_methods_go_with_baumgarte():
    loop = four_bar()
    reference = loop.simulate(0.5, rtol=1e-10, atol=1e-12, points=6)
    motion = loop.simulate(0.5, method="LSODA", stabilisation="baumgarte", points=6)
    np.testing.assert_allclose(motion.q, reference.q, atol=1e-6)


def test_the_work_of_torques_wrenches_and_friction_balances_the_energy():
    loop = four_bar()
    d = loop.robot.description
    d.joint("rocker").drive = Drive(viscous=0.3, coulomb=0.2)
    damped = dy.constrained(dy.Robot(d), closures=loop.closures)
    motion = damped.simulate(
        2.0, loop.home(), torque=lambda t: np.array([3.0 * np.sin(3 * t), 0.0, 0.0]),
        controller=lambda t, q, v: -0.1 * v, wrenches={"coupler": [1.0, -2.0, 0.0, 0.0, 0.0, 0.5]}, rtol=1e-10, atol=1e-12, points=201,
        friction="smooth",
    )  # fmt: skip
    assert np.abs(motion.work).max() > 0.5
    assert np.abs(motion.energy_error).max() < 1e-8 * motion.kinetic_energy.max()
    assert np.abs(motion.friction[:, 2]).max() > 0.1
    np.testing.assert_allclose(motion.ledger.total, motion.tau, atol=1e-10)


def free_body(closure):
    d = dy.Description("held", gravity=np.array([0.0, 0.0, -9.81])).add_link("base")
    d.add_link("body", "base", "free", inertia=BODY)
    robot = dy.Robot(d)
    return robot, closure, robot.neutral()


@pytest.mark.parametrize(
    ("closure", "joint"), [(Point("body", "base"), "spherical"), (Pin("body", "base", (0, 1, 0)), "revolute")]
)
def test_a_free_body_held_by_a_closure_moves_like_one_on_a_joint(closure, joint):
    d = dy.Description("jointed", gravity=np.array([0.0, 0.0, -9.81])).add_link("base")
    tree = dy.Robot(d.add_link("body", "base", joint, axis=(0, 1, 0), inertia=BODY))
    robot, held, q = free_body(closure)
    w = np.array([0.5, 1.0, -0.7]) if joint == "spherical" else np.array([0.0, 1.0, 0.0])
    loop = dy.constrained(robot, closures=held).simulate(1.0, q, [0, 0, 0, *w], rtol=1e-10, atol=1e-12, points=6)
    jointed = dy.simulate(tree, 1.0, tree.neutral(), w if joint == "spherical" else w[1:2], rtol=1e-10, atol=1e-12, points=6)
    np.testing.assert_allclose(robot.pose(loop.q, "body"), tree.pose(jointed.q, "body"), atol=1e-8)
    assert np.abs(np.linalg.norm(loop.q[:, 3:], axis=1) - 1.0).max() < 1e-12


def test_an_anchor_carries_the_weight_and_its_moment_in_world_axes():
    robot, _, _ = free_body(None)
    R = dy.spatial.about_axis(np.array([0.6, 0.0, 0.8]), 0.7)
    q = np.array([0.3, -0.1, 0.2, *np.array([0.6, 0.0, 0.8]) * np.sin(0.35), np.cos(0.35)])
    np.testing.assert_allclose(robot.pose(q, "body")[:3, :3], R, atol=1e-12)
    motion = dy.constrained(robot, closures=Anchor("body", q[:3], R)).simulate(0.1, q, points=3)
    np.testing.assert_allclose(motion.q, np.tile(q, (3, 1)), atol=1e-14)
    weight = np.array([0.0, 0.0, -1.3 * 9.81])
    holding = -np.concatenate([weight, np.cross(R @ [0.1, -0.2, 0.15], weight)])
    np.testing.assert_allclose(motion.constraint_forces, np.tile(holding, (3, 1)), atol=1e-12)
    assert motion.constraint_names[3] == "body: moment x"
    turning = dy.constrained(robot, closures=Anchor("body", q[:3])).simulate(0.1, q, points=3)
    np.testing.assert_allclose(turning.q[:, :3], np.tile(q[:3], (3, 1)), atol=1e-12)
    assert np.abs(turning.v[-1, 3:]).max() > 0.1
    for wrong, message in (({"position": [0.0, 1.0]}, "position="), ({"position": q[:3], "rotation": 2.0 * R}, "rotation")):
        with pytest.raises(InputError, match=message):
            Anchor("body", **wrong)
    with pytest.raises(InputError, match="constrains nothing"):
        dy.constrained(robot, closures=Anchor("base", [0.0, 0.0, 0.0]))


def test_a_weld_carries_the_weight_and_its_moment():
    robot, held, q = free_body(Weld("body", "base"))
    motion = dy.constrained(robot, closures=held).simulate(0.1, q, points=3)
    np.testing.assert_allclose(motion.q, np.tile(q, (3, 1)), atol=1e-14)
    weight = np.array([0.0, 0.0, -1.3 * 9.81])
    holding = -np.concatenate([weight, np.cross([0.1, -0.2, 0.15], weight)])
    np.testing.assert_allclose(motion.constraint_forces, np.tile(holding, (3, 1)), atol=1e-12)


def test_what_cannot_be_simulated_is_refused():
    loop = four_bar()
    q = loop.home()
    for arguments, message in [
        ({"q0": q + 0.1}, "q0 does not close"),
        ({"q0": q, "v0": [1.0, 0.0, 0.0]}, "v0 does not close"),
        ({"q0": q, "friction": {"crank": dy.Coulomb(1.0, 1.0)}, "method": "DOP853"}, "sticks, which needs"),
        ({"q0": q, "method": "time_stepping", "stabilisation": "baumgarte"}, "is incompatible with"),
        ({"q0": q, "method": "time_stepping", "step": 0.0}, "must be a positive number"),
        (
            {"q0": q, "stops": dy.HardStops(), "friction": {"crank": dy.Coulomb(1.0, 1.0)}},
            r"where the friction of crank sticks: .*joint_stops\(robot, stiffness=1e4, .*friction='smooth'",
        ),
        ({"q0": q, "stops": dy.HardStops()}, "no joint with limits"),
        ({"q0": q, "method": "midpoint", "step": 1e-3}, "is incompatible with"),
        ({"q0": q, "method": "Radau"}, "is incompatible with"),
        ({"q0": q, "stabilisation": "glue"}, "glue"),
    ]:
        with pytest.raises(InputError, match=message):
            loop.simulate(1.0, **arguments)


def test_a_controller_that_fails_keeps_the_motion_until_then():
    loop = four_bar()

    def law(t, _q, _v):
        if t > 0.3:
            raise RuntimeError("lost")
        return np.zeros(3)

    told = []
    motion = loop.simulate(1.0, controller=law, points=101, progress=told.append)
    assert "lost" in motion.status
    assert 0 < len(motion) < 101
    assert told[-1] == 1.0
    with pytest.raises(SourceError, match="ZeroDivisionError"):
        loop.simulate(1.0, controller=lambda t: 1 / 0)


def test_trajectories_with_loops_are_saved_and_drawn_like_others(tmp_path):
    loop = four_bar()
    motion = loop.simulate(0.2, points=5)
    assert motion.save(tmp_path / "loop.csv").exists()
    assert repr(motion).startswith("<LoopTrajectory of 'four-bar'")
    assert motion.path("coupler_end").shape == (5, 3)
