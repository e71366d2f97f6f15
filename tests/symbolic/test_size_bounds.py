"""Small files with huge expansions: the size is bounded before memory is taken, and the factored form takes over."""

import subprocess
import sys

import flint
import pytest

import dynamis as dy
from dynamis.symbolic import budget, ring
from dynamis.symbolic.ring import Ring

LINK = '[[dh]]\na = 1.0\nmass = "{mass}"\ncom = [-0.5, 0, 0]\ninertia = {{ yy = 10.0, zz = 10.0 }}\n'


def robot_text(parameters, mass):
    lines = [f'{name} = "{value}"' for name, value in parameters.items()]
    return "\n".join(["[robot]", 'name = "hostile"', "gravity = [0, -9.81, 0]", "[parameters]", *lines, ""]) + 2 * LINK.format(
        mass=mass
    )


def nested(first, rule, depth):
    """Parameters p0, p1, …, each made of the one before."""
    return {"p0": first} | {f"p{k + 1}": rule.replace("p", f"p{k}") for k in range(depth)}


HOSTILE = {
    "nested sines": robot_text(nested("symbol", "s(p)+c(p)*p", 40), "p40").replace("s(", "sin(").replace("c(", "cos("),
    "squares": robot_text({"b": "symbol"} | nested("symbol", "p*p+b", 30), "p30"),
    "fractions": robot_text({"b": "symbol", "d": "symbol"} | nested("symbol", "1/(p+b)+1/(p-d)", 30), "p30"),
    "power of a sum": robot_text(dict.fromkeys("abcd", "symbol"), "(a+b+c+d)^64"),
}


SCRIPT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (2 * 10**9, 2 * 10**9))
import dynamis as dy
for path in sys.argv[1:]:
    form = dy.load(path).closed_form(seconds=1)
    form.M, form.g
    print(form.status, len(form.derivation().markdown()), sep="\\t", flush=True)
"""


def test_hostile_parameters_end_in_the_factored_form(tmp_path):
    """In a process with 2 GB: an allocation that fails would abort it."""
    for name, text in HOSTILE.items():
        (tmp_path / f"{name}.toml").write_text(text)
    paths = [str(tmp_path / f"{name}.toml") for name in HOSTILE]
    done = subprocess.run([sys.executable, "-c", SCRIPT, *paths], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"
    for name, line in zip(HOSTILE, done.stdout.strip().splitlines(), strict=True):
        status, length = line.split("\t")
        assert status.startswith("factored: the expanded form "), name
        assert int(length) < 1e6, name


def test_products_are_bounded_before_they_begin(monkeypatch):
    a, b, c = (dy.symbol(name) for name in "abc")
    r = Ring.of([a * b * c])
    total = sum((r.generator(x) for x in (a, b, c)), r.one)
    monkeypatch.setattr(ring, "UNCHECKED_TERM_PRODUCTS", 10)
    monkeypatch.setattr(ring, "TERM_PRODUCTS_PER_BATCH", 500)
    p = total**8
    assert r.product(p, p) == p * p  # in pieces
    monkeypatch.setattr(ring, "MAX_POLYNOMIAL_BYTES", 8 * 3 * 400)
    with pytest.raises(budget.BudgetSpent, match=r"more than 3\d\d terms"):
        r.product(p, p)
    with pytest.raises(budget.BudgetSpent, match="powers above 1000"):
        r.product(r.generator(a) ** 900, r.generator(a) ** 101)


def test_long_coefficients_count_too(monkeypatch):
    a, b = (dy.symbol(name) for name in "ab")
    r = Ring.of([a * b])
    p = (r.generator(a) + flint.fmpq(3**4000, 7**4000) * r.generator(b) + 1) ** 6
    monkeypatch.setattr(ring, "UNCHECKED_TERM_PRODUCTS", 10)
    monkeypatch.setattr(ring, "MAX_POLYNOMIAL_BYTES", 500_000)
    with pytest.raises(budget.BudgetSpent):
        r.product(p, p)


def test_time_is_looked_at_within_a_product(monkeypatch):
    a, b = (dy.symbol(name) for name in "ab")
    r = Ring.of([a * b])
    monkeypatch.setattr(ring, "UNCHECKED_TERM_PRODUCTS", 10)
    monkeypatch.setattr(ring, "TERM_PRODUCTS_PER_BATCH", 500)
    p = (r.generator(a) + r.generator(b) + 1) ** 9
    monkeypatch.setattr(r, "_budget", budget.Budget(seconds=0.0))
    with pytest.raises(budget.BudgetSpent, match="not completed in 0 s"):
        r.product(p, p)


def test_uncancelled_quotients_are_equal_all_the_same(monkeypatch):
    a, b = (dy.symbol(name) for name in "ab")
    monkeypatch.setattr(ring, "MAX_GCD_TERM_PRODUCTS", 1)
    r = Ring.of([a * b])
    assert r.same(r.value((a * a - b * b) / (a - b)), r.value(a + b))
    assert not r.same(r.value((a * a + b * b) / (a - b)), r.value(a + b))


def test_coefficients_beyond_the_range_of_floats(tmp_path):
    path = tmp_path / "huge.toml"
    path.write_text(robot_text({"a": "symbol"}, "(1e-300*a+1e50)^20"))
    form = dy.load(path).closed_form()
    assert "1.50000e+1000" in str(form.M[0, 0])
    assert "e-5298" in str(form.M[0, 0])
    with pytest.raises(dy.InputError, match="exceeds the range of floating-point numbers"):
        form.M[0, 0].node()


def test_information_of_huge_expressions_is_cut(tmp_path):
    from dynamis.symbolic.simplified import simplified

    a, b = (dy.symbol(name) for name in "ab")
    x = a
    for _ in range(30):
        x = x * x + b
    assert len(simplified(x)) < 3000
