"""Long chains: repeated links become loops, and nothing but the length of the code changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from random_trees import random_inertia

import dynamis as dy
from dynamis.algorithms.newton_euler import rnea
from dynamis.compiler import jit, llvm_text
from dynamis.compiler.code import Code, Instruction, with_checks
from dynamis.compiler.columns import _Finder
from dynamis.compiler.gufunc import Gufunc
from dynamis.compiler.kernel import wait_for_compiler
from dynamis.compiler.parts import RING, in_parts
from dynamis.errors import DynamisError, InputError
from dynamis.model.build import with_floating_base
from dynamis.model.description import Description, Drive
from dynamis.scalar.program import MEANING
from dynamis.spatial import Inertia, Pose

X, Y, Z = np.eye(3)
OPERATIONS = MEANING | {
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
}


def chain(links, axes=(Z, Y), seed=None, floating=False, drive=None):
    """Rods, or bodies of random shape where there is a seed."""
    rng = None if seed is None else np.random.default_rng(seed)
    rod = Inertia.about_com(0.2, (0.05, 0.0, 0.0), np.diag([4e-5, 2e-4, 2e-4]))
    d = Description(f"chain of {links}").add_link("base", inertia=rod if floating else None)
    for k in range(links):
        inertia = rod if rng is None else random_inertia(rng)
        place = Pose.translation([0.1, 0.0, 0.0] if rng is None else rng.uniform(-0.2, 0.2, 3))
        parent = f"link{k - 1}" if k else "base"
        fields = {} if drive is None else {"drive": drive}
        d.add_link(f"link{k}", parent, "revolute", origin=place, axis=axes[k % len(axes)], inertia=inertia, **fields)
    return dy.Robot(with_floating_base(d) if floating else d)


def values(code, inputs):
    known = list(inputs)
    for i in code.instructions:
        known.append(OPERATIONS[i.op](*(known[x] if isinstance(x, int) else x for x in i.args)))
    return [np.array([known[x] if isinstance(x, int) else x for x in outputs]) for outputs in code.outputs]


def values_by_parts(parts, code, inputs):
    """What the parts compute, one after the other; what nobody has written is not a number."""
    memory = {name: np.full(shape, np.nan) for name, shape in parts.arrays.items()} | parts.tables
    ends = np.cumsum([size for _, size in code.arguments])
    for k, argument in enumerate(np.split(inputs, ends[:-1])):
        memory[f"argument {k}"][:, 0] = argument
    for k, outputs in enumerate(code.outputs):
        for place, x in enumerate(outputs):
            if not isinstance(x, int):
                memory[f"result {k}"][place, 0] = x

    def at(place, turn):
        row = place.first + place.step * turn
        assert row >= 0
        return row % RING if place.in_ring else row, place.column

    for part in parts.parts:
        for turn in range(part.turns):
            (found,) = values(part.code, [memory[place.array][at(place, turn)] for place in part.reads])
            for place, value in zip(part.writes, found, strict=True):
                memory[place.array][at(place, turn)] = value
    return [memory[f"result {k}"][:, 0] for k in range(len(code.outputs))]


@pytest.mark.parametrize(
    ("function", "options"),
    [
        ("inverse_dynamics", {}),
        ("inverse_dynamics", {"axes": (X, Y, Z), "seed": 1}),
        ("inverse_dynamics", {"floating": True}),
        ("forward_dynamics", {"axes": (Z,)}),
        ("forward_dynamics", {"seed": 2, "drive": Drive(viscous=0.1, rotor_inertia=1e-3, stiffness=0.2)}),
    ],
    ids=["rods", "bodies that differ", "floating", "one axis", "friction, rotors and springs"],
)
def test_parts_compute_the_same_bits(function, options):
    robot = chain(64, **options)
    code = robot.kernel(function).code
    parts = in_parts(code)
    loops = [part for part in parts.parts if part.turns > 1]
    assert len(loops) == (2 if function == "inverse_dynamics" else 3)
    rng = np.random.default_rng(3)
    inputs = np.concatenate([robot.random(rng), *(rng.uniform(-1.0, 1.0, (2, robot.n)))])
    assert [x.tolist() for x in values_by_parts(parts, code, inputs)] == [x.tolist() for x in values(code, inputs)]


def test_loops_in_modules_of_their_own_read_their_tables(monkeypatch):
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 5, 64))
    whole = chain(64, seed=1).kernel("inverse_dynamics")
    assert in_parts(whole.code).tables
    expected = whole(*states)
    monkeypatch.setattr(llvm_text, "STRAIGHT", 100)
    monkeypatch.setattr(llvm_text, "FUNCTIONS", 1)
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")
    apart = chain(64, seed=1).kernel("inverse_dynamics")
    assert np.array_equal(apart(*states), expected)
    assert len(list(llvm_text.modules(apart.code, jit.host_target("double")))) > 3
    assert wait_for_compiler(300.0)


def test_code_does_not_grow_with_the_chain():
    lengths = [sum(len(part.code.instructions) for part in in_parts(chain(n).kernel("inverse_dynamics").code).parts)
               for n in (60, 90)]  # fmt: skip
    assert lengths[0] == lengths[1]


def test_robots_without_repeated_links_stay_as_they_are():
    assert in_parts(dy.load("g1").kernel("inverse_dynamics").code) is None


def test_a_sum_over_irregular_elements_is_not_rolled():
    """The same operation many times, on elements in no order."""
    order = np.random.default_rng(0).permutation(200)
    instructions = [Instruction("mul", (int(order[0]), 2.0))]
    instructions += [Instruction("fma", (int(x), 2.0, 200 + k)) for k, x in enumerate(order[1:])]
    assert in_parts(Code("f", (("x", 200),), (("out0", (1,)),), tuple(instructions), ((399,),))) is None


@pytest.fixture
def running_sum():
    """x, 2 x + ½ y with y the running sum of the others, and constants among and beside them."""
    n = 64
    made = [Instruction("fma", (k, 2.0, n + k - 1 if k else 0.5)) for k in range(n)]
    mixed = tuple(x for k in range(n) for x in (n + k, k / 4.0))
    shapes = (("out0", (n,)), ("out1", (2 * n,)), ("out2", (1,)))
    return Code("f", (("x", n),), shapes, tuple(made), (tuple(range(n)), mixed, (0.25,)))


def test_results_that_are_inputs_or_constants_are_written(running_sum):
    parts = in_parts(running_sum)
    assert parts is not None
    inputs = np.random.default_rng(0).standard_normal(running_sum.inputs)
    found = values_by_parts(parts, running_sum, inputs)
    assert [x.tolist() for x in found] == [x.tolist() for x in values(running_sum, inputs)]


@pytest.mark.parametrize("precision", ["double", "float"])
def test_compiled_parts_write_every_result_of_every_state(running_sum, precision, monkeypatch):
    monkeypatch.setattr(llvm_text, "LONG", 0)
    loaded = jit.Loaded(jit.assemble(llvm_text.render(running_sum, jit.host_target(precision)), 2))
    gufunc = Gufunc(running_sum, precision, loaded.address)
    dtype = np.float32 if precision == "float" else float
    states = np.random.default_rng(0).integers(-9, 9, (43, running_sum.inputs)).astype(dtype)
    for found, expected in zip(
        gufunc.function(states), zip(*(values(running_sum, x) for x in states), strict=True), strict=True
    ):
        assert np.array_equal(found, expected)


@pytest.fixture(scope="module")
def long_arm():
    return chain(72, seed=5)


def some_states(robot, count, dtype=float):
    rng = np.random.default_rng(0)
    return [x.astype(dtype) for x in (robot.random(rng, count), *rng.uniform(-1.0, 1.0, (2, count, robot.n)))]


# both in both precisions: campaign
@pytest.mark.parametrize("dtype", few_of([np.float64, np.float32], [np.float64]))
def test_compiled_loops_give_the_bits_of_straight_code(long_arm, dtype, monkeypatch, tmp_path):
    """Whole vectors of states and rests of them, by either tier."""
    states = some_states(long_arm, 19, dtype)
    rolled = long_arm.kernel("inverse_dynamics")
    assert in_parts(with_checks(rolled.code)) is not None
    quick = rolled(*states)
    wait_for_compiler()
    monkeypatch.setattr(llvm_text, "LONG", 10**9)
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path))
    monkeypatch.setenv("DYNAMIS_TIER", "quick")
    straight = dy.Robot(long_arm.description).kernel("inverse_dynamics")(*states)
    assert np.array_equal(quick, straight)
    assert np.array_equal(rolled(*states), straight)
    assert np.array_equal([rolled(*state) for state in zip(*states, strict=True)], straight)


def test_the_method_gives_what_the_recursion_gives(long_arm):
    """Also for arrays that have to be copied, and for none."""
    q, v, a = some_states(long_arm, 11)
    expected = np.array([rnea(long_arm.model, *state) for state in zip(q, v, a, strict=True)])
    large = np.abs(expected).max(axis=1, keepdims=True)
    assert (np.abs(long_arm.inverse_dynamics(q, v, a) - expected) < 1e-12 * large).all()
    spread = [np.repeat(x, 2, axis=1)[:, ::2] for x in (q, v, a)]
    assert np.array_equal(long_arm.inverse_dynamics(*spread), long_arm.inverse_dynamics(q, v, a))
    assert long_arm.inverse_dynamics(q[:0], v[:0], a[:0]).shape == (0, long_arm.n)


@pytest.mark.parametrize("element", [0, 37, 71])
def test_a_value_that_is_not_finite_is_named(long_arm, element):
    q, v, a = some_states(long_arm, 11)
    long_arm.inverse_dynamics(q, v, a)
    v[5, element] = np.nan
    with pytest.raises(InputError, match=rf"v\[5, {element}\] is nan"):
        long_arm.inverse_dynamics(q, v, a)


def test_a_result_that_is_not_finite_is_reported(long_arm):
    q, v, a = some_states(long_arm, 11)
    long_arm.inverse_dynamics(q, v, a)
    v[4] = 1e200
    with pytest.raises(DynamisError, match=r"finite|overflow"):
        long_arm.inverse_dynamics(q, v, a)


def triangular_solve(n, columns, last=()):
    """X with L X = 2 Z: L has ones on its diagonal; in the last column, the rows ``last`` of Z are zero."""
    made: list[Instruction] = []
    inputs = n * (n - 1) // 2 + n * columns
    x = {}
    for c in range(columns):
        for k in range(n):
            terms = [(k * (k - 1) // 2 + i, x[i, c]) for i in range(k)]
            is_zero = c == columns - 1 and k in last
            made.append(Instruction("mul", terms.pop(0) if is_zero else (n * (n - 1) // 2 + k * columns + c, 2.0)))
            total = inputs + len(made) - 1
            for factors in terms:
                made.append(Instruction("fnma", (*factors, total)))
                total = inputs + len(made) - 1
            x[k, c] = total
    arguments = (("L", n * (n - 1) // 2), ("Z", n * columns))
    outputs = tuple(x[k, c] for k in range(n) for c in range(columns))
    return Code("f", arguments, (("X", (n, columns)),), tuple(made), (outputs,))


@pytest.mark.parametrize(("columns", "turns"), [(4, 2), (5, 5)])
def test_columns_of_a_solution_become_turns(columns, turns):
    code = triangular_solve(14, columns)
    parts = in_parts(code)
    assert [part.turns for part in parts.parts] == [1, turns]
    assert len(parts.parts[1].code.instructions) < len(code.instructions) / turns
    inputs = np.random.default_rng(0).standard_normal(code.inputs)
    assert [x.tolist() for x in values_by_parts(parts, code, inputs)] == [x.tolist() for x in values(code, inputs)]


def test_a_column_that_is_computed_otherwise_is_left_out():
    code = triangular_solve(14, 4, last=(5, 6))
    parts = in_parts(code)
    assert [part.turns for part in parts.parts] == [1, 3]
    inputs = np.random.default_rng(0).standard_normal(code.inputs)
    assert [x.tolist() for x in values_by_parts(parts, code, inputs)] == [x.tolist() for x in values(code, inputs)]


def test_columns_with_results_that_are_used_elsewhere_stay_as_they_are():
    code = triangular_solve(14, 2)
    more = tuple(Instruction("mul", (x, 2.0)) for x in code.outputs[0][-2:])
    first = code.inputs + len(code.instructions)
    changed = replace(code, instructions=code.instructions + more, results=(*code.results, ("doubled", (2,))),
                      outputs=(*code.outputs, (first, first + 1)))  # fmt: skip
    assert in_parts(changed) is None


@pytest.fixture(scope="module")
def quadruped():
    """Four legs of two joints on a free base."""
    rng = np.random.default_rng(1)
    d = Description("quadruped").add_link("base", inertia=random_inertia(rng))
    for leg in range(4):
        for k in range(2):
            d.add_link(f"leg{leg}_{k}", f"leg{leg}_0" if k else "base", "revolute", axis=(X, Y)[k],
                       origin=Pose.translation(rng.uniform(-0.2, 0.2, 3)), inertia=random_inertia(rng))  # fmt: skip
    return dy.Robot(with_floating_base(d))


def test_derivatives_of_accelerations_have_a_loop_for_each_leg(quadruped):
    code = quadruped.kernel("forward_dynamics_derivatives").code
    parts = in_parts(code)
    assert [part.turns for part in parts.parts if part.turns > 1][:4] == [2] * 4
    joints = [column for column in _Finder(code).columns(whole=True) if column.place[1] % 14 >= 6]
    assert len(joints) == 16
    assert len({column.pattern for column in joints}) == 4
    rng = np.random.default_rng(3)
    inputs = np.concatenate([quadruped.random(rng), *(rng.uniform(-1.0, 1.0, (2, quadruped.n)))])
    assert [x.tolist() for x in values_by_parts(parts, code, inputs)] == [x.tolist() for x in values(code, inputs)]


@pytest.mark.parametrize("dtype", few_of([np.float64, np.float32], [np.float32]))
def test_compiled_columns_give_the_bits_of_straight_code(quadruped, dtype, monkeypatch, tmp_path):
    states = some_states(quadruped, 19, dtype)
    name = "forward_dynamics_derivatives"
    rolled = quadruped.kernel(name)
    assert in_parts(with_checks(rolled.code)) is not None
    quick = rolled(*states)
    wait_for_compiler()
    monkeypatch.setattr(llvm_text, "LONG", 10**9)
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path))
    monkeypatch.setenv("DYNAMIS_TIER", "quick")
    straight = dy.Robot(quadruped.description).kernel(name)(*states)
    assert np.array_equal(quick, straight)
    assert np.array_equal(rolled(*states), straight)
