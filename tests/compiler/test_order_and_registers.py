"""The passes between instructions and LLVM: written-out angles, the order of evaluation, and what waits where."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.compiler.c_text import evaluate
from dynamis.compiler.code import Code, Instruction
from dynamis.compiler.expand_sincos import expand_sincos
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.llvm_body import Body, key, steps
from dynamis.compiler.registers import Registers
from dynamis.compiler.schedule import quick_order, schedule
from dynamis.compiler.target import Target

CODES = [
    pytest.param(lambda name=name, function=function: dy.load(name).kernel(function).code, id=f"{name} {function}")
    for name in ("ur5e", "scara", "nine_body_tree")
    for function in ("inverse_dynamics", "forward_dynamics", "mass_matrix")
]


def random_state(code, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=size) for _, size in code.arguments]


@pytest.mark.parametrize("make", CODES)
@pytest.mark.parametrize("order", [schedule, quick_order])
def test_another_order_has_the_same_instructions_and_results(make, order):
    code = make()
    other = order(code)
    assert sorted(i.op for i in other.instructions) == sorted(i.op for i in code.instructions)
    for number, i in enumerate(other.instructions, other.inputs):
        assert all(x < number for x in i.args if isinstance(x, int)), "an operand comes after its use"
    state = random_state(code)
    for found, expected in zip(evaluate(other, state), evaluate(code, state), strict=True):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("make", CODES)
def test_angles_are_gathered_before_all_else(make):
    code = schedule(expand_sincos(make(), "double"))
    places = [k for k, i in enumerate(code.instructions) if i.op == "near"]
    assert places == list(range(places[0], places[0] + len(places)))
    assert not {i.op for i in code.instructions} & {"sin", "cos"}
    # one reduction for both; what nobody asks for is not computed
    picked = sum(i.op == "pick" for i in code.instructions)
    assert picked == sum(i.op in ("sin", "cos") for i in make().instructions)


def test_an_angle_that_depends_on_a_sine_is_checked_on_its_own():
    code = Kernel([lambda x: np.array([np.sin(3.0 * np.cos(x[0]) + x[1])])], [("x", 2)], "f").code
    groups = [step.angles for step in steps(schedule(expand_sincos(code, "double")), Target("double", 2, 32)) if step.angles]
    assert [len(group) for group in groups] == [1, 1]


@pytest.mark.parametrize("make", CODES)
@pytest.mark.parametrize("registers", [12, 16, 32])
def test_what_is_read_was_written_and_never_more_is_held_than_there_is_room(make, registers):
    """The plan, replayed: every operand is in a register when it is used, every slot read holds the value asked for."""
    code = schedule(expand_sincos(make(), "double"))
    taken = steps(code, Target("double", 2, registers))
    memory, current = {}, {}

    def store(register, slot):
        memory[slot] = register

    plan = Registers([step.uses for step in taken], registers, store)
    for k, step in enumerate(taken):
        for x in dict.fromkeys(step.uses):
            if x not in plan:
                if isinstance(x, int) and plan.in_memory(x):
                    assert memory[plan.slot(x)[0]] == f"value {x}"
                plan.make_room(1, k, step.uses)
                plan.hold(x, (f"value {x}", False))
            current[x] = plan[x]
            assert current[x][0] == f"value {x}"
        plan.passed(k, step.uses)
        made = [step.number] if step.instruction is not None else [number for _, number in step.angles]
        for x in made:
            plan.make_room(1, k)
            plan.hold(x, (f"value {x}", False))
        assert len(plan._held) <= registers
    assert not plan._held, "something is held that nobody needs"


def test_a_value_that_can_be_read_again_goes_first():
    """Three values for two registers: the one in memory goes although the other is needed later."""
    uses = [(0,), (1,), (0, (5.0,)), (2,), (2,), ((5.0,),), (2,), (2,), (2,), (0,)]
    stored = []
    plan = Registers(uses, 2, lambda register, slot: stored.append(register))
    plan.hold(0, ("zero", False))
    plan.hold((5.0,), ("five", False))
    plan.make_room(1, 2)
    assert 0 in plan
    assert (5.0,) not in plan
    assert not stored


def test_few_registers_give_the_same_kernel_with_more_memory():
    code = schedule(expand_sincos(dy.load("panda").kernel("forward_dynamics").code, "double"))
    bodies = [Body(code, Target("double", 2, count)) for count in (14, 32)]
    for body in bodies:
        assert list(body.functions())
    few, many = (body.registers.slots for body in bodies)
    assert few > many > 0


def test_constants_of_either_sign_share_a_place():
    assert key(-2.5) == key(2.5) != key(2)
    code = Code("f", (("x", 1),), (("out0", (1,)),), (Instruction("fma", (0, -2.5, 2.5)),), ((1,),))
    body = Body(code, Target("double", 2, 32))
    assert list(body.functions())
    assert list(body.constants) == [2.5]


@pytest.mark.parametrize("registers", [16, 32])
def test_a_constant_is_not_taken_for_the_value_of_that_number(registers):
    # each adds to value k a product with the number k, which Python calls equal
    instructions = [Instruction("mul", (0, 1)), Instruction("mul", (1, 2))]
    for number in range(5, 60):
        instructions.append(Instruction("fnma", (float(number - 2), 0, number - 2)))
    code = Code("f", (("x", 3),), (("y", (2,)),), tuple(instructions), ((58, 59),))
    for ordered in (quick_order(code), schedule(code, registers)):
        for number, i in enumerate(ordered.instructions, ordered.inputs):
            assert all(x < number for x in i.args if isinstance(x, int)), "an operand comes after its use"
        state = random_state(code)
        assert np.array_equal(evaluate(ordered, state)[0], evaluate(code, state)[0])
