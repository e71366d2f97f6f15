"""Rollouts of robots with rigid contacts: single precision, and states from which they may start."""

import numpy as np
import pytest

import dynamis as dy

CORNERS = ["c0", "c1", "c2", "c3"]
SINGLE = np.float32


@pytest.fixture(scope="module")
def box():
    """A box on its corners with an arm: of the 12 rows of four corners 6 are redundant."""
    d = dy.Description("box").add_link("world")
    d.add_link("box", "world", "free", inertia=dy.solids.box(0.4, 0.2, 0.1, mass=2.0))
    for name, x, y in zip(CORNERS, (-0.2, -0.2, 0.2, 0.2), (-0.1, 0.1, -0.1, 0.1), strict=True):
        d.add_link(name, "box", origin=dy.Pose.translation([x, y, -0.05]))
    rod = dy.solids.rod(0.3, mass=0.5).seen_from(dy.Pose.translation([0.0, 0.0, 0.15]))
    return dy.Robot(d.add_link("arm", "box", "revolute", joint_name="arm", axis=(0, 1, 0), inertia=rod))


@pytest.fixture
def start(box):
    q = box.neutral()
    q[-1] = 0.3
    return q


@pytest.mark.parametrize("count", [2, 4])
def test_redundant_contacts_are_kept_in_single_precision(box, start, count):
    held = dy.constrained(box, points=CORNERS[:count], alpha=20.0)
    rest = np.zeros(box.n)
    single = dy.rollouts(held, 0.1, start.astype(SINGLE), rest.astype(SINGLE), every=100)
    double = dy.rollouts(held, 0.1, start, rest, every=100)
    assert single.q.dtype == SINGLE
    np.testing.assert_allclose(single.q, double.q, atol=1e-5)
    assert np.abs(double.q[-1, -1] - start[-1]) > 0.01


def test_accelerations_and_forces_of_redundant_contacts_in_single_precision(box, start):
    held, rest = dy.constrained(box, points=CORNERS), np.zeros(box.n)
    expected = held.forward_dynamics(start, rest, rest)
    found = held.forward_dynamics(*(x.astype(SINGLE) for x in (start, rest, rest)))
    for one, other, error in zip(found, expected, (1e-5, 1e-3), strict=True):
        assert one.dtype == SINGLE
        np.testing.assert_allclose(one, other, atol=error * (1.0 + np.abs(other).max()))
    push = {"box": np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.5])}
    expected, _ = held.forward_dynamics(start, rest, rest, push)
    arguments = (*(x.astype(SINGLE) for x in (start, rest, rest)), {"box": push["box"].astype(SINGLE)})
    found, _ = held.forward_dynamics(*arguments)
    assert found.dtype == SINGLE
    np.testing.assert_allclose(found, expected, atol=1e-5 * (1.0 + np.abs(expected).max()))


def test_states_solved_one_by_one_have_the_precision_of_the_arguments():
    """The tree has a motion without mass at this configuration only: compiled code has no result."""
    d = dy.Description("two").add_link("base")
    point = dy.Inertia.about_com(1.0, (0.0, 0.0, -1.0), np.zeros((3, 3)))
    for k in range(2):
        d.add_link(f"link{k}", d.links[-1].name, "revolute", axis=(0, 1, 0), inertia=dy.Inertia.zero() if k == 0 else point,
                   origin=dy.Pose.translation([0.0, 0.0, -1.0 * k]))  # fmt: skip
    d.add_link("tip", "link1", origin=dy.Pose.translation([0.0, 0.0, -0.5]))
    held = dy.constrained(dy.Robot(d), points="tip")
    assert held.forward_dynamics(*np.zeros((3, 2), SINGLE))[0].dtype == SINGLE


def test_a_velocity_of_a_contact_is_refused_as_in_simulate(box, start):
    held = dy.constrained(box, points=CORNERS, alpha=20.0)
    v = np.zeros(box.n)
    v[2] = -1.0
    for call in (held.simulate, lambda *given: dy.rollouts(held, *given)):
        with pytest.raises(dy.InputError, match="v0 does not close the loops: 'c0: z' is off by 1; assemble_velocity"):
            call(0.1, start, v)
    batch = np.stack([0.0 * v, held.assemble_velocity(start, v), v])
    with pytest.raises(dy.InputError, match=r"v0 does not close the loops \(state \[2\] of the batch\): 'c0: z'"):
        dy.rollouts(held, 0.1, start, batch)
    assert dy.rollouts(held, 0.01, start, batch[:2]).status == "all 2 completed"


def test_open_loops_are_refused_as_in_simulate():
    loop = dy.loops.four_bar()
    for call in (loop.simulate, lambda *given: dy.rollouts(loop, *given)):
        with pytest.raises(dy.InputError, match=r"q0 does not close the loops: .* is off by .*; assemble"):
            call(0.1, loop.home() + 0.1)
    single = loop.home().astype(SINGLE)
    assert dy.rollouts(loop, 0.01, single, 0.0 * single).q.dtype == SINGLE
