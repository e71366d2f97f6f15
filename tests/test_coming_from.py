"""Every row of docs/coming-from.md: our side runs, and equals the other library's where that is installed.

Both sides are those of a robot with friction and springs, or without them where the remark says that only ours has them.
"""

import re
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "coming-from.md"
INSTALLED = {"Pinocchio": "pinocchio", "MuJoCo": "mujoco"}
NEEDED = {"CasADi with Pinocchio or adam": "casadi"}
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = {part.split("\n", 1)[0]: part for part in TEXT.split("\n## ")[1:]}
ONLY_OURS = "with friction and springs here"
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


@pytest.mark.parametrize(("title", "theirs", "ours", "frictionless"), list(rows()))
def test_a_row_says_the_same_on_both_sides(names, title, theirs, ours, frictionless):
    module = INSTALLED.get(title) or NEEDED.get(title)
    if module is not None:
        pytest.importorskip(module, reason=f"{module} is not installed")
    if "collision" in ours:
        pytest.importorskip("coal", reason="coal is not installed: pip install 'dynamis[collision]'")
    known = names(title, frictionless)
    found = eval(ours, dict(known))
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


def test_manipulability_is_that_of_all_six_rows(names):
    """The definition of the Robotics Toolbox, whose default is axes="all": √det(J Jᵀ) of the whole Jacobian."""
    (ours,) = re.findall(r"^\| `robot.manipulability\(q\)` \| `([^`]+)` \|", TEXT, flags=re.M)
    known = names("Robotics Toolbox for Python")
    J = known["robot"].jacobian(known["q"])
    assert eval(ours, known) == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)), rel=1e-9)


def test_every_section_has_rows():
    assert len(SECTIONS) == 6
    assert len(list(rows())) > 55
