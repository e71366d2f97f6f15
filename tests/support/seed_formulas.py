"""The planar two-link arm as the lectures print it, at random values, and the evaluation of expressions there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynamis.scalar import directional, evaluate, symbol

NAMES = ("g", "a_1", "a_2", "l_1", "l_2", "m_1", "m_2", "I_1", "I_2")
PRECISION = 1e-12
SEEDS = range(4)


def symbols(name, n=2):
    """The vector of symbols name1 … namen."""
    return np.array([symbol(f"{name}{k + 1}") for k in range(n)], dtype=object)


def number(expression, values):
    """The numbers an expression takes where symbols, given by name, have these values."""
    return evaluate(expression, {symbol(name): value for name, value in values.items()})


def state_values(**vectors):
    """{"q1": …, "q2": …} of vectors given by the name of their symbols."""
    return {f"{name}{k + 1}": x for name, vector in vectors.items() for k, x in enumerate(vector)}


def along_motion(expression, q, v, a=None):
    """d/dt of an expression of q and v: the chain rule along q̇ = v, v̇ = a."""
    if a is None:
        return directional(expression, list(q), list(v))
    return directional(expression, [*q, *v], [*v, *a])


def close(value, expected, precision=PRECISION):
    """Equal up to rounding, measured by the largest entry (or by 1 where all are smaller)."""
    scale = np.max(np.abs(np.asarray(expected, dtype=float)), initial=1.0)
    np.testing.assert_allclose(np.asarray(value, dtype=float), expected, rtol=precision, atol=precision * scale)


def differs(value, expected):
    """Different by far more than rounding."""
    value, expected = np.asarray(value, dtype=float), np.asarray(expected, dtype=float)
    assert np.abs(value - expected).max() > 1e-3 * np.abs(expected).max()


@dataclass(frozen=True)
class PlanarArm:
    """The formulas of the planar 2R in Rocco's letters: l is where a link's centre of mass is, a where it ends."""

    g: float
    a_1: float
    a_2: float
    l_1: float
    l_2: float
    m_1: float
    m_2: float
    I_1: float
    I_2: float

    @property
    def values(self):
        return dict(vars(self))

    def number(self, expression, **vectors):
        return number(expression, self.values | state_values(**vectors))

    def h(self, q):
        return -self.m_2 * self.a_1 * self.l_2 * np.sin(q[1])

    def com_jacobians(self, q):
        """(J_P of link 1, J_P of link 2)."""
        s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q[0] + q[1]), np.cos(q[0] + q[1])
        a, x, y = self.a_1, self.l_1, self.l_2
        return (
            np.array([[-x * s1, 0], [x * c1, 0], [0, 0]]),
            np.array([[-a * s1 - y * s12, -y * s12], [a * c1 + y * c12, y * c12], [0, 0]]),
        )

    def mass_matrix(self, q):
        c2 = np.cos(q[1])
        b22 = self.m_2 * self.l_2**2 + self.I_2
        b12 = self.m_2 * (self.l_2**2 + self.a_1 * self.l_2 * c2) + self.I_2
        reach = self.a_1**2 + self.l_2**2 + 2 * self.a_1 * self.l_2 * c2
        b11 = self.m_1 * self.l_1**2 + self.I_1 + self.m_2 * reach + self.I_2
        return np.array([[b11, b12], [b12, b22]])

    def coriolis_matrix(self, q, v):
        h = self.h(q)
        return np.array([[h * v[1], h * (v[0] + v[1])], [-h * v[0], 0.0]])

    def mass_matrix_dot(self, q, v):
        h = self.h(q)
        return np.array([[2 * h * v[1], h * v[1]], [h * v[1], 0.0]])

    def gravity(self, q):
        outer = self.m_2 * self.g * self.l_2 * np.cos(q[0] + q[1])
        return np.array([(self.m_1 * self.l_1 + self.m_2 * self.a_1) * self.g * np.cos(q[0]) + outer, outer])

    def torque(self, q, v, a):
        """The equations of motion, written out."""
        g, c1, c2, s2, c12 = self.g, np.cos(q[0]), np.cos(q[1]), np.sin(q[1]), np.cos(q[0] + q[1])
        m, r, y = self.m_2, self.a_1, self.l_2
        couple = m * (y**2 + r * y * c2) + self.I_2
        first = (
            (self.m_1 * self.l_1**2 + self.I_1 + m * (r**2 + y**2 + 2 * r * y * c2) + self.I_2) * a[0]
            + couple * a[1]
            - 2 * m * r * y * s2 * v[0] * v[1]
            - m * r * y * s2 * v[1] ** 2
            + (self.m_1 * self.l_1 + m * r) * g * c1
            + m * g * y * c12
        )
        second = couple * a[0] + (m * y**2 + self.I_2) * a[1] + m * r * y * s2 * v[0] ** 2 + m * y * g * c12
        return np.array([first, second])

    @property
    def five_parameters(self):
        outer = self.m_2 * self.l_2
        return np.array([self.m_1 * self.l_1, self.I_1 + self.m_1 * self.l_1**2, self.m_2, outer, self.I_2 + outer * self.l_2])

    def five_column_regressor(self, q, v, a):
        g, r, c1, c2, s2, c12 = self.g, self.a_1, np.cos(q[0]), np.cos(q[1]), np.sin(q[1]), np.cos(q[0] + q[1])
        y14 = 2 * r * c2 * a[0] + r * c2 * a[1] - 2 * r * s2 * v[0] * v[1] - r * s2 * v[1] ** 2 + g * c12
        y24 = r * c2 * a[0] + r * s2 * v[0] ** 2 + g * c12
        both = a[0] + a[1]
        return np.array([[g * c1, a[0], r**2 * a[0] + r * g * c1, y14, both], [0, 0, 0, y24, both]])


# the arm of Melchiorri's figures and simulation
STUDY = PlanarArm(g=9.81, a_1=1.0, a_2=1.0, l_1=0.5, l_2=0.5, m_1=50.0, m_2=50.0, I_1=10.0, I_2=10.0)


def random_values(rng, names):
    """A positive value for each name."""
    return {name: float(rng.uniform(0.5, 2.0)) for name in names}


def planar_case(seed):
    """(arm, q, v, a): a planar 2R and a state, both random."""
    rng = np.random.default_rng(seed)
    return PlanarArm(**random_values(rng, NAMES)), *rng.uniform(-2.0, 2.0, (3, 2))
