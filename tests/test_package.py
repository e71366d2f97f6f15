"""What holds for the package as a whole: layers, public names, a light and silent import."""

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import dynamis

SOURCE = Path(dynamis.__file__).parent
ARCHITECTURE = SOURCE.parents[1] / "docs" / "architecture.md"
GROUPS = {
    "basics": ["errors", "version", "tolerances", "files"],
    "core": ["scalar", "spatial", "model", "algorithms", "compiler"],
}


def declared():
    """The packages each package may import from: the table of docs/architecture.md."""
    if not ARCHITECTURE.exists():
        return {}
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]*)\|$", ARCHITECTURE.read_text(encoding="utf-8"), flags=re.M)
    named = {room: [word for word in allowed.strip().split(", ") if word] for room, allowed in rows}
    named["cli"] = list(named)
    return {room: {x for word in words for x in GROUPS.get(word, [word])} - {room} for room, words in named.items()}


ROOMS = declared()


def module_of(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(("dynamis", *(parts[:-1] if parts[-1] == "__init__" else parts)))


MODULES = {module_of(path): path for path in SOURCE.rglob("*.py")}


@cache
def nodes(path):
    """Every node of a file's syntax tree."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path):
    """Every module a file imports, also within functions, for type checkers only, and as a name of a package."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "dynamis":
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in MODULES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_imports_only_from_rooms_declared_for_it(room):
    found = {(module, name) for module, path in MODULES.items() if module.split(".")[1:2] == [room] for name in imports(path)}
    wrong = [f"{a} imports {b}" for a, b in sorted(found) if b.split(".")[1:2] != [room] and b.split(".")[1] not in ROOMS[room]]
    assert not wrong


@pytest.mark.skipif(not ROOMS, reason="docs/architecture.md is not part of an installed package")
def test_every_module_is_in_a_room_and_rooms_form_no_circle():
    assert {module.split(".")[1] for module in MODULES if "." in module} == {*ROOMS, "__main__"}
    graphlib.TopologicalSorter(ROOMS).prepare()


def test_modules_import_each_other_in_no_circle():
    # the root package names its modules without importing them
    graphlib.TopologicalSorter({name: set(imports(path)) - {name, "dynamis"} for name, path in MODULES.items()}).prepare()


def test_no_module_has_more_than_400_lines():
    assert not {name: n for name, path in MODULES.items() if (n := len(path.read_text(encoding="utf-8").splitlines())) > 400}


def small_floats(value):
    """The positive float literals of at most 1e-4 in an expression."""
    return [n.value for n in ast.walk(value) if isinstance(n, ast.Constant) and type(n.value) is float and 0 < n.value <= 1e-4]


def test_tolerances_are_defined_in_one_module():
    # not tolerances: ranges of dampings, relaxations, step lengths and of numbers printed without a power of ten
    allowed = {
        "MIN_PLAIN",
        "MIN_DAMPING",
        "RELAXATIONS",
        "SHORT_STEPS",
        "STIFF_STEP",
        "STEP_RANGE",
        "ADAPTIVE",
    }
    found = set()
    for name, path in MODULES.items():
        if name == "dynamis.tolerances" or name.split(".")[1:2] in (["identification"], ["compiler"], ["scalar"]):
            continue
        for statement in nodes(path)[0].body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value and small_floats(statement.value):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                names = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
                if not names & allowed and all(x == x.upper() for x in names):
                    found.add(f"{name}: {', '.join(sorted(names))}")
    assert not found


def test_no_module_uses_private_names_of_another():
    for name, path in MODULES.items():
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dynamis"):
                assert not [alias.name for alias in node.names if alias.name.startswith("_") and alias.name != "__version__"], (
                    name
                )


def test_every_public_name_resolves_and_is_listed_once():
    assert len(dynamis.__all__) == len(set(dynamis.__all__))
    for name in dynamis.__all__:
        assert getattr(dynamis, name) is not None
    assert set(dynamis._HOME) | set(dynamis._MODULES) | {"__version__"} == set(dynamis.__all__)


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        dynamis.laod  # noqa: B018


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_prints_nothing_configures_nothing_and_loads_no_extra():
    code = """
import logging, numpy, sys, warnings
before = list(warnings.filters), logging.getLogger().handlers[:]
import dynamis, dynamis.robot
assert before == (list(warnings.filters), logging.getLogger().handlers[:])
extras = {'scipy', 'sympy', 'matplotlib', 'trimesh', 'pinocchio', 'mujoco', 'casadi', 'jax', 'torch', 'click', 'rich', 'flint'}
print(sorted(extras & set(sys.modules)))
"""
    assert run(code) == "[]\n"


def test_loading_a_robot_of_the_library_imports_no_reader_of_another_format_and_no_writer():
    code = """
import sys, dynamis
dynamis.load('ur5e')
others = [f'dynamis.model.readers.{kind}' for kind in ('mjcf', 'sdf', 'usd', 'xacro', 'pinocchio')]
print([name for name in sys.modules if name in others or name.startswith('dynamis.model.writers.')])
"""
    assert run(code) == "[]\n"


def test_what_an_extra_installs_is_installed_by_its_name():
    project = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = ("test", "oracles", "rivals", "lint", "docs")  # of the project's own work
    extras = {name: needed for name, needed in project["optional-dependencies"].items() if name not in groups}
    packages = {re.match(r"[\w.-]+", x)[0] for needed in extras.values() for x in needed}
    for path in sorted(SOURCE.rglob("*.py")):
        told = re.findall(r"pip install ([\w.-]+|['\"][^'\"]+['\"])", path.read_text(encoding="utf-8"))
        assert not packages.intersection(told), path
        named = {x for x in told if x.startswith(("'dynamis", '"'))}
        assert named <= {f"'dynamis[{name}]'" for name in (*extras, "oracles")}, path


def test_asking_for_the_version_loads_not_even_numpy():
    code = "import sys, dynamis.cli; sys.argv = ['dynamis', '--version']; dynamis.cli.main(); print('numpy' in sys.modules)"
    assert run(code) == f"dynamis {dynamis.__version__}\nFalse\n"


def test_the_doctests_of_a_module_named_as_its_function_run_on_their_own():
    module = SOURCE / "statics" / "duality.py"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(module)], capture_output=True, text=True, cwd=SOURCE.parents[1]
    )
    assert "1 passed" in run.stdout


def test_no_source_evaluates_text_or_unpickles():
    forbidden = {"eval", "exec", "compile", "__import__"}
    for path in SOURCE.rglob("*.py"):
        calls = [n for n in nodes(path) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in forbidden]
        # exec('') does nothing, but makes Python forget an interrupt
        assert {ast.unparse(n) for n in calls} <= {"exec('')"}, path
        modules = {a.name for n in nodes(path) if isinstance(n, ast.Import) for a in n.names}
        # the browser that prints a page, the compiler of FMUs, and OpenUSD, which some damaged files end
        starting = {SOURCE / "documents" / "printing.py", SOURCE / "simulation" / "fmu" / "build.py",
                    SOURCE / "model" / "readers" / "usd_files.py"}  # fmt: skip
        starts = {"subprocess"} if path not in starting else set()
        assert not modules & {"pickle", "marshal", "shelve", *starts}, path


@pytest.mark.skipif(not ROOMS, reason="docs/architecture.md is not part of an installed package")
def test_every_file_and_name_of_the_architecture_page_exists():
    """A file without a folder lies in a folder named before it, in the same path or row."""
    text = ARCHITECTURE.read_text(encoding="utf-8").partition("## Five paths")[2]
    source = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    files = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*") if path.suffix in (".py", ".js")}
    missing = []
    for part in re.split(r"\n(?=\*\*|\| )", text):
        folders = {""}
        for name in re.findall(r"`([^`]+)`", part):
            if name.endswith((".py", ".js")):
                path = name.removeprefix("dynamis/")
                folders |= {path[: k + 1] for k in range(len(path)) if path[k] == "/"}
                missing += [] if any(folder + path in files for folder in folders) else [name]
            elif re.fullmatch(r"[A-Z]\w+", name):
                missing += [] if re.search(rf"\b{name}\b", source) else [name]
    assert not missing


SMOKE = Path(__file__).parents[1] / ".ci" / "smoke"


@pytest.mark.skipif(not SMOKE.exists(), reason=".ci is not part of an installed package")
def test_the_smoke_test_names_tests_that_exist():
    named = re.findall(r"^ +\"?(tests/[\w/.]+)(?:::(\w+))?", SMOKE.read_text(), re.MULTILINE)
    assert len(named) > 10
    for path, name in named:
        place = SMOKE.parents[1] / path
        assert place.exists(), path
        assert not name or f"def {name}(" in place.read_text(), f"{path}::{name}"
