r"""Whole answers: the formulas that lectures print, matrices in every layout, chains, definitions, documents."""

import numpy as np
import pytest
from seed_formulas import NAMES, close, number, planar_case, random_values, state_values, symbols

import dynamis as dy
from dynamis.classroom.answers import Vocabulary, parse_answer
from dynamis.scalar import sin, symbol
from dynamis.scalar.graph import show

MELCHIORRI = {
    "a_C1": "l_1",
    "a_C2": "l_2",
    r"\tilde{I}_1": "I_1",
    r"\tilde{I}_2": "I_2",
    r"\tilde{l}_1": "I_1",
    r"\tilde{l}_2": "I_2",
}
TZAFESTAS = {"l_1": "a_1", "l_c1": "l_1", "l_c2": "l_2"}


def vocabulary(aliases=None, n=2, revolute=None, parameters=NAMES):
    q, v, a = (symbols(letter, n) for letter in "qva")
    return Vocabulary(q, v, a, revolute or (True,) * n, {name: symbol(name) for name in parameters}, aliases or {})


def nodes(entries, shape):
    """The entries of an answer as an array, zero where none is given."""
    array = np.zeros(shape, dtype=object)
    for index, located in entries.items():
        array[index] = located.node
    return array


def planar(text, aliases=None, seed=0):
    """(answer, numbers): an answer about the planar 2R, and the function that gives its entries' numbers at a random state."""
    answer = parse_answer(text, vocabulary(aliases), "answer.tex")
    arm, q, v, a = planar_case(seed)
    return answer, lambda letter, *shape: arm.number(nodes(answer.of(letter), shape), q=q, v=v, a=a)


ROCCO_INERTIA = r"""
$$b_{11} = m_1 l_1^2 + I_1 + m_2 (a_1^2 + l_2^2 + 2a_1 l_2 c_2) + I_2$$

$$b_{12} = b_{21} = m_2 (l_2^2 + a_1 l_2 c_2) + I_2$$

$$b_{22} = m_2 l_2^2 + I_2$$
"""
ROCCO_CHRISTOFFEL = r"""
$$c_{111} = \frac{1}{2} \frac{\partial b_{11}}{\partial q_1} = 0$$
$$c_{112} = c_{121} = \frac{1}{2} \frac{\partial b_{11}}{\partial q_2} = -m_2 a_1 l_2 s_2 = h \quad h = -m_2 a_1 l_2 s_2$$
$$c_{122} = \frac{\partial b_{12}}{\partial q_2} - \frac{1}{2} \frac{\partial b_{22}}{\partial q_1} = -m_2 a_1 l_2 s_2 = h$$
$$c_{211} = \frac{\partial b_{21}}{\partial q_1} - \frac{1}{2} \frac{\partial b_{11}}{\partial q_2} = m_2 a_1 l_2 s_2 = -h$$
$$c_{212} = c_{221} = \frac{1}{2} \frac{\partial b_{22}}{\partial q_1} = 0$$
$$c_{222} = \frac{1}{2} \frac{\partial b_{22}}{\partial q_2} = 0$$
"""
ROCCO_CORIOLIS = r"""$$C(\mathbf{q}, \dot{\mathbf{q}}) = \begin{bmatrix} h\dot{\vartheta}_2 & h(\dot{\vartheta}_1 + \dot{\vartheta}_2) \\ -h\dot{\vartheta}_1 & 0 \end{bmatrix} = \begin{bmatrix} -m_2 a_1 l_2 s_2 \dot{\vartheta}_2 & -m_2 a_1 l_2 s_2 (\dot{\vartheta}_1 + \dot{\vartheta}_2) \\ m_2 a_1 l_2 s_2 \dot{\vartheta}_1 & 0 \end{bmatrix}$$"""
ROCCO_SKEW = r"""$$\begin{aligned} N(\mathbf{q}, \dot{\mathbf{q}}) &= \dot{B}(\mathbf{q}) - 2C(\mathbf{q}, \dot{\mathbf{q}}) = \begin{bmatrix} 2h\dot{\vartheta}_2 & h\dot{\vartheta}_2 \\ h\dot{\vartheta}_2 & 0 \end{bmatrix} - 2 \begin{bmatrix} h\dot{\vartheta}_2 & h(\dot{\vartheta}_1 + \dot{\vartheta}_2) \\ -h\dot{\vartheta}_1 & 0 \end{bmatrix} = \\ &= \begin{bmatrix} 0 & -2h\dot{\vartheta}_1 - h\dot{\vartheta}_2 \\ 2h\dot{\vartheta}_1 + h\dot{\vartheta}_2 & 0 \end{bmatrix} = -N^T(\mathbf{q}, \dot{\mathbf{q}}) \end{aligned}$$"""
ROCCO_GRAVITY = (
    r"""$$\mathbf{g} = \begin{bmatrix} (m_1 l_1 + m_2 a_1) g c_1 + m_2 g l_2 c_{12} \\ m_2 g l_2 c_{12} \end{bmatrix}$$"""
)
ROCCO_MOTION = r"""
$$\begin{aligned} & \left(m_1 l_1^2 + I_1 + m_2 (a_1^2 + l_2^2 + 2a_1 l_2 c_2) + I_2 \right) \ddot{\theta}_1 + \left(m_2 (l_2^2 + a_1 l_2 c_2) + I_2 \right) \ddot{\theta}_2 + \\ & - 2m_2 a_1 l_2 s_2 \dot{\theta}_1 \dot{\theta}_2 - m_2 a_1 l_2 s_2 \dot{\theta}_2^2 + \\ & + (m_1 l_1 + m_2 a_1) g c_1 + m_2 g l_2 c_{12} = \tau_1 \end{aligned}$$

$$\begin{aligned} & \left(m_2 (l_2^2 + a_1 l_2 c_2) + I_2 \right) \ddot{\theta}_1 + \left(m_2 l_2^2 + I_2 \right) \ddot{\theta}_2 + \\ & + m_2 a_1 l_2 s_2 \dot{\theta}_1^2 + m_2 l_2 g c_{12} = \tau_2 \end{aligned}$$
"""
ROCCO_BACKWARD = r"""
$$\begin{aligned} \boldsymbol{\tau}_2 &= \boldsymbol{\mu}_2^{2T} \mathbf{R}_2^{1T} \mathbf{z}_0 = \\ &= (I_2 + m_2 (l_2^2 + a_1 l_2 c_2)) \ddot{\vartheta}_1 + (I_2 + m_2 l_2^2) \ddot{\vartheta}_2 + m_2 a_1 l_2 s_2 \dot{\vartheta}_1^2 + m_2 l_2 g c_{12} \end{aligned}$$
$$\boldsymbol{\tau}_1 = \boldsymbol{\mu}_1^{1T} \mathbf{R}_1^{0T} \mathbf{z}_0 =$$

$$= (I_1 + m_1 l_1^2 + I_2 + m_2 (a_1^2 + l_2^2 + 2a_1 l_2 c_2)) \ddot{\vartheta}_1 + (I_2 + m_2 (l_2^2 + a_1 l_2 c_2)) \ddot{\vartheta}_2 \\ - 2m_2 a_1 l_2 s_2 \dot{\vartheta}_1 \dot{\vartheta}_2 - m_2 a_1 l_2 s_2 \dot{\vartheta}_2^2 + (m_1 l_1 + m_2 a_1) g c_1 + m_2 l_2 g c_{12}$$
"""
ROCCO_MOMENT = r"""$$\boldsymbol{\mu}_1^1 = -\mathbf{f}_1^1 \times (\mathbf{r}_{0,1}^1 + \mathbf{r}_{1,C_1}^1) =$$

$$= \begin{bmatrix} * \\ * \\ (I_1 + m_2 a_1^2 + m_1 l_1^2 + m_2 a_1 l_2 c_2) \ddot{\vartheta}_1 + (I_2 + m_2 a_1 l_2 c_2 + m_2 l_2^2) (\ddot{\vartheta}_1 + \ddot{\vartheta}_2) + \\ + m_2 a_1 l_2 s_2 \dot{\vartheta}_1^2 - m_2 a_1 l_2 s_2 (\dot{\vartheta}_1 + \dot{\vartheta}_2)^2 + (m_1 l_1 + m_2 a_1) g c_1 + m_2 l_2 g c_{12} \end{bmatrix}$$"""
ROCCO_REGRESSOR = r"""
$$Y(q, \dot{q}, \ddot{q}) = \begin{bmatrix} y_{11} & y_{12} & y_{13} & y_{14} & y_{15} \\ 0 & 0 & 0 & y_{24} & y_{25} \end{bmatrix}$$
$$y_{11} = gc_1$$
$$y_{12} = \ddot{\vartheta}_1$$
$$y_{13} = a_1^2 \ddot{\vartheta}_1 + a_1 gc_1$$
$$y_{14} = 2a_1 c_2 \ddot{\vartheta}_1 + a_1 c_2 \ddot{\vartheta}_2 - 2a_1 s_2 \dot{\vartheta}_1 \dot{\vartheta}_2 - a_1 s_2 \dot{\vartheta}_2^2 + gc_{12}$$
$$y_{15} = \ddot{\vartheta}_1 + \ddot{\vartheta}_2$$
$$y_{24} = a_1 c_2 \ddot{\vartheta}_1 + a_1 s_2 \dot{\vartheta}_1^2 + gc_{12}$$
$$y_{25} = \ddot{\vartheta}_1 + \ddot{\vartheta}_2$$
"""
ROCCO_JACOBIANS = r"""$$\mathbf{J}_P^{(l_1)} = \begin{bmatrix} -l_1 s_1 & 0 \\ l_1 c_1 & 0 \\ 0 & 0 \end{bmatrix} \quad \mathbf{J}_P^{(l_2)} = \begin{bmatrix} -a_1 s_1 - l_2 s_{12} & -l_2 s_{12} \\ a_1 c_1 + l_2 c_{12} & l_2 c_{12} \\ 0 & 0 \end{bmatrix}$$"""

MELCHIORRI_INERTIA = r"""$$\mathbf{M}(\mathbf{q}) = \begin{bmatrix} m_1 a_{C1}^2 + m_2 (a_1^2 + a_{C2}^2 + 2a_1 a_{C2} C_2) + \tilde{I}_1 + \tilde{I}_2 & m_2 (a_{C2}^2 + a_1 a_{C2} C_2) + \tilde{I}_2 \\ m_2 (a_{C2}^2 + a_1 a_{C2} C_2) + \tilde{I}_2 & m_2 a_{C2}^2 + \tilde{I}_2 \end{bmatrix}$$"""
MELCHIORRI_BIAS = r"""$$\mathbf{C}(\mathbf{q},\dot{\mathbf{q}})\dot{\mathbf{q}} = -m_2 a_1 a_{C2} S_2 \left[ \begin{array}{c} 2\dot{\theta}_1 \dot{\theta}_2 + \dot{\theta}_2^2 \\ -\dot{\theta}_1^2 \end{array} \right], \qquad \mathbf{g}(\mathbf{q}) = \begin{bmatrix} (m_1 a_{C1} + m_2 a_1) g C_1 + m_2 g a_{C2} C_{12} \\ m_2 g a_{C2} C_{12} \end{bmatrix}$$"""
MELCHIORRI_TORQUES = r"""
$$\tau_{1} = [m_{1}a_{C1}^{2} + \tilde{l}_{1} + m_{2}(a_{1}^{2} + a_{C2}^{2} + 2a_{1}a_{C2}C_{2}) + \tilde{l}_{2}]\ddot{\theta}_{1} + + [m_{2}(a_{C2}^{2} + a_{1}a_{C2}C_{2}) + \tilde{l}_{2}]\ddot{\theta}_{2} - m_{2}a_{1}a_{C2}S_{2}(2\dot{\theta}_{1}\dot{\theta}_{2} + \dot{\theta}_{2}^{2}) + + m_{1}ga_{C1}C_{1} + m_{2}g(a_{1}C_{1} + a_{C2}C_{12})$$

$$\tau_2 = [m_2(a_{C2}^2 + a_1 a_{C2} C_2) + \tilde{l}_2] \ddot{\theta}_1 + (m_2 a_{C2}^2 + \tilde{l}_2) \ddot{\theta}_2 + m_2 a_1 a_{C2} S_2 \dot{\theta}_1^2 + m_2 g a_{C2} C_{12}$$
"""
MELCHIORRI_SPLIT = r"""$$\begin{split} [m_{1}a_{C1}^{2} + m_{2}(a_{1}^{2} + a_{C2}^{2} + 2a_{1}a_{C2}C_{2}) + \tilde{l}_{1} + \tilde{l}_{2}]\ddot{\theta}_{1} + [m_{2}(a_{C2}^{2} + a_{1}a_{C2}C_{2}) + \tilde{l}_{2}]\ddot{\theta}_{2} \\ - m_{2}a_{1}a_{C2}S_{2}\dot{\theta}_{2}^{2} - 2m_{2}a_{1}a_{C2}S_{2}\dot{\theta}_{1}\dot{\theta}_{2} \\ + (m_{1}a_{C1} + m_{2}a_{1})gC_{1} + m_{2}ga_{C2}C_{12} &= \tau_{1} \\ [m_{2}(a_{C2}^{2} + a_{1}a_{C2}C_{2}) + \tilde{l}_{2}]\ddot{\theta}_{1} + [m_{2}a_{C2}^{2} + \tilde{l}_{2}]\ddot{\theta}_{2} \\ + m_{2}a_{1}a_{C2}S_{2}\dot{\theta}_{1}^{2} \\ + m_{2}ga_{C2}C_{12} &= \tau_{2} \end{split}$$"""
MELCHIORRI_BY_ENTRIES = r"""
$$M_{11} = m_1 a_{C1}^2 + m_2 (a_1^2 + a_{C2}^2 + 2a_1 a_{C2} C_2) + \tilde{I}_1 + \tilde{I}_2$$
$$M_{12} = M_{21} = m_2 (a_{C2}^2 + a_1 a_{C2} C_2) + \tilde{I}_2$$
$$M_{22} = m_2 a_{C2}^2 + \tilde{I}_2$$
$$c_{121} = c_{211} = \frac{1}{2} \frac{\partial M_{11}}{\partial q_2} = -m_2 a_1 a_{C2} S_2 = h$$
$$c_{221} = \frac{\partial M_{12}}{\partial q_2} - \frac{1}{2} \frac{\partial M_{22}}{\partial q_1} = h$$
$$c_{112} = \frac{\partial M_{21}}{\partial q_1} - \frac{1}{2} \frac{\partial M_{11}}{\partial q_2} = -h$$
$$g_1 = \frac{\partial P}{\partial \theta_1} = (m_1 a_{C1} + m_2 a_1) g C_1 + m_2 g a_{C2} C_{12}$$
$$g_2 = \frac{\partial P}{\partial \theta_2} = m_2 g a_{C2} C_{12}$$
$$M_{11}\ddot{\theta}_1 + M_{12}\ddot{\theta}_2 + c_{121}\dot{\theta}_1\dot{\theta}_2 + c_{211}\dot{\theta}_2\dot{\theta}_1 + c_{221}\dot{\theta}_2^2 + g_1 = \tau_1$$
$$M_{21}\ddot{\theta}_1 + M_{22}\ddot{\theta}_2 + c_{112}\dot{\theta}_1^2 + g_2 = \tau_2$$
"""
MELCHIORRI_CODE = r"""
% Kinematic functions
s1 = sin(q1); s2 = sin(q2); s12 = sin(q1+q2);
c1 = cos(q1); c2 = cos(q2); c12 = cos(q1+q2); dq12 = dq1 + dq2;
%%%%% Elements of the Inertia Matrix M
M11 = I1z+I2z+Lg1^2*m1+m2*(L1^2+Lg2^2+2*L1*Lg2*c2);
M12 = I2z+m2*(Lg2^2+L1*Lg2*c2);
M22 = I2z+Lg2^2*m2;
M = [M11, M12; M12, M22];
%%%%% Coriolis and centrifugal elements
C11 = -(L1*dq2*s2*(Lg2*m2)); C12 = -(L1*dq12*s2*(Lg2*m2));
C21 = m2*L1*Lg2*s2*dq1;                              C22 = 0;
C = [C11, C12; C21, C22];
%%%%% Gravity :
g1 = m1*Lg1*c1+m2*(Lg2*c12 + L1*c1); g2 = m2*Lg2*c12;
G = g*[g1; g2];
"""
CODE = {"I1z": "I_1", "I2z": "I_2", "Lg1": "l_1", "Lg2": "l_2", "L1": "a_1"}

TZAFESTAS_MODEL = r"""$$\left\{ \begin{array}{l} D_{11} = I_1 + m_1 l_{c1}^2 + I_2 + m_2 (l_1^2 + l_{c2}^2 + 2l_1 l_{c2} c_2) \\ D_{12} = D_{21} = I_2 + m_2 (l_{c2}^2 + l_1 l_{c2} c_2) \\ D_{22} = I_2 + m_2 l_{c2}^2 \\ h_{122} = h_{212} = -h_{211} = -m_2 l_1 l_{c2} s_2 \\ g_1 = m_1 g l_{c1} + m_2 g (l_1 c_1 + l_{c2} c_{12}) \\ g_2 = m_2 g (l_{c2} c_{12}) \end{array} \right.$$"""


@pytest.mark.parametrize(
    ("letter", "text", "aliases"),
    [("b", ROCCO_INERTIA, None), ("M", MELCHIORRI_INERTIA, MELCHIORRI), ("M", MELCHIORRI_BY_ENTRIES, MELCHIORRI), ("M", MELCHIORRI_CODE, CODE), ("D", TZAFESTAS_MODEL, TZAFESTAS)],
)  # fmt: skip
def test_the_inertia_matrix_of_the_planar_2r_in_every_notation(letter, text, aliases):
    answer, numbers = planar(text, aliases)
    arm, q, _, _ = planar_case(0)
    M = arm.mass_matrix(q)
    if (1, 0) not in answer.of(letter):
        M[1, 0] = 0.0  # only what is written is given
    close(numbers(letter, 2, 2), M)


def test_christoffel_symbols_keep_both_of_two_expressions():
    answer, numbers = planar(ROCCO_CHRISTOFFEL)
    arm, q, _, _ = planar_case(0)
    h = arm.h(q)
    close(numbers("c", 2, 2, 2), [[[0, h], [h, h]], [[-h, 0], [0, 0]]])
    assert answer.definitions["h"].also == ()
    wrong, _ = planar(ROCCO_CHRISTOFFEL.replace("= m_2 a_1 l_2 s_2 = -h", "= m_2 a_1 l_2 s_2 = h"))
    entry = wrong.of("c")[1, 0, 0]
    assert entry.also == (-entry.node,)
    assert entry.line == 5


def test_the_coriolis_matrix_and_its_skew_symmetric_partner():
    answer, numbers = planar(ROCCO_CHRISTOFFEL + ROCCO_CORIOLIS + ROCCO_SKEW)
    arm, q, v, _ = planar_case(0)
    close(numbers("C", 2, 2), arm.coriolis_matrix(q, v))
    close(numbers("N", 2, 2), arm.mass_matrix_dot(q, v) - 2 * arm.coriolis_matrix(q, v))
    assert len(answer.of("N")[0, 1].also) == 1


@pytest.mark.parametrize(
    ("text", "aliases"), [(ROCCO_GRAVITY, None), (MELCHIORRI_BIAS, MELCHIORRI), (MELCHIORRI_BY_ENTRIES, MELCHIORRI)]
)
def test_gravity_of_the_planar_2r(text, aliases):
    _, numbers = planar(text, aliases)
    arm, q, _, _ = planar_case(0)
    close(numbers("g", 2), arm.gravity(q))


def test_code_reads_like_a_formula():
    answer, numbers = planar(MELCHIORRI_CODE, CODE)
    arm, q, v, _ = planar_case(0)
    close(numbers("G", 2), arm.gravity(q))
    close(numbers("C", 2, 2), arm.coriolis_matrix(q, v))
    assert "s" not in answer.letters  # s1 = sin(q1) only explains a shorthand
    assert answer.of("dq")[0, 1].node is symbol("v1") + symbol("v2")


def test_a_scalar_times_a_vector():
    _, numbers = planar(MELCHIORRI_BIAS, MELCHIORRI)
    arm, q, v, _ = planar_case(0)
    close(numbers("C q'", 2), arm.coriolis_matrix(q, v) @ v)


@pytest.mark.parametrize(
    ("text", "aliases"),
    [(ROCCO_MOTION, None), (ROCCO_BACKWARD, None), (MELCHIORRI_TORQUES, MELCHIORRI), (MELCHIORRI_SPLIT, MELCHIORRI), (MELCHIORRI_BY_ENTRIES, MELCHIORRI)],
)  # fmt: skip
def test_the_equations_of_motion_with_the_torque_on_either_side(text, aliases):
    _, numbers = planar(text, aliases)
    arm, q, v, a = planar_case(0)
    close(numbers("tau", 2), arm.torque(q, v, a))


def test_an_entry_left_open_is_absent_and_a_cell_can_go_on_in_the_next_line():
    answer, numbers = planar(ROCCO_MOMENT)
    arm, q, v, a = planar_case(0)
    assert set(answer.of("mu1^1")) == {(2,)}
    close(numbers("mu1^1", 3)[2], arm.torque(q, v, a)[0])


def test_a_matrix_can_name_entries_defined_elsewhere():
    answer, numbers = planar(ROCCO_REGRESSOR)
    close(numbers("Y", 2, 5), planar_case(0)[0].five_column_regressor(*planar_case(0)[1:]))
    assert answer.letters == ("Y", "y")
    _, numbers = planar(ROCCO_INERTIA + r"$$\mathbf{B}(\mathbf{q}) = m_1 \mathbf{J}_P^{(l_1)T} \mathbf{J}_P^{(l_1)} = \begin{bmatrix} b_{11}(\vartheta) & b_{12}(\vartheta) \\ b_{21}(\vartheta) & b_{22} \end{bmatrix}$$")  # fmt: skip
    close(numbers("B", 2, 2), planar_case(0)[0].mass_matrix(planar_case(0)[1]))


def test_jacobians_keep_their_upper_index():
    _, numbers = planar(ROCCO_JACOBIANS)
    arm, q, _, _ = planar_case(0)
    for link, J in zip((1, 2), arm.com_jacobians(q), strict=True):
        close(numbers(f"JP^(l_{link})", 3, 2), J)


def test_every_member_of_a_chain_gets_its_sign():
    answer, numbers = planar(TZAFESTAS_MODEL, TZAFESTAS)
    arm, q, _, _ = planar_case(0)
    h = arm.h(q)
    close(numbers("h", 2, 2, 2), [[[0, 0], [0, h]], [[-h, h], [0, 0]]])
    assert answer.letters == ("D", "h", "g")


PRP = r"""$$\boldsymbol{B}(q_2, q_3) = \begin{pmatrix} m_1 + m_2 + m_3 & (m_2 d_{c2} + m_3 (q_3 - d_{c3})) \cos q_2 & m_3 \sin q_2 \\ (m_2 d_{c2} + m_3 (q_3 - d_{c3})) \cos q_2 & I_2 + m_2 d_{c2}^2 + I_3 + m_3 (q_3 - d_{c3})^2 & 0 \\ m_3 \sin q_2 & 0 & m_3 \end{pmatrix}.$$"""
PRP_ENERGY = r"""
$$T_{1} = \frac{1}{2}m_{1}\dot{q}_{1}^{2},$$
$$T_{2} = \frac{1}{2}I_{2}\dot{q}_{2}^{2} + \frac{1}{2}m_{2}\|\boldsymbol{v}_{c2}\|^{2}$$
$$= \frac{1}{2}I_{2}\dot{q}_{2}^{2} + \frac{1}{2}m_{2}\left(\dot{q}_{1}^{2} + d_{c2}^{2}\dot{q}_{2}^{2} + 2d_{c2}\cos q_{2}\,\dot{q}_{1}\dot{q}_{2}\right),$$
$$T_{3} = \frac{1}{2}I_{3}\dot{q}_{2}^{2} + \frac{1}{2}m_{3}\|\boldsymbol{v}_{c3}\|^{2}$$
$$= \frac{1}{2}I_{3}\dot{q}_{2}^{2} + \frac{1}{2}m_{3}\left(\dot{q}_{1}^{2} + (q_{3} - d_{c3})^{2}\dot{q}_{2}^{2} + \dot{q}_{3}^{2} + 2(q_{3} - d_{c3})\cos q_{2}\,\dot{q}_{1}\dot{q}_{2} + 2\sin q_{2}\,\dot{q}_{1}\dot{q}_{3}\right).$$
"""


def test_the_inertia_and_the_energy_of_the_prp_robot():
    rng = np.random.default_rng(1)
    names = ("m_1", "m_2", "m_3", "I_1", "I_2", "I_3", "d_c2", "d_c3")
    k = random_values(rng, names)
    q, v = rng.uniform(-2, 2, (2, 3))
    answer = parse_answer(PRP + PRP_ENERGY, vocabulary(None, 3, (False, True, False), names))
    values = k | state_values(q=q, v=v)
    reach, c, s = q[2] - k["d_c3"], np.cos(q[1]), np.sin(q[1])
    b12 = (k["m_2"] * k["d_c2"] + k["m_3"] * reach) * c
    b22 = k["I_2"] + k["m_2"] * k["d_c2"] ** 2 + k["I_3"] + k["m_3"] * reach**2
    B = np.array([[k["m_1"] + k["m_2"] + k["m_3"], b12, k["m_3"] * s], [b12, b22, 0], [k["m_3"] * s, 0, k["m_3"]]])
    close(number(nodes(answer.of("B"), (3, 3)), values), B)
    close(sum(number(nodes(answer.of("T"), (3,)), values)), 0.5 * v @ B @ v)


def test_the_pendulums_of_both_lectures():
    names = vocabulary(None, 1, (True,), ("m", "g", "l", "L", "I", "I_m", "d"))
    k = random_values(np.random.default_rng(2), ("m", "g", "l", "L", "I", "I_m", "d"))
    values = k | {"q1": 0.3, "v1": -1.2, "a1": 0.8}
    vertical = parse_answer(r"$$I\ddot{\theta} + d\dot{\theta} + mgL\sin\theta = \tau$$", names).of("tau")[0,].node
    close(number(vertical, values), k["I"] * 0.8 - k["d"] * 1.2 + k["m"] * k["g"] * k["L"] * np.sin(0.3))
    horizontal = parse_answer(r"$$(I + I_m) \ddot{\vartheta} + mgl \cos \vartheta = \tau$$", names).of("tau")[0,].node
    close(number(horizontal, values), (k["I"] + k["I_m"]) * 0.8 + k["m"] * k["g"] * k["l"] * np.cos(0.3))
    energy = r"U = -m\mathbf{g}_0^T \mathbf{p}_l = -m \begin{bmatrix} 0 & -g \end{bmatrix} \begin{bmatrix} l \cos \vartheta \\ l \sin \vartheta \end{bmatrix}"
    close(number(parse_answer(energy, names).of("U")[()].node, values), k["m"] * k["g"] * k["l"] * np.sin(0.3))


def test_the_cartesian_robot():
    names = vocabulary(None, 2, (False, False), ("m_1", "m_2", "g"))
    text = r"""
    $$\mathbf{B} = m_1 \mathbf{J}_P^{(l_1)T} \mathbf{J}_P^{(l_1)} + m_2 \mathbf{J}_P^{(l_2)T} \mathbf{J}_P^{(l_2)} = \begin{bmatrix} m_1 + m_2 & 0 \\ 0 & m_2 \end{bmatrix}$$
    $$\mathbf{g} = \begin{bmatrix} (m_1 + m_2)g \\ 0 \end{bmatrix}$$
    $$(m_1 + m_2)\ddot{d}_1 + (m_1 + m_2)g = f_1$$
    $$m_2\ddot{d}_2 = f_2$$
    """
    answer = parse_answer(text, names)
    m, values = symbol("m_1") + symbol("m_2"), {"m_1": 1.5, "m_2": 0.7, "g": 9.81, "a1": 2.0, "a2": 3.0}
    assert answer.of("B")[0, 0].node is m
    assert answer.of("B")[0, 1].node == 0.0
    close(number(nodes(answer.of("g"), (2,)), values), [2.2 * 9.81, 0])
    close(number(nodes(answer.of("f"), (2,)), values), [2.2 * (2.0 + 9.81), 2.1])


LAYOUTS = [
    r"M = \begin{bmatrix} m_1 & m_2 \\ a_1 & 0 \end{bmatrix}", r"M = \begin{pmatrix} m_1 & m_2 \\ a_1 & 0 \\ \end{pmatrix}", "M = [m_1, m_2; a_1, 0]", "M = [[m_1, m_2], [a_1, 0]]", "M(q) = [m_1, m_2\n a_1, 0]",
    "M = [[m_1, m_2],\n     [a_1, 0]]", "M =\n[m_1, m_2;\n a_1, 0];", r"\mathbf{M}(\mathbf{q}) = \left[\begin{array}{cc} m_1 & m_2 \\[2pt] a_1 & 0 \end{array}\right]", r"\[ M = \left(\begin{matrix} m_1 & m_2 \\ a_1 & 0 \end{matrix}\right) \]",
    r"M = \begin{vmatrix} m_1 & m_2 \\ a_1 & 0 \end{vmatrix}", "M_{11} = m_1\nM_{12} = m_2\nM_{21} = a_1\nM_{22} = 0", "M11 = m1, M12 = m2, M21 = a1, M22 = 0", "M(1,1) = m_1; M(1,2) = m_2; M(2,1) = a_1; M(2,2) = 0", "M_{1,1} = m_1\nM_{1,2} = m_2 # remark\nM_{2,1} = a_1\nM_{2,2} = 0",
    r"\begin{align} M_{11} &= m_1 \\ M_{12} &= m_2 \\ M_{21} &= a_1 \\ M_{22} &= 0 \end{align}", r"\begin{cases} M_{11} = m_1 \\ M_{12} = m_2 \\ M_{21} = a_1 \\ M_{22} = 0 \end{cases}", "$M_{11} = m_1$ $M_{12} = m_2$\n$M_{21} = a_1$, $M_{22} = 0$.",
    r"$$M_{11} = m_1 \quad M_{12} = m_2 \qquad M_{21} = a_1, \; M_{22} = 0$$", "M = [m_1 \\quad m_2; a_1 \\quad 0]", "M = 2*[m_1/2, m_2/2; a_1/2, 0]", "M = [m_1, a_1; m_2, 0]^T", "M_{11}(q_2) = m_1\nM_{12}(q) = m_2\nM_{21} = M_{12} a_1/m_2 \nM_{22} = 0",
    "\\documentclass{article}\\begin{document}\nThe matrix, of size 2, is:\n\\begin{equation*}\nM = \\begin{bmatrix} m_1 & m_2 \\\\\n a_1 & 0 \\end{bmatrix}\n\\end{equation*}\nas was to be shown.\\end{document}",
]  # fmt: skip


@pytest.mark.parametrize("text", LAYOUTS)
def test_every_layout_gives_the_same_matrix(text):
    answer = parse_answer(text, vocabulary())
    values = {name: 1.0 + k for k, name in enumerate(NAMES)}
    assert answer.letter == "M"
    assert set(answer.of("M")) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    close(number(nodes(answer.of("M"), (2, 2)), values), [[values["m_1"], values["m_2"]], [values["a_1"], 0]])


@pytest.mark.parametrize(
    "text",
    [
        r"g = \begin{bmatrix} m_1 \\ m_2 \end{bmatrix}",
        "g = [m_1; m_2]",
        "g = [m_1, m_2]",
        "g = [m_1, m_2]^T",
        r"g = [m_1 \quad m_2]^{T}",
        "g_1 = m_1\ng_2 = m_2",
    ],
)
def test_every_layout_gives_the_same_vector(text):
    entries = parse_answer(text, vocabulary()).of("g")
    assert {k: x.node for k, x in entries.items()} == {(0,): symbol("m_1"), (1,): symbol("m_2")}


def test_a_line_that_ends_or_begins_with_an_operator_goes_on():
    text = "M_{11} = m_1 +\n  m_2\n  + l_1 *\n\n a_1\nM_{12} =\n m_2\nM_{13} = (m_1\n + a_1)"
    entries = parse_answer(text, vocabulary()).of("M")
    assert entries[0, 0].node is symbol("m_1") + symbol("m_2") + symbol("l_1") * symbol("a_1")
    assert entries[0, 1].node is symbol("m_2")
    assert (entries[0, 1].line, entries[0, 2].line) == (6, 8)
    assert entries[0, 2].text == "M_{13} = (m_1 + a_1)"


def test_an_entry_of_a_matrix_knows_its_own_line_and_column():
    entry = parse_answer("M = [m_1, m_2;\n     a_1, l_1 + l_2]", vocabulary()).of("M")[1, 1]
    assert (entry.line, entry.column, entry.text) == (2, 11, "l_1 + l_2")


def test_definitions_can_come_before_or_after_and_hold_one_another():
    answer = parse_answer("M_{11} = h k_a\nh = 2 k_a\nk_a = m_1 s_2\nh(q_2) = 2 k_a", vocabulary())
    k = symbol("m_1") * sin(symbol("q2"))
    assert answer.definitions["ka"].node is k
    assert answer.definitions["h"].node is 2.0 * k
    assert answer.of("h")[()].node is 2.0 * k
    close(number(answer.of("M")[0, 0].node, {"m_1": 1.5, "q2": 0.3}), 2 * (1.5 * np.sin(0.3)) ** 2)


def test_what_is_said_twice_is_kept_to_be_compared():
    entry = parse_answer("M = [m_1, 0; 0, m_2]\nM_{11} = m_2\nM_{11} = m_1", vocabulary()).of("M")[0, 0]
    assert entry.node is symbol("m_1")
    assert entry.also == (symbol("m_2"),)
    assert entry.line == 1


def test_general_equations_and_steps_are_skipped_by_name():
    text = r"""B(q)\ddot{q} + C(q,\dot{q})\dot{q} + g(q) = \tau
    \frac{d}{dt} \frac{\partial L}{\partial \dot{q}_1} = m_1
    \tau = Y(q, \dot{q}, \ddot{q}) \pi
    h_{ijk} = \frac{\partial b_{ij}}{\partial q_k} - \frac{1}{2} \sum_{i=1}^n b_{jk}
    M_{11} = m_1"""
    answer = parse_answer(text, vocabulary())
    assert answer.letters == ("M",)
    assert [line for line, _ in answer.skipped] == [1, 2, 3, 4]
    assert answer.skipped[2][1] == r"\tau = Y(q, \dot{q}, \ddot{q}) \pi"


def test_an_answer_without_a_letter_is_found_under_the_empty_one():
    assert parse_answer("m_1 + m_2", vocabulary()).of("")[()].node is symbol("m_1") + symbol("m_2")
    assert parse_answer("[m_1, 0; 0, m_2]", vocabulary()).of("")[1, 1].node is symbol("m_2")


def test_an_unknown_letter_lists_those_there_are():
    with pytest.raises(dy.NameLookupError, match="no letter named 'B'; there are: 'M', 'h'"):
        parse_answer("M_{11} = h\nh = m_1", vocabulary()).of("B")


REFUSED = {
    "x = y\ny = x": (2, 5, "'x' is defined by itself", "other names"),
    "M = [M_{11}, 0; 0, 1]": (1, 6, "'M11' has no value", "define it: M11"),
    "m_1 = 5": (1, 1, "'m_1' is a name of the robot", "remove the line"),
    "q_1 = m_1": (1, 1, "'q_1' is a name of the robot", "remove the line"),
    "M_{11} = m_1\nthe same m_2": (2, 1, "no quantity named 'the'", "define it"),
    "M_{11} = m_1\nm_1 m_2": (2, 1, "a line that is neither", "begin it with an operator"),
    "m_1 + m_2 = a_1 + l_1": (1, 1, "an equation that defines no entry", "alone on one side"),
    "g_1 = m_1 \\cos q": (1, 16, "no quantity named 'q'", "requires an index"),
    "M = [1, 2; 3, 4] = [1, 2]": (1, 1, "matrices of different sizes", "same size"),
    r"C_{12} = m_1" + "\n" + r"g_1 = m_2 C_{12}": (2, 11, "'C12' can be cos(q1 + q2) or the entry defined in line 1", "another letter"),
    "M_{11} = m_1,5": (1, 13, "a comma inside a formula", "decimal point"),
    r"M = \begin{bmatrix} 1,5 \\ 2 \end{bmatrix}": (1, 22, "a comma inside a formula", "decimal point"),
    r"M = (\begin{align} a &= b \end{align})": (1, 6, "equations inside a bracket", "outside"),
    "": (1, 1, "no answer in this text", "M_{11} = …"),
    "% only a remark": (1, 1, "no answer in this text", "M_{11} = …"),
    "M_{11} =": (1, 8, "there is nothing after this =", "write the expression"),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_answer_is_refused_with_its_place_and_a_cure(text):
    line, column, found, cure = REFUSED[text]
    with pytest.raises(dy.FormatError) as caught:
        parse_answer(text, vocabulary(), "answer.tex")
    first = str(caught.value).split("\n", 1)[0]
    assert first.startswith(f"answer.tex:{line}:{column}: error: ")
    assert found in first
    assert cure in first.partition("To repair: ")[2]


@pytest.mark.parametrize(
    "text",
    [
        "diag(m_1, m_2)", r"\operatorname{diag}(m_1, m_2)", r"\mathrm{diag}\left(m_1,\, m_2\right)", r"\text{diag}\{m_1, m_2\}",
        "diag([m_1, m_2])", r"\diag(m_1, m_2)", "[m_1, 0; 0, 0] + diag(0, m_2)",
    ],
)  # fmt: skip
def test_a_diagonal_matrix_is_given_by_diag(text):
    found = parse_answer(f"M = {text}", vocabulary()).of("M")
    m_1, m_2 = symbol("m_1"), symbol("m_2")
    assert [found[0, 0].node, found[1, 1].node] == [m_1, m_2]
    assert found[0, 1].node == found[1, 0].node == 0


def test_diag_may_be_used_as_a_factor_of_a_vector():
    found = parse_answer(r"g = \operatorname{diag}(m_1, m_2) [l_1; l_2]", vocabulary()).of("g")
    assert [set(show(found[k].node).split("*")) for k in sorted(found)] == [{"m_1", "l_1"}, {"m_2", "l_2"}]
