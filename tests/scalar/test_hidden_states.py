"""Controllers that change variables of their own are refused where they would be recorded, and keep their variables."""

import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.scalar import HiddenStateError, call_with_symbols, symbol


class Integral:
    """A controller that adds up errors in its calls."""

    def __init__(self):
        self.sum = np.zeros(2)

    def __call__(self, t, q, v):
        self.sum = self.sum + 1e-3 * (0.5 - q)
        return 100.0 * (0.5 - q) - 20.0 * v + self.sum


def test_a_function_with_a_state_of_its_own_is_refused_and_keeps_its_state():
    arm, law = dy.load("planar_2r_melchiorri"), Integral()
    for sampled in (law, dy.Sampled(law, rate=1000.0)):
        with pytest.raises(HiddenStateError, match="state of its own"):
            dy.rollouts(arm, 0.01, np.zeros(2), controller=sampled)
    assert not law.sum.any()
    with pytest.raises(InputError, match=r"dynamis\.Sampled"):
        dy.simulate(arm, 0.01, controller=law)
    assert dy.simulate(arm, 0.01, controller=dy.Sampled(Integral(), rate=1000.0)).status == "completed"

    total = 0.0

    def counted(_t, q, _v):
        nonlocal total
        total = total + q[0]
        return np.array([total, 0.0])

    with pytest.raises(HiddenStateError):
        dy.rollouts(arm, 0.01, np.zeros(2), controller=counted)
    assert total == 0.0


class Latch:
    """A controller that remembers that a joint has passed a position, and how often it was called."""

    passed = False

    def __call__(self, t, q, v):
        if q[0] > 0.5:
            self.passed = True
        return -10.0 * v if self.passed else np.array([30.0, 0.0])


class Plant:
    """An object whose method is the controller."""

    last = 0.0

    def law(self, t, q, v):
        self.last = q[0]
        return self.damping * v

    damping = -10.0


def test_a_controller_that_changes_its_variables_is_refused_and_keeps_them():
    arm = dy.load("planar_2r_melchiorri").replace(gravity=(0, 0, 0))
    with pytest.raises(HiddenStateError, match="it changes 'passed'"):
        dy.rollouts(arm, 0.1, [0.49, 0.0], [1.0, 0.0], controller=Latch())
    latch, state = Latch(), Plant()
    with pytest.raises(HiddenStateError, match="it changes 'last'"):
        dy.rollouts(arm, 0.002, np.zeros(2), controller=state.law)
    assert state.last == 0.0
    with pytest.raises(InputError, match="passed"):
        call_with_symbols(latch, 0.0, np.array([symbol("a"), symbol("b")], dtype=object), np.zeros(2))
    assert latch.passed is False


MEMORY = {"sum": np.zeros(2), "mode": 0}
COUNT = [0.0]


def counting(_t, q, _v):
    COUNT[0] = COUNT[0] + 1.0
    return COUNT[0] * q


def summing(_t, q, _v):
    MEMORY["sum"] += 1e-3 * (0.3 - q)
    return 100.0 * MEMORY["sum"]


def switching(_t, q, _v):
    if MEMORY["mode"] == 0 and q[0] > 0.1:
        MEMORY["mode"] = 1
    return np.array([-50.0 if MEMORY["mode"] else 50.0, 0.0])


def random_torques(_t, q, _v):
    return 100.0 * np.random.randn(2) + 0.0 * q  # noqa: NPY002 - as users write it


@pytest.mark.parametrize("law", [summing, switching, counting, random_torques])
@pytest.mark.parametrize("sampled", [False, True])
def test_states_in_globals_and_containers_and_random_numbers_are_seen(law, sampled):
    arm = dy.load("planar_2r_melchiorri").replace(gravity=(0, 0, 0))
    controller = dy.Sampled(law, rate=1000.0) if sampled else law
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.PerformanceWarning)
        with pytest.raises(HiddenStateError, match="state of its own"):
            dy.rollouts(arm, 0.1, np.zeros((3, 2)), controller=controller)
    assert MEMORY["mode"] == COUNT[0] == 0
    assert not MEMORY["sum"].any()
    with pytest.raises(InputError):
        dy.control.write_c(arm, law, "nowhere")


def test_a_motion_with_a_mode_that_trial_steps_change_is_called_inaccurate():
    arm = dy.load("planar_2r_melchiorri").replace(gravity=(0, 0, 0))
    with pytest.warns(dy.ModelWarning, match=r"changed its variable 'MEMORY'.*Sampled"):
        dy.simulate(arm, 0.5, controller=switching)
    MEMORY["mode"] = 0
    log = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dy.simulate(arm, 0.1, controller=lambda t, q, v: log.append(t) or -v)
        dy.simulate(arm, 0.5, controller=dy.Sampled(switching, rate=1000.0))
    MEMORY["mode"] = 0
