"""Every row of docs/coming-from.md: our side runs, and equals the other library's where that is installed.

Both sides are those of a robot with friction and springs, or without them where the remark says that only ours has them.
"""

import re
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dynamis as dy

PAGE = Path(__file__).parents[1] / "docs" / "coming-from.md"
INSTALLED = {"Pinocchio": "pinocchio", "MuJoCo": "mujoco"}
NEEDED = {"CasADi with Pinocchio or adam": "casadi"}
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = {part.split("\n", 1)[0]: part for part in TEXT.split("\n## ")[1:]}
ONLY_OURS = "springs here"
PHYSICS = {"viscous": 0.7, "coulomb": 0.4, "stiffness": 3.0, "rest": 0.2}


def rows():
    for title, part in SECTIONS.items():
        for theirs, ours, remark in re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|(.*)\|$", part, flags=re.M):
            yield pytest.param(title, theirs, ours, ONLY_OURS in remark, id=f"{title.split()[0]}-{theirs[:40]}")


@pytest.fixture(scope="module")
def names():
    """The names of the first block, and for each installed library those of its own; the robot has ``PHYSICS`` or nothing."""

    @cache
    def of(title, frictionless=False):
        own = {}
        exec(re.search(r"```python\n(.*?)```", TEXT, flags=re.S)[1], own)
        physics = dict.fromkeys(PHYSICS, 0.0) if frictionless else PHYSICS
        own["robot"] = own["robot"].replace(friction=dict.fromkeys(own["robot"].joint_names, physics))
        if title in INSTALLED:
            with warnings.catch_warnings(action="ignore"):  # springs are not part of all formats
                exec(re.search(r"```text\n(.*?)```", SECTIONS[title], flags=re.S)[1], own)
        return own

    return of


@pytest.fixture(scope="module")
def ours_of(names):
    """What our side gives; where no other library is asked, sections with the same words have the same result."""

    @cache
    def of(ours, title, frictionless):
        return eval(ours, dict(names(title, frictionless)))

    return lambda ours, title, frictionless: of(ours, title if title in INSTALLED else None, frictionless)


@pytest.mark.parametrize(("title", "theirs", "ours", "frictionless"), list(rows()))
def test_a_row_says_the_same_on_both_sides(names, ours_of, title, theirs, ours, frictionless):
    module = INSTALLED.get(title) or NEEDED.get(title)
    if module is not None:
        pytest.importorskip(module, reason=f"{module} is not installed")
    if "collision" in ours:
        pytest.importorskip("coal", reason="coal is not installed: pip install 'dynamis[collision]'")
    known = names(title, frictionless)
    found = ours_of(ours, title, frictionless)
    if title not in INSTALLED:
        assert found is not None
        return
    expected = np.asarray(eval(theirs, dict(known)))
    assert np.asarray(found).shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("theirs", ["velocityProduct", "CalcBiasTerm", "qfrc_bias"])
def test_velocity_products_have_neither_friction_nor_springs(names, theirs):
    """C v is the torque at a = 0 without gravity, friction and springs, the definition of the other libraries."""
    ((title, ours),) = [(row.values[0], row.values[2]) for row in rows() if theirs in row.values[1]]
    known, plain = names(title), names(title, True)["robot"]
    q, v = known["q"], known["v"]
    gravity = plain.gravity(q) if theirs == "qfrc_bias" else 0.0
    expected = plain.replace(gravity=0).inverse_dynamics(q, v, 0.0 * v) + gravity
    assert eval(ours, known) == pytest.approx(expected, abs=1e-9)


def screw(V):
    """The 4 × 4 matrix of a twist (ω, v)."""
    (x, y, z), v = V[:3], V[3:]
    return np.array([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0, 0, 0, 0]])


def adjoint(T):
    """The matrix of twists (ω, v)."""
    R, (x, y, z) = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ R, R]])


def test_the_lists_of_modern_robotics_become_their_robot(names):
    """Against the product of exponentials, Ad(e^[S₁]θ₁ …) S_i, Σ Jᵢᵀ Gᵢ Jᵢ and Jᵀ F_tip [Lynch and Park 2017, §§4.1, 5.1, 8.3]."""
    from scipy.linalg import expm

    title = "Modern Robotics"
    own = {"np": np, "dy": dy}
    exec(re.search(r"```python\n(.*?)```", SECTIONS[title], flags=re.S)[1], own)
    rng = np.random.default_rng(1)
    homes = [expm(screw(rng.uniform(-1, 1, 6))) for _ in range(4)]
    axes = [np.concatenate([w := u / np.linalg.norm(u), np.cross(p, w)]) for u, p in rng.uniform(-1, 1, (2, 2, 3))]
    axes.insert(1, np.array([0.0, 0.0, 0.0, 0.6, 0.0, 0.8]))
    inertias = [np.diag([0.2, 0.3, 0.4, m, m, m]) for m in (3.0, 2.0, 1.0)]
    robot = own["from_modern_robotics"](homes, inertias, np.transpose(axes))
    q, v = rng.uniform(-1, 1, (2, 3))
    carried, columns, M, at = np.eye(4), [], np.zeros((3, 3)), np.eye(4)
    for k, (S, angle) in enumerate(zip(axes, q, strict=True)):
        columns.append(adjoint(carried) @ S)
        carried, at = carried @ expm(screw(S) * angle), at @ homes[k]
        J = adjoint(np.linalg.inv(carried @ at)) @ np.column_stack([*columns, *np.zeros((2 - k, 6))])
        M += J.T @ inertias[k] @ J
    T = carried @ at @ homes[3]
    of = {"np": np, "dy": dy, "robot": robot, "q": q, "v": v, "a": 0 * v}
    ours = {row.values[1].split("(")[0]: row.values[2].replace("panda_link8", "ee") for row in rows() if row.values[0] == title}
    found = {name: eval(text, dict(of)) for name, text in ours.items() if "simulate" not in text and "inverse_kin" not in text}
    tip = adjoint(np.linalg.inv(T)) @ np.transpose(columns)
    expected = {
        "FKinSpace": T, "JacobianSpace": np.transpose(columns), "JacobianBody": tip, "MassMatrix": M, "M": at @ homes[3],
        "Slist": np.transpose(axes), "Blist": adjoint(np.linalg.inv(at @ homes[3])) @ np.transpose(axes),
        "EndEffectorForces": tip.T @ np.ones(6), "InverseDynamics": robot.bias(q, v) + tip.T @ np.ones(6),
        "CubicTimeScaling": 3 * 0.3**2 - 2 * 0.3**3, "QuinticTimeScaling": 10 * 0.3**3 - 15 * 0.3**4 + 6 * 0.3**5,
    }  # fmt: skip
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name


def test_manipulability_is_that_of_all_six_rows(names):
    """The definition of the Robotics Toolbox, whose default is axes="all": √det(J Jᵀ) of the whole Jacobian."""
    (ours,) = re.findall(r"^\| `robot.manipulability\(q\)` \| `([^`]+)` \|", TEXT, flags=re.M)
    known = names("Robotics Toolbox for Python")
    J = known["robot"].jacobian(known["q"])
    assert eval(ours, known) == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)), rel=1e-9)


def test_every_section_has_rows():
    assert len(SECTIONS) == 7
    assert len(list(rows())) > 55
