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
    größe += 1
    return g(a @ b, größe)
'''


@pytest.fixture(scope="module")
def found():
    spec = importlib.util.spec_from_file_location("campaigns_mutants", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.mutants_of(SOURCE)


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
