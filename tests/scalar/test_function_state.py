"""Modes and integrals that functions keep for themselves are found wherever they are kept, also where a motion undoes them."""

import functools
import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.scalar import FunctionState

ARM = dy.load("planar_2r_melchiorri").replace(gravity=[0, 0, 0])
MODE = 1.0


class Relay:
    """Switches above 0.4 and below 0.2, and remembers which was last."""

    mode = 1.0

    def updated(self, x):
        if x > 0.4:
            self.mode = -1.0
        if x < 0.2:
            self.mode = 1.0
        return self.mode


RELAY = Relay()


def in_a_list():
    mode = [1.0]

    def law(t, q, v):
        if q[0] > 0.4:
            mode[0] = -1.0
        if q[0] < 0.2:
            mode[0] = 1.0
        return np.array([100.0 * mode[0], 0.0])

    return law


def in_a_closure():
    mode = 1.0

    def law(t, q, v):
        nonlocal mode
        mode = -1.0 if q[0] > 0.4 else 1.0 if q[0] < 0.2 else mode
        return np.array([100.0 * mode, 0.0])

    return law


def in_a_global():
    def law(t, q, v):
        global MODE
        MODE = -1.0 if q[0] > 0.4 else 1.0 if q[0] < 0.2 else MODE
        return np.array([100.0 * MODE, 0.0])

    return law


def in_a_default():
    def law(t, q, v, mode=[1.0]):  # noqa: B006 - as people write
        mode[0] = -1.0 if q[0] > 0.4 else 1.0 if q[0] < 0.2 else mode[0]
        return np.array([100.0 * mode[0], 0.0])

    return law


def in_an_attribute_of_the_function():
    def law(t, q, v):
        law.mode = -1.0 if q[0] > 0.4 else 1.0 if q[0] < 0.2 else law.mode
        return np.array([100.0 * law.mode, 0.0])

    law.mode = 1.0
    return law


def in_an_object():
    return lambda t, q, v: np.array([100.0 * RELAY.updated(q[0]), 0.0])


def in_a_function_that_is_called():
    return lambda t, q, v: np.array([100.0 * switched(q[0]), 0.0])


def switched(x):
    global MODE
    MODE = -1.0 if x > 0.4 else 1.0 if x < 0.2 else MODE
    return MODE


def in_an_argument_of_a_partial_function():
    return functools.partial(lambda relay, t, q, v: np.array([100.0 * relay.updated(q[0]), 0.0]), Relay())


def in_a_part_of_an_object():
    class Controller:
        def __init__(self):
            self.relay = Relay()

        def __call__(self, t, q, v):
            return np.array([100.0 * self.relay.updated(q[0]), 0.0])

    return Controller()


PLACES = (
    in_a_list, in_a_closure, in_a_global, in_a_default, in_an_attribute_of_the_function, in_an_object, in_a_part_of_an_object,
    in_a_function_that_is_called, in_an_argument_of_a_partial_function,
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=lambda f: f.__name__)
def test_a_mode_is_found(place):
    with pytest.raises(dy.InputError, match=r"(?i)it changes 'mode'"):
        dy.rollouts(ARM, 0.1, np.array([[0.3, 0.2]]), controller=place(), step=1e-3)
    with pytest.warns(dy.ModelWarning, match=r"(?i)changed its variable 'mode'"):
        dy.simulate(ARM, 2.0, [0.3, 0.2], controller=place())


def test_objects_of_packages_are_no_states():
    from scipy.interpolate import CubicSpline

    curve = CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dy.simulate(ARM, 0.1, controller=lambda t, q, v: curve(t) - q - v)
    assert FunctionState(lambda: curve).changed() == []
