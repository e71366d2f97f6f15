"""What a simulation gives back, and that its parts agree with each other."""

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot
from small_machines import pendulum

import dynamis as dy
from dynamis.simulation.events import EventRecord
from dynamis.simulation.simulate import simulate

ARM = dy.load("planar_2r_melchiorri")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", [{}, {"method": "rk4", "step": 5e-3, "friction": "smooth"}])
def test_the_ledger_sums_to_the_torque_with_wrenches_and_friction(name, way):
    robot = zoo_robot(name)
    motion = simulate(robot, 0.2, robot.random(2), torque=np.linspace(-1, 1, robot.n), points=21,
                      wrenches={"tool": lambda t: [1.0, np.sin(t), -2.0, 0.1, 0.2, 0.3]}, **way)  # fmt: skip
    assert np.abs(motion.ledger.total - motion.tau).max() < 1e-9
    assert np.array_equal(motion.ledger.dry, motion.friction)
    assert np.abs(motion.ledger.external).max() > 1e-3


def test_the_acceleration_is_the_slope_of_the_velocity():
    motion = simulate(ARM, 1.0, [0.3, 0.4], controller=lambda _t, q, v: -50 * q - 10 * v, points=2001, rtol=1e-10, atol=1e-12)
    slope = (motion.v[2:] - motion.v[:-2]) / (motion.t[2:] - motion.t[:-2])[:, None]
    assert np.abs(slope - motion.acceleration[1:-1]).max() < 1e-4 * np.abs(motion.acceleration).max()


def test_joints_that_hold_have_no_acceleration():
    motion = simulate(pendulum(coulomb=20.0), 1.0, [0.7])
    assert np.abs(motion.acceleration).max() < 1e-12


def test_the_path_is_the_place_of_the_frame_and_of_the_tip_unless_named():
    motion = simulate(ARM, 0.3, points=7)
    assert np.array_equal(motion.path(), ARM.pose(motion.q)[:, :3, 3])
    assert np.array_equal(motion.path(ARM.link_names[1]), ARM.pose(motion.q, ARM.link_names[1])[:, :3, 3])
    with pytest.raises(dy.NameLookupError):
        motion.path("nowhere")


def test_length_text_and_status_say_what_there_is():
    motion = simulate(ARM, (1.0, 2.5), points=16)
    assert len(motion) == 16
    assert motion.complete
    assert repr(motion) == "<Trajectory of 'planar 2R (Melchiorri)', 1 … 2.5 s, 16 points, completed>"
    assert str(EventRecord(0.25, "stops", "hinge")) == "0.25 s: hinge stops"


def test_energy_is_kinetic_and_potential_and_errs_by_nothing_at_the_start():
    motion = simulate(ARM, 0.5, [0.1, 0.2], [1.0, 2.0])
    assert np.array_equal(motion.energy, motion.kinetic_energy + motion.potential_energy)
    assert motion.energy_error[0] == 0.0
    assert motion.kinetic_energy[0] == pytest.approx(ARM.kinetic_energy([0.1, 0.2], [1.0, 2.0]))
