"""The mutation campaign changes what is computed, one thing at a time, and nothing else."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATH = ROOT / "campaigns" / "mutants.py"
pytestmark = pytest.mark.skipif(not PATH.exists(), reason="campaigns/ is not part of an installed package")

SOURCE = '''"""Text with 1 + 1."""
LIMIT: float = 1e-6

@decorated(1)
def f(a, b=2.0):
    """Not 3 * 4."""
    if a < b and not b:
        raise ValueError(f"{a + b}")
    größe = -a * b
    größe = max(a, b @ b)
    größe += 1
    return g(a @ b, größe)
'''


def imported(name):
    spec = importlib.util.spec_from_file_location(f"campaigns_{name}", PATH.with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def found():
    return imported("mutants").mutants_of(SOURCE)


def test_every_kind_of_change_is_made_and_text_is_left_alone(found):
    assert {(m.kind, m.before, m.after) for m in found} == {
        ("tolerance", "1e-6", "9.999999999999999e-05"),
        ("constant", "2.0", "4.0"),
        ("negate condition", "a < b and not b", "(not (a < b and (not b)))"),
        ("logic", "a < b and not b", "(a < b or not b)"),
        ("comparison", "a < b", "(a <= b)"),
        ("sign", "not b", "(b)"),
        ("drop statement", 'raise ValueError(f"{a + b}")', "pass"),
        ("arithmetic", "-a * b", "(-a / b)"),
        ("sign", "-a", "(a)"),
        ("drop statement", "größe += 1", "pass"),
        ("constant", "1", "2"),
        ("swap arguments", "g(a @ b, größe)", "(g(größe, a @ b))"),
        ("swap operands", "a @ b", "(b @ a)"),
    }


def test_a_change_is_made_where_it_stands(found):
    for mutant in found:
        changed = mutant.applied(SOURCE)
        assert mutant.compiles(SOURCE)
        assert changed != SOURCE
        assert len(changed) == len(SOURCE) - len(mutant.before) + len(mutant.after)
        assert SOURCE.splitlines()[mutant.line - 1].find(mutant.before) >= 0


@pytest.fixture
def covering(tmp_path):
    module = imported("covering")
    (tmp_path / "f.py").write_text(COVERED)
    found = module.Covering(tmp_path, lambda _: ["part"])
    for test, (seconds, lines) in {"slow::a": (3.0, [5, 6, 9]), "quick::b": (0.01, [5, 6]), "other::c": (0.0, [13])}.items():
        found.seconds[test] = seconds
        for number in lines:
            found.tests.setdefault(module.line_of("f.py", COVERED.splitlines()[number - 1]), set()).add(test)
            found.of_file.setdefault("f.py", set()).add(test)
    return found


COVERED = """LIMIT = 1.0
UNUSED = 2.0

def f(a, b=3.0):
    if a > LIMIT:
        return g(
            a,
            b)
    return a - b

def g(a, b):
    c = a * b
    return h(c)
"""


@pytest.mark.parametrize(
    ("line", "tests"),
    [(5, ["quick::b", "slow::a"]), (8, ["quick::b", "slow::a"]), (9, ["slow::a"]), (12, []), (13, ["other::c"]),
     (4, ["quick::b", "slow::a"]), (1, ["quick::b", "slow::a"]), (2, ["other::c", "quick::b", "slow::a"])],
)  # fmt: skip
def test_a_change_is_tried_with_the_tests_that_execute_its_statement_the_quickest_first(covering, line, tests):
    """Lines 1, 2 and 4 are executed by the import: the tests are those of the lines that use the name, or of the function."""
    assert covering.select("f.py", line) == tests


@pytest.mark.parametrize("traced", ["part", "part/f.py"])
def test_the_lines_that_a_function_executes_are_recorded(tmp_path, traced):
    path = tmp_path / "src" / "dynamis" / "part" / "f.py"
    path.parent.mkdir(parents=True)
    path.write_text(COVERED)
    module = imported("covering")
    space, others = {}, {}
    exec(compile(COVERED, path, "exec"), space)
    exec(compile(COVERED, path.with_name("g.py"), "exec"), others)
    tracer = module.Tracer(tmp_path, [traced])
    before = sys.gettrace()
    try:
        tracer.start()
        space["f"](0.5)
        if traced.endswith(".py"):
            others["f"](0.5)
        assert tracer.stop() == {"src/dynamis/part/f.py": [5, 9]}
    finally:
        sys.settrace(before)


def test_code_that_is_gone_does_not_hide_code_at_its_place(tmp_path):
    """Identities of code are used again: those of lines that are not recorded stay alive as long as the recording."""
    tracer = imported("covering").Tracer(tmp_path, ["part"])
    before = sys.gettrace()
    try:
        tracer.start()
        for _ in range(20):
            eval("(lambda: 1)()")
        tracer.stop()
    finally:
        sys.settrace(before)
    assert {id(code) for code in tracer.others} == {key for key, function in tracer.functions.items() if function is None}
