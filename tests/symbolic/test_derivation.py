"""The derivation as a document: complete, well formed in every format, and no longer than can be read."""

import html
import json
import re
import shutil
import subprocess

import pytest
from balanced_latex import is_balanced
from campaign_params import few_of

import dynamis as dy
from dynamis.documents.blocks import Formula, Say, Table, equation
from dynamis.documents.document import Document
from dynamis.model.closures import LoopClosure

STEPS = [
    "Frames and joint variables",
    "Masses, centres of mass, inertia tensors",
    "Positions and Jacobians of the centres of mass",
    "Kinetic energy",
    "Inertia matrix",
    "Christoffel symbols",
    "Coriolis matrix",
    "Skew symmetry",
    "Potential energy and gravity",
    "Friction, springs, contact",
    "Equations of motion",
    "State space",
    "Linear in the parameters",
    "The Newton–Euler recursion",
    "The articulated-body algorithm",
    "Operation counts",
]
ROBOTS = ["planar_2r", "motor_with_load", "cartesian_2p", "planar_prp", "pendulum_from_vertical", "scara", "stanford"]


@pytest.fixture(scope="module")
def documents():
    made = {}

    def of(name, letters=None):
        if (name, letters) not in made:
            made[name, letters] = dy.load(name).closed_form(letters).derivation()
        return made[name, letters]

    return of


def formulas(document, title):
    (section,) = [s for s in document.sections if s.title == title]
    return [block.latex for block in section.blocks if isinstance(block, Formula)]


def test_steps_come_in_the_order_of_a_lecture(documents):
    assert [s.title for s in documents("planar_2r").sections] == STEPS


def test_every_step_says_why_before_it_shows(documents):
    for name in ROBOTS:
        for section in documents(name).sections:
            assert isinstance(section.blocks[0], Say), (name, section.title)
            assert len(section.blocks[0].text) > 20


def test_the_table_of_joints_gives_each_axis_in_the_joint_frame_and_says_so(documents):
    robot = dy.load("stanford")
    section = documents("stanford").sections[0]
    told = section.blocks[0].text
    assert "the axis is given in the joint frame, which has the stated position and rotation in the frame of the parent" in told
    table = next(block for block in section.blocks if isinstance(block, Table))
    axes = [row[table.header.index("axis")] for row in table.rows]
    assert axes == [f"$({int(x)},\\; {int(y)},\\; {int(z)})$" for x, y, z in (b.motion.axis for _, b in robot.model.moving)]
    assert any(abs((b.placement.R @ b.motion.axis) @ b.motion.axis) < 0.5 for _, b in robot.model.moving)


def test_letters_are_the_readers(documents):
    assert "b_{11} = m_1 l_1^2 + I_1 + m_2 (a_1^2 + l_2^2 + 2 a_1 l_2 c_2) + I_2" in formulas(
        documents("planar_2r", "rocco"), "Inertia matrix"
    )
    assert r"M_{22} = m_2 a_{C2}^2 + \tilde{I}_2" in formulas(documents("planar_2r", "melchiorri"), "Inertia matrix")
    assert "D_{22} = I_2 + m_2 l_{c2}^2" in formulas(documents("planar_2r", "tzafestas"), "Inertia matrix")


def test_christoffel_symbols_carry_the_index_where_the_course_puts_it(documents):
    rocco = formulas(documents("planar_2r", "rocco"), "Christoffel symbols")
    assert "c_{112} = c_{121} = c_{122} = h" in rocco
    assert "c_{211} = -h" in rocco
    melchiorri = formulas(documents("planar_2r", "melchiorri"), "Christoffel symbols")
    assert "c_{121} = c_{211} = c_{221} = h" in melchiorri
    assert "c_{112} = -h" in melchiorri


def test_denavit_hartenberg_table_is_that_of_the_file(documents):
    section = documents("planar_2r").sections[0]
    tables = [block for block in section.blocks if isinstance(block, Table)]
    assert tables[1].rows == (("1", "$a_1$", "$0$", "$0$", "$q_1$"), ("2", "$a_2$", "$0$", "$0$", "$q_2$"))


def test_newton_euler_is_shown_link_by_link(documents):
    shown = "\n".join(formulas(documents("planar_2r", "rocco"), "The Newton–Euler recursion"))
    for name in (r"\omega_1^1", r"\dot\omega_2^2", r"\ddot p_1^1", r"\ddot p_{C_2}^2", "f_1^1", r"\mu_2^2"):
        assert name in shown


def test_articulated_inertias_are_shown_from_tip_to_base(documents):
    shown = formulas(documents("planar_2r"), "The articulated-body algorithm")
    first, last = (next(k for k, f in enumerate(shown) if rf"\hat M_{i}" in f.partition("=")[0]) for i in (2, 1))
    assert first < last
    assert any(f.startswith(r"\bar M_2 =") for f in shown)


def test_matrices_too_wide_for_a_page_are_lists_of_their_entries(documents):
    shown = formulas(documents("planar_2r"), "The articulated-body algorithm")
    assert r"\bigl(\hat M_1\bigr)_{33} = m_1 + m_2" in shown
    assert not any(r"M_1\bigr)_{21}" in f for f in shown)  # symmetric
    width = max(len(row) for f in shown for row in f.split(r"\\") if "_1 =" in f or "_2 =" in f)
    assert width < 300


FURUTA = """
[robot]
gravity = [0, 0, "-g"]
[parameters]
g = "symbol"
m_1 = "symbol"
m_2 = "symbol"
L_1 = "symbol"
l_1 = "symbol"
l_2 = "symbol"
J_1 = "symbol"
J_2 = "symbol"
[[link]]
mass = "m_1"
com = ["l_1", 0, 0]
inertia = { zz = "J_1" }
[[link]]
axis = [1, 0, 0]
xyz = ["L_1", 0, 0]
mass = "m_2"
com = [0, 0, "-l_2"]
inertia = { xx = "J_2", yy = "J_2" }
"""
HELIX = """
[robot]
gravity = [0, 0, "-g"]
[parameters]
g = "symbol"
m = "symbol"
I = "symbol"
p = "symbol"
[[link]]
type = "helical"
axis = [0, 0, 1]
pitch = "p"
mass = "m"
inertia = { zz = "I" }
"""


@pytest.mark.parametrize("text", [FURUTA, HELIX], ids=["long fractions", "symbolic pitch"])
def test_robots_in_symbols_are_derived_to_balanced_latex(text):
    form = dy.load(text).closed_form()
    latex = form.derivation().latex()
    assert is_balanced(latex)
    assert str(form.equations[0]).split(" = ")[1] in ("tau", "tau_1")


@pytest.mark.parametrize("name", ROBOTS)
def test_latex_is_balanced(documents, name):
    text = documents(name).latex()
    assert is_balanced(text)
    assert text.count("$") % 2 == 0


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("name", ["planar_2r", "planar_prp", "scara"])
def test_latex_compiles(documents, name, tmp_path):
    documents(name).write(tmp_path / "derivation.tex")
    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "derivation.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-2000:]
    assert (tmp_path / "derivation.pdf").stat().st_size > 10_000


@pytest.mark.parametrize("name", ROBOTS)
def test_html_holds_every_formula_as_text_and_needs_no_network(documents, name):
    document = documents(name)
    page = document.html()
    body = page[page.index("<body>") : page.index('<script type="importmap">')]
    assert not re.findall(r'(?:src|href)="(?!#)', body)
    assert "@import" not in page
    assert not re.findall(r"url\((?!data:)", page[: page.index("<body>")])
    shown = [html.unescape(x) for x in re.findall(r'<div class="math display">(.*?)</div>', body, re.S)]
    assert shown == [block.latex for s in document.sections for block in s.blocks if isinstance(block, Formula)]
    assert all(is_balanced(latex) for latex in shown)


def test_markdown_has_balanced_mathematics(documents):
    for name in ROBOTS:
        text = documents(name).markdown()
        assert text.startswith("# The dynamic model")
        assert text.count("$$") % 2 == 0


def test_notebook_is_valid(documents, tmp_path):
    path = documents("planar_2r").write(tmp_path / "planar.ipynb")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"]) == len(STEPS) + 1
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbformat.validate(nbformat.from_dict(notebook))


def test_a_foreign_suffix_is_refused(documents, tmp_path):
    with pytest.raises(dy.InputError, match=r"suffix must be one of \.html, \.tex, \.md, \.ipynb"):
        documents("planar_2r").write(tmp_path / "planar.docx")


HOSTILE = [
    r"50% <b>\input{x}</b> $a_1$ & #",
    r"$\text{<script>alert(1)</script>}$",
    r"$\input{/etc/passwd}\write18{x}$",
    r"\$<img src=x onerror=alert(1)>\\$",
    r"`__import__('os')` [x](javascript:alert(1)) | $",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_files_are_literal_text_in_every_format(name):
    d = dy.load("planar_2r").description
    d.name = name
    document = dy.Robot(d).closed_form().derivation(recursions=False)
    page = document.html()
    body = page[page.index("<body>") : page.index('<script type="importmap">')]
    heading = re.search("<h1>(.*)</h1>", body)[1]
    assert html.unescape(heading) == f"The dynamic model of the robot '{name}'"
    assert "<" not in heading
    assert html.unescape(re.search("<title>(.*)</title>", page)[1]) == f"The dynamic model of the robot '{name}'"
    title = re.search(r"\\title\{(.*)\}", document.latex())[1]
    assert is_balanced(document.latex())
    assert not re.search(r"(?<!\\)[$%&#]|\\(?:input|write|text)(?![a-z])", title)
    for text in (document.markdown(), document.notebook()["cells"][0]["source"], document._repr_markdown_()):
        first = text.splitlines()[0]
        assert not re.search(r"[<>$]|(?<!\\)[`*_\[\]]", first)
        assert html.unescape(re.sub(r"\\([\\`*_#\[\]])", r"\1", first)) == f"# The dynamic model of the robot '{name}'"


def test_a_page_fetches_nothing_and_runs_only_its_own_script(documents):
    page = documents("planar_2r").html()
    assert "Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline' data:" in page
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)
    assert page.count("<script") == 2


def test_long_formulas_are_broken_before_signs():
    right = " + ".join(f"a_{{{k}}} (b - c)" for k in range(30))
    broken = equation("M_{11}", right)
    assert broken.count(r"\\") >= 2
    assert broken.replace("\n", " ").replace(r"\begin{aligned}", "").count("(b - c)") == 30
    assert "(b \\\\" not in broken
    assert equation("x", "a + b") == "x = a + b"


@pytest.mark.parametrize(("name", "most"), few_of([("ur5e", 100_000), ("panda", 200_000)], [("ur5e", 100_000)]))
def test_a_large_robot_has_a_short_derivation(name, most):
    document = dy.load(name).closed_form().derivation(recursions=False)
    assert len(document.markdown()) < most


def test_progress_is_told_each_step():
    told = []
    dy.load("cartesian_2p").closed_form().derivation(progress=told.append)
    assert told == STEPS


def test_a_document_shows_itself_in_a_notebook():
    document = Document("t", "a")
    document.section("s").say("one $x$").show("y", "z")
    shown = document._repr_markdown_()
    assert "one $x$" in shown
    assert "$$\ny = z\n$$" in shown


def test_a_robot_without_joints_has_a_derivation_too():
    document = dy.Robot(dy.Description("pedestal").add_link("base")).closed_form().derivation()
    assert "0 degrees of freedom" in document.abstract
    assert is_balanced(document.latex())
    assert 'class="math' in document.html()


def test_an_inertia_matrix_is_positive_definite_on_a_condition(documents):
    """With massless links some motions have no kinetic energy."""
    said = [block.text for s in documents("planar_2r").sections for block in s.blocks if isinstance(block, Say)]
    assert any("positive definite if every motion has kinetic energy" in text for text in said)


@pytest.mark.parametrize(("name", "announced"), [("planar_2r", True), ("pendulum_from_vertical", False)])
def test_regrouping_rules_are_announced_where_there_are_any(documents, name, announced):
    said = [block.text for s in documents(name).sections for block in s.blocks if isinstance(block, Say)]
    assert any("by these rules" in text for text in said) is announced


def test_a_derivation_says_that_the_loops_of_the_file_are_open_in_it():
    arm = dy.Description("crank").add_link("base")
    for parent, link in (("base", "crank"), ("crank", "rod")):
        place = [0.0 if parent == "base" else 0.1, 0.0, 0.0]
        arm.add_link(link, parent, "revolute", origin=dy.Pose.translation(place), inertia=dy.solids.sphere(0.05, mass=1.0))
    assert "loop" not in dy.Robot(arm.copy()).closed_form().derivation().markdown()
    arm.closures.append(LoopClosure("point", "rod", "base"))
    text = dy.Robot(arm).closed_form().derivation().markdown()
    assert "closes loops (point of 'rod' and 'base'), which are open here: the equations are those of the tree" in text
