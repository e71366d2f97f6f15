"""Gears: there and back, power kept, and what cannot be a transmission."""

import numpy as np
import pytest

from dynamis.errors import InputError, NameLookupError
from dynamis.identification.transmission import Transmission

NAMES = ("one", "two", "three", "four", "five", "six")
RATIOS = [32.0, 32.0, 45.0, -48.0, 45.0, 32.0]
ZERO = [0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0]
TX40 = Transmission.of(RATIOS, [(5, 4, 32.0)], ZERO, names=NAMES)
RNG = np.random.default_rng(3)


def test_there_and_back():
    q, v, tau = RNG.normal(size=(3, 7, 6))
    assert np.allclose(TX40.position(TX40.motor_position(q)), q)
    assert np.allclose(TX40.velocity(TX40.motor_velocity(v)), v)
    assert np.allclose(TX40.torque(TX40.motor_torque(tau)), tau)


def test_power_is_neither_won_nor_lost():
    v_motor, tau_motor = RNG.normal(size=(2, 50, 6))
    at_joints = (TX40.torque(tau_motor) * TX40.velocity(v_motor)).sum(axis=-1)
    assert np.allclose(at_joints, (tau_motor * v_motor).sum(axis=-1), rtol=1e-12)


def test_velocity_is_the_derivative_of_position():
    a, b = RNG.normal(size=(2, 6))
    assert np.allclose(TX40.position(a + b) - TX40.position(a), TX40.velocity(b))


def test_the_coupled_wrist_of_the_tx40():
    motor = np.array([32.0, 0.0, 0.0, 0.0, 45.0, 32.0])
    assert np.allclose(TX40.position(motor), [1.0, -np.pi / 2, np.pi / 2, 0.0, 1.0, 0.0])
    assert np.allclose(TX40.torque([0, 0, 0, 0, 1.0, 1.0]), [0, 0, 0, 0, 77.0, 32.0])


def test_rotor_inertias_make_the_kinetic_energy_of_the_motors():
    J, v = RNG.uniform(1e-5, 1e-4, 6), RNG.normal(size=6)
    assert np.isclose(v @ TX40.reflected(J) @ v, J @ TX40.motor_velocity(v) ** 2)


def test_couplings_by_name_and_a_matrix_are_the_same():
    named = Transmission.of(RATIOS, [("six", "five", 32.0)], ZERO, names=NAMES)
    assert np.array_equal(named.R, TX40.R)
    assert np.array_equal(Transmission(TX40.R).R, TX40.R)
    assert np.array_equal(Transmission(RATIOS).R, np.diag(RATIOS))
    assert "motor 5 turns 32 with joint 4" in repr(named)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Transmission([[1.0, 2.0]]), "shape"),
        (lambda: Transmission([1.0, 0.0], names=("a", "b")), "no motor moves b"),
        (lambda: Transmission([[1.0, 1.0], [2.0, 2.0]], names=("a", "b")), "do not distinguish a, b"),
        (lambda: Transmission([[1.0, 1.0], [0.0, 0.0]]), "motor 1 moves no joint"),
        (lambda: Transmission([1.0, np.nan]), "non-finite"),
        (lambda: Transmission([1.0, 2.0], zero=[0.0]), "one position for each"),
        (lambda: Transmission([1.0, 2.0], names=("a",)), "names"),
        (lambda: Transmission.of([1.0, 2.0], [(0, 0, 1.0)]), "its own joint"),
        (lambda: Transmission.of([1.0, 2.0], [(2, 0, 1.0)]), "indexed from 0 to 1"),
        (lambda: Transmission.of([1.0, 2.0], [(1, 0)]), "a coupling must be"),
        (lambda: Transmission("ab"), "must be numeric"),
        (lambda: TX40.position(np.zeros(5)), "last axis"),
        (lambda: TX40.reflected(np.zeros(5)), "rotor_inertia"),
    ],
)
def test_what_is_no_transmission_is_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_an_unknown_name_lists_the_known():
    with pytest.raises(NameLookupError, match="five"):
        Transmission.of(RATIOS, [("fife", "six", 1.0)], names=NAMES)
