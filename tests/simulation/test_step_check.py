"""Steps of rollouts that are too long for gains and contacts are announced where motions diverge."""

import warnings

import numpy as np

import dynamis as dy
from dynamis.simulation.contact import contacts_in, step_for

DOG = dy.load("go2", base="floating")
FEET = [name for name in DOG.link_names if name.endswith("foot")]
GROUND = {
    foot: dy.contact(DOG, foot, dy.Plane(), stiffness=2e4, damping=0.5, friction=0.8, radius=0.022) for foot in FEET
}  # fmt: skip
STANDING = DOG.neutral()
STANDING[2], STANDING[7:] = 0.36, [0.0, 0.9, -1.8] * 4


def stand(t, q, v):
    return np.concatenate([np.zeros(6), -200.0 * (q[7:] - STANDING[7:]) - 8.0 * v[6:]])


def test_motions_with_contacts_that_diverge_are_announced_with_the_step_that_simulate_would_choose():
    starts = np.tile(STANDING, (3, 1))
    starts[1:, 2] += [0.02, 0.04]
    options = {"controller": stand, "wrenches": GROUND, "every": 25}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = dy.rollouts(DOG, 0.3, starts, step=2e-3, **options)
    assert made.finite.tolist() == [False] * 3
    text = "3 of 3 motions diverged in steps of 0.002 s: use step=0.0002 or shorter, as simulate chooses it"
    assert [str(x.message).startswith(text) for x in found] == [True]
    assert 2e-4 <= step_for(contacts_in(GROUND), STANDING) < 3e-4
    assert dy.rollouts(DOG, 0.3, starts, step=2e-4, **options).finite.all()  # without a warning
