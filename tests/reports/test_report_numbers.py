"""Numbers, units and names in reports, also of unusual robots."""

import re
import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.documents.blocks import HeatMap, Plot
from dynamis.reports.report import contents_of


def test_forces_and_torques_are_called_what_they_are():
    from dynamis.reports.numbers import effort_name

    assert [effort_name(dy.load(name)) for name in ("ur5e", "cartesian_2p", "scara")] == [
        "torque",
        "force",
        "generalised force",
    ]
    (section,) = contents_of("scara", sections=["motions"]).sections
    terms = next(b for b in section.blocks if isinstance(b, Plot) and b.title.startswith("Terms"))
    assert {view.name[view.name.index("[") :]: view.y_label for view in terms.views} == {
        "[N m]": "torque [N m]",
        "[N]": "force [N]",
    }


def test_rounding_errors_beside_large_numbers_are_shown_as_zero():
    from dynamis.documents.numbers import triple
    from dynamis.reports.sections.motions import distinct

    assert triple([3.95e-15, 1.0, -2e-17]) == "(0, 1, 0)"
    lines = distinct({"a": np.array([0.0, 3.95e-15, 1e-14]), "b": np.array([0.0, 25.0, 50.0])})
    assert lines["a"] == [0.0, 0.0, 0.0]
    assert lines["b"] == [0.0, 25.0, 50.0]


@pytest.mark.parametrize("name", ["ur5e", "go2", "g1", "scara"])
def test_maps_vary_over_the_coordinates_they_are_drawn_over(name):
    (section,) = contents_of(name, sections=["maps"]).sections
    maps = [block for block in section.blocks if isinstance(block, HeatMap)]
    assert maps
    for view in (view for one in maps for view in one.views):
        values = np.array(view.values, dtype=float)
        spread = np.ptp(values)
        assert spread > 1e-3 * np.abs(values).max(), view.name
        if "does not depend" not in view.summary:
            assert np.ptp(values, axis=0).max() > 1e-5 * spread, view.name
            assert np.ptp(values, axis=1).max() > 1e-5 * spread, view.name
        else:  # the place of the largest magnitude is told along the other coordinate only
            still = view.summary.rstrip(".").rsplit(" ", 1)[1]
            assert f"{still} = " not in view.summary


def test_reach_is_measured_from_the_shoulder_to_the_tip(robots):
    from dynamis.kinematics.reach import reach_of, shoulder
    from dynamis.reports.numbers import ranges

    robot = robots["ur5e"]
    origin, definition = shoulder(robot, "tool0")
    assert np.allclose(origin, [0, 0, 0.1625], atol=1e-9)
    assert "shoulder" in definition
    low, high = ranges(robot)
    q = robot.random(0, 2000)
    found = reach_of(robot, "tool0", q, low, high)
    assert found.largest >= np.linalg.norm(robot.pose(robot.random(1, 20_000))[:, :3, 3] - origin, axis=1).max()
    # the links end to end are an upper bound: a2 + a3, d4, d5 and d6 of the UR5e
    assert 0.94 < found.largest < 0.425 + 0.3922 + 0.1333 + 0.0997 + 0.0996
    # the report and `dynamis workspace` give the same number
    cloud = dy.workspace(robot, samples=2000)
    assert cloud.reach == pytest.approx(found.largest, rel=1e-6)
    assert cloud.measured_from == definition
    assert definition in cloud.summary()


def test_times_and_quantities_have_the_prefix_that_fits():
    from dynamis.documents.numbers import duration, power, quantity, text

    assert [duration(x) for x in (1.31, 96.6e-9, 0.0305, 130.0)] == ["1.31 s", "96.6 ns", "30.5 ms", "2 min 10 s"]
    assert [quantity(x, "N/m") for x in (131_000.0, 12.0, 0.0)] == ["131 kN/m", "12 N/m", "0 N/m"]
    assert quantity(999.9996, "m", 4) == "1 km"
    assert [text(x, 3) for x in (1310.4, -0.25, 0.0, 123456.0, 1.5e-9, np.inf)] == [
        "1310", "−0.25", "0", "123000", "1.5 × 10⁻⁹", "–",
    ]  # fmt: skip
    assert power(1.62e-15) == "1.6 × 10⁻¹⁵"


def test_markdown_shows_names_as_they_are(tmp_path):
    d = dy.Description("arm_*2*_ `x` | [a](b) <b>").add_link("base")
    body = dy.solids.rod(0.5, mass=2.0).seen_from(dy.Pose.translation([0, 0, 0.25]))
    d.add_link("link|1", "base", "revolute", axis=(0, 1, 0), inertia=body, joint_name="joint_1_a|b*c*")
    lines = (
        contents_of(dy.Robot(d), sections=["robot", "maps"]).write(tmp_path / "arm.md").read_text(encoding="utf-8").split("\n")
    )
    assert lines[0] == r"# arm\_\*2\*\_ \`x\` | \[a\](b) &lt;b&gt;"
    row = next(line for line in lines if line.startswith(r"| joint\_1\_a\|b\*c\*"))
    header = next(line for line in lines if line.startswith("| joint |"))
    assert len(re.findall(r"(?<!\\)\|", row)) == header.count("|")


def test_names_are_no_mathematics_in_any_section(tmp_path):
    d = dy.Description("arm$one").add_link("base")
    body = dy.solids.rod(0.5, mass=2.0).seen_from(dy.Pose.translation([0, 0, 0.25]))
    d.add_link("link1", "base", "revolute", axis=(0, 1, 0), inertia=body, joint_name="joint$1")
    d.add_link("link2", "link1", "revolute", axis=(0, 1, 0), inertia=body, joint_name="$x_2$")
    contents = contents_of(dy.Robot(d), sections=["robot", "maps", "eigenvalues"])
    assert 'class="math' not in contents.html().split("<body")[1].split("<script")[0]
    page = contents_of(dy.Robot(d), sections=["equations"]).html()
    assert ">$x_2$</th>" in page
    assert ">joint$1</th>" in page
    shown = contents.markdown()
    assert "&#36;x\\_2&#36;" in shown
    assert "joint&#36;1" in shown


def test_values_given_for_symbols_are_checked(tmp_path):
    (tmp_path / "wheel.toml").write_text("""
[parameters]
J = "symbol"
[[link]]
mass = 1
inertia = { xx = "J", yy = 0.1, zz = 0.1 }
""")
    for value, found in ((0.15, "no errors or warnings"), (5.0, "1 finding")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dy.ModelWarning)
            contents = contents_of(tmp_path / "wheel.toml", values={"J": value}, sections=["check"])
        assert f"Model check: {found}" in contents.markdown()
