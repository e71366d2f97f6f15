"""What a report holds: chosen sections, numbers for symbols, failures in their place, files that are whole."""

import itertools
import json
import operator
import re

import numpy as np
import pytest
from report_contents import report_blocks

import dynamis as dy
from dynamis.documents import printing
from dynamis.documents.blocks import Facts, Formula, HeatMap, Player, Plot, Robot3D, Table
from dynamis.errors import InputError, MissingExtraError, NameLookupError
from dynamis.files.atomic_write import write_file
from dynamis.reports.report import SECTIONS, chosen_sections, contents_of
from dynamis.reports.subject import subject_of


def texts(page):
    """What a reader sees of a page: without scripts, styles and tags."""
    return re.sub(r"<[^>]+>", " ", re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.S))


def test_all_sections_are_there_and_none_failed(planar):
    contents, path = planar
    assert [s.key for s in contents.sections] == list(SECTIONS)
    assert [s.failed for s in contents.sections] == [""] * len(SECTIONS)
    assert all(s.lead and s.reproduce for s in contents.sections)
    assert path.stat().st_size < 2_500_000


def run_snippet(section):
    """The names a snippet defines; its plots, which need Matplotlib, are left out."""
    names = {}
    code = section.reproduce.replace("fall.plot('fall.png')", "").replace("found.plot('stiffness.png')", "")
    exec(compile(code, section.key, "exec"), names)
    return names


def same(numbers, shown):
    """Whether numbers are those of a figure, which are rounded; None in the figure is a cell without a value."""
    shown = np.array(shown, dtype=float)
    return numbers.shape == shown.shape and np.allclose(
        numbers, shown, rtol=1e-3, atol=1e-6 * np.nanmax(np.abs(shown)), equal_nan=True
    )


def test_every_snippet_runs_and_computes_the_data_of_its_figures(planar, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contents = planar[0]
    ran = {section.key: run_snippet(section) for section in contents.sections}
    views = [view for figure in report_blocks(contents, "maps", HeatMap) for view in figure.views]
    assert [view.name for view in views] == list(ran["maps"]["figures"])
    assert all(same(ran["maps"]["figures"][view.name], view.values) for view in views)
    (figure,) = report_blocks(contents, "eigenvalues", Plot)
    assert len(figure.views) == 2
    for curves, computed in zip(figure.views, ran["eigenvalues"]["curves"].values(), strict=True):
        assert same(computed.T[::-1], list(curves.series.values()))
    density, manipulability = report_blocks(contents, "workspace", HeatMap)
    assert same(np.where(ran["workspace"]["density"] > 0, ran["workspace"]["density"], np.nan).T, density.views[0].values)
    assert same(ran["workspace"]["w"].T, manipulability.views[0].values)
    assert manipulability.views[0].unit == "m²"
    (softest,) = report_blocks(contents, "stiffness", HeatMap)
    assert same(ran["stiffness"]["stiffness"].T, softest.views[0].values)


def test_the_snippet_of_one_joint_computes_its_curves():
    robot = dy.load("pendulum_from_vertical", parameters={"I": 0.5, "m": 1.0, "L": 0.5, "d": 0.1, "g": 9.81})
    contents = contents_of(robot, sections=["maps"])
    section = contents.sections[0]
    section.reproduce = section.reproduce.replace("robot = ...", "import dynamis as dy; robot = given")
    names = {"given": robot}
    exec(compile(section.reproduce, "maps", "exec"), names)
    shown = {figure.title: next(iter(figure.views[0].series.values())) for figure in report_blocks(contents, "maps", Plot)}
    assert list(shown) == list(names["figures"])
    assert all(same(np.atleast_1d(names["figures"][title]), values) for title, values in shown.items())


def test_every_name_in_a_snippet_of_a_robot_with_limits_exists():
    description = dy.load("pendulum_from_vertical", parameters={"I": 0.5, "m": 1.0, "L": 0.5, "d": 0.1, "g": 9.81}).description
    description.joints[0].limits.lower, description.joints[0].limits.upper = -1.0, 1.0
    (section,) = contents_of(dy.Robot(description), sections=["motions"]).sections
    assert "HardStops" in section.reproduce
    for path in set(re.findall(r"dy((?:\.\w+)+)\(", section.reproduce)):
        operator.attrgetter(path[1:])(dy)


def test_the_certificate_passes_and_names_its_comparisons(planar):
    (table,) = report_blocks(planar[0], "check", Table)
    assert {row[-1] for row in table.rows} == {"agrees"}
    told = " ".join(row[0] for row in table.rows)
    for word in ("base frame", "Jacobians", "Articulated", "Lagrange", "skew", "Regressor", "energies", "Compiled"):
        assert word in told
    # the key figure is the largest entry of the column of the same name
    (facts,) = report_blocks(planar[0], "check", Facts)
    column = [row[table.header.index("largest relative error")] for row in table.rows]
    assert dict(facts.pairs)["Largest relative error"] in column
    size = {
        x: float(x.replace("−", "-").replace(" × 10", "e").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
        for x in column
    }
    assert dict(facts.pairs)["Largest relative error"] == max(column, key=size.get)


def test_the_certificate_fails_where_a_formulation_is_wrong(monkeypatch):
    from dynamis.reports.sections import check

    right = check.mass_matrix.mass_matrix_from_jacobians
    monkeypatch.setattr(check.mass_matrix, "mass_matrix_from_jacobians", lambda m, q: 1.001 * right(m, q))
    contents = contents_of("planar_2r_melchiorri", sections=["check"])
    (table,) = report_blocks(contents, "check", Table)
    assert [row[0] for row in table.rows if row[-1] == "DISAGREES"] == ["M as a sum over link Jacobians"]
    assert "do not all agree" in contents.sections[0].lead


def test_numbers_of_the_maps_are_the_robots(planar, robots):
    robot = robots["planar_2r_melchiorri"]
    gravity, inertia = report_blocks(planar[0], "maps", HeatMap)
    values = np.array(gravity.views[0].values)
    n, (low, high) = len(values), gravity.views[0].axes.x
    x = low + (high - low) * (np.arange(n) + 0.5) / n
    assert np.allclose(values[3, 7], robot.gravity([x[7], x[3]])[0], rtol=1e-3)
    assert np.allclose(np.array(inertia.views[0].values)[3, 7], robot.mass_matrix([x[7], x[3]])[0, 0], rtol=1e-3)


def test_the_ellipsoids_have_the_links_moments(planar, robots):
    (block,) = report_blocks(planar[0], "robot", Robot3D)
    for mass, (i, _) in zip(block.scene["masses"], robots["planar_2r_melchiorri"].model.moving, strict=True):
        a, b, c = mass["radii"]
        moments = mass["mass"] / 5.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        expected = np.linalg.eigvalsh(robots["planar_2r_melchiorri"].model.with_locked_rotors(i).tensor_about_com)
        # a thin body has moments no ellipsoid has exactly: the largest agrees
        assert np.isclose(moments.max(), expected.max(), rtol=0.01)


def test_symbols_stay_in_formulas_and_get_numbers_elsewhere():
    contents = contents_of("planar_2r", sections=["robot", "equations", "parameters"], values={"m_1": 5.0})
    formulas = " ".join(f.latex for f in report_blocks(contents, "equations", Formula))
    assert "m_1 l_1^2" in formulas
    values = {row[0]: row[1:] for row in report_blocks(contents, "robot", Table)[0].rows}
    assert values["m_1"] == ("5", "given")
    assert values["g"] == ("9.81", "assumed")
    assert float(contents.subject.robot.mass) == 6.0
    assert dict(report_blocks(contents, "robot", Facts)[0].pairs)["Mass"] == "6 kg (values assumed)"
    (parameters,) = (section for section in contents.sections if section.key == "parameters")
    assert any("for the values of the symbols" in str(note) for note in parameters.notes)


def test_an_unknown_symbol_is_named():
    with pytest.raises(NameLookupError, match="m_1"):
        subject_of(dy.load("planar_2r"), {"mass1": 1.0}, None)
    with pytest.raises(InputError, match="no symbols"):
        subject_of(dy.load("ur5e"), {"m1": 1.0}, None)


def test_a_changed_robot_is_not_said_to_be_the_librarys():
    assert subject_of(dy.load("ur5e"), None, None).source == "ur5e"
    changed = dy.load("ur5e").replace(gravity=(0, 0, -1.62))
    assert subject_of(changed, None, None).source is None
    assert "dy.load" not in subject_of(changed, None, None).load


def test_a_section_that_fails_says_so_and_the_others_are_there(tmp_path, monkeypatch):
    from dynamis.reports.sections import eigenvalues, maps

    monkeypatch.setattr(maps, "best_axes", lambda *_: 1 / 0)
    monkeypatch.setattr(eigenvalues, "by_influence", lambda *_: 1 / 0)
    contents = contents_of("planar_2r_melchiorri", sections=["robot", "maps", "eigenvalues", "parameters"])
    by_key = {s.key: s.failed for s in contents.sections}
    assert by_key["maps"] == "ZeroDivisionError: division by zero"
    assert by_key["robot"] == by_key["parameters"] == ""
    page = texts(contents.write(tmp_path / "arm.html").read_text(encoding="utf-8"))
    assert "This section could not be computed" in page
    assert "The rest of this section could not be computed" in page  # the eigenvalues over all configurations are there


def test_what_does_not_apply_is_no_failure(tmp_path):
    block = dy.solids.box(0.3, 0.2, 0.1, mass=2.0)
    d = dy.Description("tumbler").add_link("base", inertia=block)
    d.add_link("arm", "base", "revolute", axis=(0, 1, 0), inertia=block, origin=dy.Pose.translation([0.2, 0, 0]))
    dy.Robot(d).write(tmp_path / "tumbler.urdf")
    robot = dy.load(tmp_path / "tumbler.urdf", base="floating")
    contents = contents_of(robot, without=["speed"], seconds=20.0)
    assert [s.failed for s in contents.sections] == [""] * len(contents.sections)
    assert "fixed base" in next(s.lead for s in contents.sections if s.key == "workspace")
    assert len(report_blocks(contents, "motions", Player)) == 1
    assert 'base="floating"' in contents.sections[0].reproduce


def outline(contents):
    """Titles of sections, tables and figures, with the size of each: what must not depend on the machine."""

    def of(block):
        if isinstance(block, Table):
            return block.title, block.header, len(block.rows), [row[0] for row in block.rows]
        if isinstance(block, Plot | HeatMap):
            return block.title, [view.name for view in block.views]
        return type(block).__name__, getattr(block, "title", "")

    return [(s.key, s.failed, s.lead, [of(block) for block in s.blocks]) for s in contents.sections]


def test_sections_tables_and_figures_are_the_same_on_a_slow_machine(planar, monkeypatch):
    clock = itertools.count(0.0, 1000.0)  # a second look at the clock is a quarter of an hour later
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    monkeypatch.setattr("dynamis.symbolic.budget.time.monotonic", lambda: next(clock))
    slow = contents_of("planar_2r_melchiorri", without=["speed"], seconds=1e-6)
    monkeypatch.undo()
    keys = {s.key for s in slow.sections}
    assert outline(slow) == [one for one in outline(planar[0]) if one[0] in keys]
    assert "Extra" not in " ".join(note for s in slow.sections for note in s.notes)


def test_what_takes_the_time_that_is_left_is_marked_as_extra(planar):
    (check,) = (s for s in planar[0].sections if s.key == "check")
    assert any(note.startswith("Extra") and "further states" in note for note in check.notes)


def test_only_optimised_code_is_timed(monkeypatch):
    from dynamis.compiler import direct
    from dynamis.reports.sections import speed

    before = []
    best = speed._shortest_time

    def timed(function, given):
        method = function.__self__.owned[0] if direct.available() else function  # the builtin's, and so the robot's
        before.append(method.__self__.kernel(function.__name__).state())
        return best(function, given)

    monkeypatch.setattr(speed, "_shortest_time", timed)
    contents = contents_of("planar_2r_melchiorri", sections=["speed"])
    assert contents.sections[0].failed == ""
    assert len(before) == 10
    assert not [told for told in before if "pending" in told]


def test_sections_are_chosen_by_name():
    assert chosen_sections(["speed", "robot"], ()) == ["robot", "speed"]
    assert "speed" not in chosen_sections(None, ["speed"])
    with pytest.raises(NameLookupError, match="motions"):
        chosen_sections(["motion"], ())
    with pytest.raises(InputError, match="no section is left"):
        chosen_sections(["robot"], ["robot"])


def test_libraries_that_are_not_used_stay_out(tmp_path):
    small = contents_of("planar_2r_melchiorri", sections=["parameters"]).write(tmp_path / "small.html")
    assert small.stat().st_size < 60_000


def test_hostile_names_stay_text(tmp_path):
    evil = "</script><img src=x onerror=alert(1)>"
    d = dy.Description(evil, about=f"about {evil} $\\href{{javascript:alert(1)}}{{x}}$").add_link("base")
    body = dy.solids.rod(0.5, mass=2.0).seen_from(dy.Pose.translation([0, 0, 0.25]))
    d.add_link(f"link {evil}", "base", "revolute", axis=(0, 1, 0), inertia=body, joint_name=f"joint {evil}")
    page = (
        contents_of(dy.Robot(d), sections=["robot", "maps", "eigenvalues"])
        .write(tmp_path / "evil.html")
        .read_text(encoding="utf-8")
    )
    assert "<img" not in page
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, flags=re.S)
    scene = next(json.loads(s) for s in scripts if s.startswith('{"name"'))
    assert scene["coordinates"][0]["name"] == f"joint {evil}"


def test_a_report_as_markdown(planar, tmp_path):
    text = planar[0].write(tmp_path / "arm.md").read_text(encoding="utf-8")
    assert text.startswith("# planar 2R")
    assert text.count("\n## ") == len(SECTIONS)
    assert "\\begin{bmatrix}" in text
    assert "| Newton–Euler in the base frame |" in text
    assert "```python" in text


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("before")
    with pytest.raises(InputError, match="cannot be written"):
        write_file(tmp_path / "missing" / "report.html", b"x")
    assert target.read_text() == "before"
    write_file(target, b"after")
    assert target.read_text() == "after"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.filterwarnings("ignore::dynamis.errors.ModelWarning")
def test_names_of_files(tmp_path):
    robot = dy.load("planar_2r_melchiorri")
    assert contents_of(robot, sections=["parameters"]).default_path.name == "planar-2r-melchiorri-report.html"
    assert contents_of("kuka_iiwa14", sections=["parameters"]).default_path.name == "kuka-iiwa14-report.html"
    for name, expected in (("my_Arm 2.urdf", "my-arm-2-report.html"), ("日本.urdf", "日本-report.html")):
        robot.write(tmp_path / name)
        assert contents_of(tmp_path / name, sections=["parameters"]).default_path.name == expected
    with pytest.raises(InputError, match=r"\.html, \.md or \.pdf"):
        contents_of("planar_2r_melchiorri", sections=["parameters"]).write("arm.docx")


def test_a_pdf_without_a_browser_says_what_to_do(monkeypatch):
    monkeypatch.setenv("DYNAMIS_BROWSER", "/no/such/browser")
    with pytest.raises(MissingExtraError, match="Chromium, Chrome or Edge"):
        printing.find_browser()


def test_the_package_is_called_like_the_function(tmp_path):
    import dynamis.reports

    path = dynamis.report(dy.load("planar_2r_melchiorri"), tmp_path / "arm.md", sections=["parameters"])
    assert path.read_text(encoding="utf-8").startswith("# planar 2R")


def test_a_constrained_robot_is_refused_with_its_tree(tmp_path):
    with pytest.raises(dy.InputError, match="got ConstrainedRobot; its attribute robot is the tree"):
        dy.report(dy.loops.four_bar(), tmp_path / "x.html")
    with pytest.raises(dy.InputError, match="got int"):
        dy.report(3, tmp_path / "x.html")


@pytest.mark.filterwarnings("ignore::dynamis.ModelWarning")  # of the file, which is loaded again
def test_a_report_says_first_that_the_loops_of_the_file_are_open(tmp_path):
    dy.loops.five_bar().write(tmp_path / "five.toml")
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        robot = dy.load(tmp_path / "five.toml")
    by_key = {section.key: section for section in contents_of(robot, sections=["robot", "check", "equations"]).sections}
    assert by_key["robot"].lead.startswith("Warning: the file of robot 'five-bar' closes loops (plane of ")
    assert by_key["equations"].lead.startswith("Of the tree, whose loops are open here, not of the mechanism. ")
    assert "loops" not in by_key["check"].lead
    (alone,) = contents_of(robot, sections=["equations"]).sections
    assert alone.lead.startswith("Warning: the file of the robot closes loops, which are open in this report")
    assert "loops" not in contents_of(dy.load("planar_2r_melchiorri"), sections=["robot"]).sections[0].lead


def test_a_robot_without_joints_has_no_report():
    with pytest.raises(InputError, match="no moving joints"):
        contents_of(dy.Robot(dy.Description("stone").add_link("base")))


@pytest.mark.parametrize("name", ["pendulum_from_vertical", "planar_prp", "rod_and_disc", "nine_body_tree"])
def test_unusual_robots_have_reports_too(name, tmp_path):
    contents = contents_of(name, sections=["robot", "equations", "maps", "eigenvalues", "workspace", "stiffness"])
    assert contents.write(tmp_path / "page.html").exists()
    if name != "rod_and_disc":
        assert [s.failed for s in contents.sections] == [""] * len(contents.sections)


def test_drives_and_payloads_have_tables_as_in_info():
    robot = dy.load("planar_2r_melchiorri").replace(
        actuators={"joint1": dy.Saturated(effort=500.0, speed=3.0)}, payload=dy.solids.sphere(0.1, mass=2.0)
    )
    (section,) = contents_of(robot, sections=["robot"]).sections
    tables = {x.title: x.rows for x in section.blocks if isinstance(x, Table)}
    assert tables["Drives"] == [("joint1", "–", "saturated: effort 500, speed 3")]
    ((frame, mass, _),) = tables["Payloads"]
    assert (frame, mass) == (robot.model.tip, "2")
    (plain,) = contents_of(dy.load("planar_2r_melchiorri"), sections=["robot"]).sections
    assert not {"Drives", "Payloads"} & {x.title for x in plain.blocks if isinstance(x, Table)}


def test_sections_of_a_linear_axis_have_its_extent_and_stiffness():
    d = dy.Description("axis").add_link("base")
    solid = dy.solids.sphere(0.1, mass=1.0)
    d.add_link("carriage", "base", "prismatic", axis=(1, 0, 0), inertia=solid)
    d.add_link("arm", "carriage", "revolute", axis=(0, 0, 1), inertia=solid)
    d.add_link("tip", "arm", "fixed", origin=dy.Pose(np.eye(3), (0.0, 0.4, 0.0)))
    d.joints[0].limits.lower, d.joints[0].limits.upper = 0.4, 6.0
    d.joints[1].limits.lower, d.joints[1].limits.upper = 0.0, np.pi / 2
    workspace, stiffness = contents_of(dy.Robot(d), sections=["workspace", "stiffness"]).sections
    facts = dict(next(x for x in workspace.blocks if isinstance(x, Facts)).pairs)
    assert facts["x of tip"] == "0 … 6 m"
    assert "10 MN/m per prismatic joint" in stiffness.lead
    assert "springs = " in stiffness.reproduce
    assert "10000000.0, 10000.0]" in stiffness.reproduce
