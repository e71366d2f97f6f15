"""What holds for the package as a whole: layers, public names, a light and silent import."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import dynamis

SOURCE = Path(dynamis.__file__).parent
# each layer may import from those before it, and from itself
LAYERS = [
    "errors",
    "version",
    "file_limits",
    "mesh_limits",
    "mesh_readers",
    "whole_files",
    "drawing",
    "display",
    "typesetting",
    "scalar",
    "spatial",
    "model",
    "algorithms",
    "compiler",
    "symbolic",
    "robot",
    "analysis",
    "simulation",
    "task_space",
    "statics",
    "kinematics",
    "trajectories",
    "control",
    "identification",
    "report",
    "cli",
]


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dynamis."):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("dynamis."))


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_layer_imports_only_from_those_above_it(path):
    own = path.relative_to(SOURCE).with_suffix("").parts[0]
    if own in ("__init__", "__main__"):
        return
    for module in imports(path):
        if module == "dynamis.model.diagnostics" and own == "errors":
            continue  # for type checkers only: an error carries its findings
        assert LAYERS.index(module.split(".")[1]) <= LAYERS.index(own), f"{path.name} imports {module}"


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
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        names = {n.func.id for n in calls if ast.unparse(n) != "exec('')"}  # nothing, which makes Python forget an interrupt
        assert not names & forbidden, path
        modules = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        starts = {"subprocess"} if path != SOURCE / "report" / "printing.py" else set()  # the browser that prints a page
        assert not modules & {"pickle", "marshal", "shelve", *starts}, path
