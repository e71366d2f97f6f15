"""Every row of docs/coming-from.md: our side runs, and equals the other library's where that is installed."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "coming-from.md"
INSTALLED = {"Pinocchio": "pinocchio", "MuJoCo": "mujoco"}
NEEDED = {"CasADi with Pinocchio or adam": "casadi"}
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = {part.split("\n", 1)[0]: part for part in TEXT.split("\n## ")[1:]}


def rows():
    for title, part in SECTIONS.items():
        for theirs, ours in re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", part, flags=re.M):
            yield pytest.param(title, theirs, ours, id=f"{title.split()[0]}-{theirs[:40]}")


@pytest.fixture(scope="module")
def names():
    """The names of the first block, and for each installed library those of its own."""
    common = {}
    exec(re.search(r"```python\n(.*?)```", TEXT, flags=re.S)[1], common)

    def of(title):
        own = dict(common)
        if title in INSTALLED:
            exec(re.search(r"```text\n(.*?)```", SECTIONS[title], flags=re.S)[1], own)
        return own

    return of


@pytest.mark.parametrize(("title", "theirs", "ours"), list(rows()))
def test_a_row_says_the_same_on_both_sides(names, title, theirs, ours):
    module = INSTALLED.get(title) or NEEDED.get(title)
    if module is not None:
        pytest.importorskip(module, reason=f"{module} is not installed")
    if "collision" in ours:
        pytest.importorskip("coal", reason="coal is not installed: pip install 'dynamis[collision]'")
    known = names(title)
    found = eval(ours, known)
    if title not in INSTALLED:
        assert found is not None
        return
    expected = np.asarray(eval(theirs, known))
    assert np.asarray(found).shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


def test_manipulability_is_that_of_all_six_rows(names):
    """The definition of the Robotics Toolbox, whose default is axes="all": √det(J Jᵀ) of the whole Jacobian."""
    (ours,) = re.findall(r"^\| `robot.manipulability\(q\)` \| `([^`]+)` \|", TEXT, flags=re.M)
    known = names("Robotics Toolbox for Python")
    J = known["robot"].jacobian(known["q"])
    assert eval(ours, known) == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)), rel=1e-9)


def test_every_section_has_rows():
    assert len(SECTIONS) == 6
    assert len(list(rows())) > 55
