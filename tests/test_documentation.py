"""The documentation: every Python block runs, every page can be reached, every link leads somewhere, every name is explained.

Python blocks of a page run one after another, in an empty folder.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
import types
import warnings
from pathlib import Path

import pytest
from output_comments import differences, run_statements

import dynamis as dy
from dynamis.cli.commands import cli

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
BLOCKS = [page for page in (ROOT / "README.md", *PAGES) if "```python" in page.read_text(encoding="utf-8")]
BLOCK = re.compile(r"```python\n(.*?)```", flags=re.S)
FENCED = re.compile(r"^```.*?^```", flags=re.S | re.M)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(images/([\w-]+\.png)\)")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.usefixtures("panels_are_not_arranged")
@pytest.mark.parametrize("page", BLOCKS, ids=name_of)
def test_the_python_of_a_page_runs_prints_what_its_comments_say_and_draws_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    wrong = [
        f"{source}  # {comment}\nprints {output:.400}, without {missing}"
        for block in BLOCK.findall(text)
        for _, source, comment, output in run_statements(block, names, str(page))
        if (missing := differences(comment, output, source))
    ]
    assert not wrong, "\n".join(wrong)
    missing = [picture for picture in PICTURE.findall(text) if not (tmp_path / picture).is_file()]
    assert not missing, f"shown, but not drawn by the page's own code: {missing}"


@pytest.mark.parametrize(
    ("comment", "output", "missing"),
    [
        (
            "peak 60.1, residual 17, growth ×1.36 per cycle",
            "peak 60.1, final 17, grows by ×1.36 per cycle",
            ["residual", "growth"],
        ),
        ("c_212: too much: -m_2*s2", "c_212: superfluous: -m_2*s2", ["too", "much"]),
        ("… 'tau.elbow' seem to be swapped …", "columns 'tau3' seem to be swapped", ["'tau.elbow'"]),
        ("['m_D', '0.0']", "['m_D', 'I_y - I_y*I_y/I_y']", ["'0.0'"]),
        ("m_1*l_1", "-m_1*(l_1 - g)", ["m_1*l_1"]),
        ("[0.78 2.33]", "[0.7812 2.3204]", ["2.33"]),
        ("[0.78 2.32] N m: rotors", "[0.7812 2.3204]", []),
        ("… s: touch (stopping event)", "stopped at t = 0.55 s: touch (stopping event)", []),
        ("largest error per joint, rad", "[0.1 0.2]", []),
    ],
)
def test_a_comment_that_the_output_contradicts_is_found(comment, output, missing):
    assert differences(comment, output) == missing


def test_the_example_robot_file_loads_and_is_plausible(tmp_path):
    text = (DOCS / "robot-files.md").read_text(encoding="utf-8")
    path = tmp_path / "arm.toml"
    path.write_text(re.search(r"```toml\n(.*?)```", text, flags=re.S)[1], encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dy.load(path, parameters={"m": 2.0}).n == 2
        assert dy.load(path).model.symbolic


# the site


def navigation():
    """The pages in the navigation of mkdocs.yml, patterns expanded."""
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1].splitlines()
    entries = [line.strip().removeprefix("- ").split(": ")[-1] for line in lines if line.rstrip().endswith(".md")]
    return [page for entry in entries for page in (sorted(DOCS.glob(entry)) if "*" in entry else [DOCS / entry])]


def test_every_page_is_in_the_navigation_once():
    listed = navigation()
    assert len(listed) == len(set(listed))
    assert {name_of(page) for page in listed} == {name_of(page) for page in PAGES}


def anchors(page):
    """The anchors of a page's headings, as the site makes them."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, flags=re.M)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_inside_the_documentation_lead_somewhere(page):
    for link in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_load_nothing_from_elsewhere(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    assert not re.search(r"!\[[^\]]*\]\(https?:|<(?:script|img|iframe|link)\b[^>]*https?:", text)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lines_of_code_fit_the_column_of_the_page(page):
    """128 characters fit in a window of 1400 px (docs/assets/pages.css)."""
    blocks = FENCED.findall(page.read_text(encoding="utf-8"))
    long = [line for block in blocks for line in block.splitlines() if len(line) > 128]
    assert not long, "\n".join(long)


# the reference


def tool(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference():
    return tool("reference")


def test_every_public_name_has_a_place_in_the_reference(reference):
    listed = [name for page in (DOCS / "reference").glob("*.md") for name in reference.names(page.read_text(encoding="utf-8"))]
    assert len(listed) == len(set(listed))
    for name in dy.__all__:
        if name == "__version__":
            continue
        assert f"dynamis.{name}" in listed, f"dynamis.{name} is not in docs/reference"
        value = getattr(dy, name)
        if isinstance(value, types.ModuleType):
            assert {f"dynamis.{name}.{part}" for part in reference.listed(f"dynamis.{name}")} <= set(listed)


def executed_code():
    """The Python blocks of README and documentation, and the example scripts: all of it runs in the tests."""
    blocks = [block for page in BLOCKS for block in BLOCK.findall(page.read_text(encoding="utf-8"))]
    return "\n".join([*blocks, *(path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py"))])


def public_values():
    """Every public name with its value: of the package, of its namespaces, and the methods of a robot."""
    for name in dy.__all__:
        value = getattr(dy, name)
        if isinstance(value, types.ModuleType):
            yield from ((f"{name}.{part}", getattr(value, part)) for part in getattr(value, "__all__", ()))
        elif name != "__version__":
            yield name, value
    yield from ((f"Robot.{name}", getattr(dy.Robot, name)) for name in dir(dy.Robot) if not name.startswith("_"))


def test_every_public_name_has_an_example_that_runs():
    code = executed_code()
    without = [
        name
        for name, value in public_values()
        if ">>> " not in (value.__doc__ or "") and not re.search(rf"\.{name.rpartition('.')[2]}\b", code)
    ]
    assert not without


def test_the_public_names_are_few():
    # what a user types; classes of results are documented with the functions that return them
    assert sum(1 for _ in public_values()) <= 290


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("dynamis.linearize", "dynamis.analysis.linearization.Linearization"),
        ("dynamis.Robot", "dynamis.algorithms.dynamics.TorqueLedger"),
        ("dynamis.Robot", "dynamis.symbolic.closed_form.ClosedForm"),
        ("dynamis.control", "dynamis.control.null_space_motion.NullSpaceMotion"),
    ],
)
def test_classes_of_results_are_listed_with_the_functions_that_return_them(reference, name, result):
    assert reference.entry(name).count(f"{{ #{result} ") == 1


def test_an_entry_has_signature_docstring_and_members(reference):
    text = reference.entry("dynamis.Robot")
    assert "{ #dynamis.Robot.mass_matrix " in text
    assert "inverse_dynamics(" in text
    assert "_tracing" not in text
    assert "```pycon\n>>> import dynamis as dy" in text
    assert " at 0x" not in text + reference.entry("dynamis.task_space")


def test_docstrings_keep_their_stars_and_underscores(reference):
    def sample():
        """a_1 * b_2 * c of ``x_1``.

        >>> 1 + 1
        2

            F = m a
        """

    assert (
        reference.docstring(sample)
        == "a\\_1 \\* b\\_2 \\* c of ``x_1``.\n\n```pycon\n>>> 1 + 1\n2\n```\n\n```text\nF = m a\n```"
    )


def test_the_command_line_is_in_the_reference(reference):
    text = reference.entry("command line")
    assert "## dynamis simulate { #dynamis-simulate }" in text
    assert "Usage: dynamis simulate [OPTIONS] ROBOT" in text
    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert all(suffix in page for suffix in re.findall(r"\.[a-z]+(?=[, ]|$)", str(cli.help).split(", or - for")[0]))


# built


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not all(importlib.util.find_spec(name) for name in ("mkdocs", "material")):
        pytest.skip("the site is built where mkdocs-material is installed: pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_the_site_has_every_page_and_asks_nothing_of_the_network(site):
    for page in PAGES:
        assert (site / page.relative_to(DOCS)).with_suffix(".html").is_file(), name_of(page)
    loading = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//|<link\b[^>]*\bhref=[\"']?(?:https?:)?//[^>]*>"
    )
    for page in site.rglob("*.html"):
        found = [x for x in loading.findall(page.read_text(encoding="utf-8")) if 'rel="canonical"' not in x]
        assert not found, f"{page.name}: {found[:3]}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?https?:|@import\s+[\"']?https?:", sheet.read_text(encoding="utf-8")), sheet.name


def test_guides_are_searched_and_listings_of_examples_are_not(site):
    """A listing matches every word of its code, so it would come before the guide of that subject."""
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    places = {entry["location"].partition("#")[0] for entry in json.loads(index)["docs"]}
    assert "identification.html" in places
    assert not any(place.startswith("examples/") for place in places)


def test_the_reference_of_the_site_is_filled_in(site):
    text = (site / "reference" / "robot.html").read_text(encoding="utf-8")
    assert 'id="dynamis.Robot.inverse_dynamics"' in text
    assert "::: dynamis" not in text


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/tutorial.md"])
def test_the_pythons_that_pages_promise_are_those_of_the_package(page):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert project["requires-python"] == f">={versions[0]}"
    assert f"Python {versions[0]}–{versions[-1]}" in (ROOT / page).read_text()
