r"""Whole answers: the formulas that lectures print, matrices in every layout, chains, definitions, documents."""

import numpy as np
import pytest
from answer_entries import nodes, vocabulary
from seed_formulas import close, number, planar_case, random_values, state_values

import dynamis as dy
from dynamis.classroom.answers import parse_answer
from dynamis.scalar import symbol

MELCHIORRI = {
    "a_C1": "l_1",
    "a_C2": "l_2",
    r"\tilde{I}_1": "I_1",
    r"\tilde{I}_2": "I_2",
    r"\tilde{l}_1": "I_1",
    r"\tilde{l}_2": "I_2",
}
TZAFESTAS = {"l_1": "a_1", "l_c1": "l_1", "l_c2": "l_2"}


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


@pytest.mark.parametrize(
    "text",
    [
        "[m_1*l_1^2+I_1+m_2*(a_1^2+l_2^2+2*a_1*l_2*c_2)+I_2 m_2*(l_2^2 + a_1*l_2*c_2)+I_2; "
        "m_2*(l_2^2+a_1*l_2*c_2) + I_2 m_2*l_2^2+I_2]",
        "M = [m_1*l_1^2 + I_1 + m_2*(a_1^2 + l_2^2 + 2*a_1*l_2*cos(q_2)) + I_2   m_2*(l_2^2+a_1*l_2*cos(q_2))+I_2;\n"
        "     m_2*(l_2^2+a_1*l_2*cos(q_2))+I_2   m_2*l_2^2+I_2];",
    ],
)
def test_columns_separated_by_blanks_are_read_as_a_matrix(text):
    verdict = dy.check_answer(dy.load("planar_2r").closed_form(), "mass-matrix", text)
    assert verdict.correct, verdict.report()
    assert len(verdict.findings) == 4


def test_a_signed_cell_after_a_blank_is_a_cell_of_its_own():
    form = dy.load("planar_2r").closed_form()
    wrong = dy.check_answer(form, "coriolis", "C = [-m_2*a_1*l_2*s_2*v_2 -m_2*a_1*l_2*s_2*(v_1 + v_2); m_2*a_1*l_2*s_2*v_1 0]",
                            parameters=dict(zip(("v_1", "v_2"), form.v, strict=True)))  # fmt: skip
    assert wrong.correct, wrong.report()


def test_blanks_that_may_be_products_are_not_taken_for_columns():
    form = dy.load("planar_2r").closed_form()
    vector = "[m_1 g l_1 c_1 + m_2 g (a_1 c_1 + l_2 c_12); m_2 g l_2 c_12]"
    assert dy.check_answer(form, "gravity", vector).correct
    with pytest.raises(dy.DynamisError, match=r"the whole matrix, its columns separated by commas: \[a, b; c, d\]"):
        dy.check_answer(form, "mass-matrix", "[m_1 l_1^2 I_2; m_2 l_2^2 I_2]")


G_2 = r"g_2 = m_2 g l_2 \cos(q_1 + q_2)"


@pytest.mark.parametrize("label", ["Solution:", "Part 2:", "1)", " a) "])
def test_labels_at_the_beginning_of_a_line_are_not_read(label):
    arm = dy.load("planar_2r").closed_form()
    assert dy.check_answer(arm, "gravity", f"{label} {G_2}").correct
    assert dy.check_answer(arm, "gravity", f"{label}\n{G_2}\n{label} M_{{22}} = I_2").correct


def test_a_bracket_that_ends_on_the_next_line_is_no_label():
    arm = dy.load("planar_2r").closed_form()
    assert not dy.check_answer(arm, "gravity", "g_2 = l_2 (1 +\n2) m_2 g c_{12}").correct


def test_the_number_of_a_parameter_is_not_read():
    arm = dy.load("planar_2r").closed_form()
    verdict = dy.check_answer(arm, "gravity", f"g = 9.81\n{G_2}")
    assert verdict.correct
    assert verdict.notes == ("not read (line 1): g = 9.81",)


def test_a_question_mark_is_an_entry_that_is_not_given():
    arm = dy.load("planar_2r").closed_form()
    verdict = dy.check_answer(arm, "mass-matrix", "M = [?, m_2 (l_2^2 + a_1 l_2 c_2) + I_2; ?, m_2 l_2^2 + I_2]")
    assert verdict.correct
    assert verdict.absent == ("M_11",)
    with pytest.raises(dy.FormatError, match=r"'\?' is not expected here"):
        dy.check_answer(arm, "mass-matrix", "M_{22} = m_2 ? l_2^2 + I_2")
