"""Direct calls: what machine code answers has the bits of the ordinary path, and it leaves to that path all it does not know."""

import inspect
import types

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot, zoo_states
from processes import run_python

import dynamis as dy
from dynamis.compiler import direct, jit
from dynamis.compiler.kernel import Kernel, wait_for_compiler
from dynamis.errors import DynamisError

pytestmark = pytest.mark.skipif(not direct.available(), reason="this interpreter does not allow direct calls")

FUNCTIONS = {"inverse_dynamics": 3, "forward_dynamics": 3, "mass_matrix": 1, "gravity": 1, "bias": 2, "kinetic_energy": 2,
             "potential_energy": 1, "coriolis_matrix": 2, "regressor": 3}  # fmt: skip


def ordinary(robot, name):
    """The method itself, which machine code hands over to."""
    return types.MethodType(getattr(type(robot), name), robot)


@pytest.fixture(scope="module")
def arm():
    robot = dy.load("scara")
    for name, count in FUNCTIONS.items():
        getattr(robot, name)(*[robot.neutral()] * count)
    return robot


@pytest.fixture
def state(arm):
    rng = np.random.default_rng(3)
    return [rng.uniform(-1.0, 1.0, arm.n) for _ in range(3)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("name", NAMES)
def test_every_entry_gives_the_same_bits_on_all_joint_types(name, dtype):
    robot = zoo_robot(name)
    states = zoo_states(robot, 9, dtype)
    dv = states[1]
    for function, arguments in {"inverse_dynamics": states, "mass_matrix": states[:1], "potential_energy": states[:1],
                                "integrate": (states[0], dv), "difference": (states[0], states[0][::-1].copy())}.items():  # fmt: skip
        getattr(robot, function)(*arguments)
        builtin = getattr(robot, function)
        assert isinstance(builtin, types.BuiltinFunctionType)
        kernel = robot.kernel(function)
        expected = kernel.ufunc("double" if dtype == np.float64 else "float")(*arguments)
        assert expected.dtype == dtype
        assert builtin(*arguments).tobytes() == expected.tobytes()
        assert kernel(*arguments).tobytes() == expected.tobytes()
        assert ordinary(robot, function)(*arguments).tobytes() == expected.tobytes()
        ones = [builtin(*one) for one in zip(*arguments, strict=True)]
        assert np.array(ones).tobytes() == expected.tobytes()
        square = [x.reshape(3, 3, -1) for x in arguments]
        assert builtin(*square).shape == (3, 3, *expected.shape[1:])
        assert builtin(*square).tobytes() == expected.tobytes()
        out = np.full_like(expected, 7.0)
        assert builtin(*arguments, out=out) is out
        assert out.tobytes() == expected.tobytes()


class Named(np.ndarray):
    pass


def misaligned(x):
    view = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype)
    view[:] = x
    return view


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


HOSTILE = {
    "list": list, "tuple": tuple, "text": lambda x: "up", "none": lambda x: None, "number": lambda x: 1.5,
    "zero axes": lambda x: np.array(1.0), "subclass": lambda x: x.view(Named), "read-only": read_only,
    "misaligned": misaligned, "reversed": lambda x: x[::-1], "gaps": lambda x: np.repeat(x, 2)[::2],
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()), "half": lambda x: x.astype(np.float16),
    "single": lambda x: x.astype(np.float32), "long": lambda x: x.astype(np.longdouble), "integers": lambda x: x.astype(int),
    "bool": lambda x: x > 0, "complex": lambda x: x + 0j, "objects": lambda x: x.astype(object),
    "symbols": lambda x: np.array([dy.symbol(f"x{k}") for k in range(len(x))]),
    "masked": lambda x: np.ma.masked_greater(x, 0.0), "unmasked": lambda x: np.ma.array(x), "short": lambda x: x[:-1],
    "long vector": lambda x: np.append(x, 0.0), "nan": lambda x: np.append(x[:-1], np.nan),
    "infinite": lambda x: np.append(x[:-1], -np.inf), "huge": lambda x: x * 1e200, "matrix": lambda x: np.stack([x] * 4),
    "one row": lambda x: x[None], "no row": lambda x: np.zeros((0, len(x))), "many axes": lambda x: x[(None,) * 7],
    "broadcast": lambda x: np.broadcast_to(x, (5, len(x))), "columns": lambda x: np.asfortranarray(np.stack([x] * 4)),
    "rows apart": lambda x: np.stack([x] * 8)[::2], "rows backwards": lambda x: np.stack([x, 2 * x, 3 * x])[::-1],
}  # fmt: skip


def outcome(function, *arguments, **options):
    try:
        found = function(*arguments, **options)
    except (DynamisError, TypeError, ValueError) as error:
        return type(error), str(error)
    if found.dtype == object:
        return str(found)
    return found.dtype, found.shape, found.tobytes()


@pytest.mark.parametrize("kind", HOSTILE)
def test_unusual_arguments_are_answered_as_by_the_method_itself(arm, state, kind):
    for place in range(3):
        given = [HOSTILE[kind](x) if k == place else x for k, x in enumerate(state)]
        assert outcome(arm.inverse_dynamics, *given) == outcome(ordinary(arm, "inverse_dynamics"), *given)
        kernel = arm.kernel("inverse_dynamics")
        assert outcome(kernel, *given) == outcome(kernel.call, *given)
    given = [HOSTILE[kind](x) for x in state]
    assert outcome(arm.inverse_dynamics, *given) == outcome(ordinary(arm, "inverse_dynamics"), *given)


def test_calls_with_other_arguments_are_answered_as_by_the_method_itself(arm, state):
    q, v, a = state
    method = ordinary(arm, "inverse_dynamics")
    for arguments, options in [
        ((), {}), ((q,), {}), ((q, v, a, None, None), {}), ((q, v), {"a": a}), ((), {"q": q, "v": v, "a": a}),
        ((q, v, a), {"axes": "local"}), ((q, v, a), {"wrong": 1}), ((q, v, a), {"out": None}), ((q, v, a), {"out": 3}),
        ((q, v, a), {"dtype": np.float32}), ((q, v, a), {"dtype": "f2"}), ((q, v, a, {"tool0": [1.0] * 6}), {}),
        ((q, v, a), {"base": 4}),
    ]:  # fmt: skip
        assert outcome(arm.inverse_dynamics, *arguments, **options) == outcome(method, *arguments, **options)


@pytest.mark.parametrize("batch", [(), (4,)])
def test_a_result_goes_only_where_it_fits(arm, state, batch):
    given = [np.broadcast_to(x, (*batch, arm.n)).copy() for x in state]
    expected = arm.inverse_dynamics(*given)
    for out in [np.empty((*batch, arm.n)), np.empty((*batch, 2 * arm.n))[..., ::2], np.empty((*batch, arm.n)).view(Named)]:
        assert arm.inverse_dynamics(*given, out=out) is out
        assert np.array_equal(out, expected)
    for wrong in [np.empty((*batch, arm.n + 1)), np.empty((2, *batch, arm.n)), np.empty((*batch, arm.n), np.float32),
                  np.empty((*batch, arm.n), int), read_only(expected), list(expected), "there"]:  # fmt: skip
        with pytest.raises(dy.InputError, match="out="):
            arm.inverse_dynamics(*given, out=wrong)
    for k in range(3):  # over an argument: it is read before it is overwritten
        mine = [x.copy() for x in given]
        assert np.array_equal(arm.inverse_dynamics(*mine, out=mine[k]), expected)


def test_a_quaternion_is_tested_where_it_lies():
    robot = zoo_robot("flyer")
    q, v, a = (x[0] for x in zoo_states(robot, 1))
    robot.inverse_dynamics(q, v, a)
    assert isinstance(robot.inverse_dynamics, types.BuiltinFunctionType)
    for place in robot.inputs.quaternions:
        for scale, is_accepted in ((1.0009, True), (0.9991, True), (1.0011, False), (0.9989, False), (0.0, False)):
            q1 = q.copy()
            q1[place] *= scale
            batch = np.stack([q, q, q1, q])
            for call in (lambda: robot.inverse_dynamics(q1, v, a), lambda: robot.inverse_dynamics(batch, v, a)):  # noqa: B023
                if is_accepted:
                    call()
                else:
                    with pytest.raises(dy.InputError, match="quaternion of norm"):
                        call()


def test_an_entry_nobody_reads_must_be_finite_too(arm):
    """Gravity does not depend on the first joint of a SCARA, and the kernel does not load it for its own sake."""
    for batch in (np.zeros(arm.n), np.zeros((20, arm.n))):
        arm.gravity(batch)
        batch.flat[0] = np.nan
        with pytest.raises(dy.InputError, match="nan"):
            arm.gravity(batch)


def test_results_that_overflow_are_an_error(arm, state):
    q, v, a = state
    with pytest.raises(dy.SingularError, match="not finite"):
        arm.inverse_dynamics(q, v * 1e200, a)


def test_several_results_and_numbers():
    robot = dy.load("planar_2r_melchiorri")

    def both(robot, q, v):
        return robot.mass_matrix(q), robot.kinetic_energy(q, v), robot.gravity(q)

    kernel = robot.compile(both)
    q, v = np.ones((2, 4, 2))
    many = kernel(q, v)
    one = kernel(q[0], v[0])
    assert isinstance(one, tuple)
    assert isinstance(one[1], np.float64)
    assert [np.shape(x) for x in one] == [(2, 2), (), (2,)]
    for k in range(3):
        assert np.array_equal(many[k][0], one[k])
        assert np.array_equal(many[k], kernel.call(q, v)[k])
    outs = tuple(np.empty_like(x) for x in many)
    assert all(np.array_equal(x, y) for x, y in zip(kernel(q, v, out=outs), many, strict=True))
    with pytest.raises(dy.InputError, match="tuple of 3"):
        kernel(q, v, out=outs[0])


def test_only_states_of_a_function_of_the_user_must_be_finite(arm, state):
    kernel = arm.compile(lambda robot, q, x: 2.0 * q + x, x=arm.n)
    for _ in range(20):  # interpreted, then compiled
        assert np.isnan(kernel(state[0], np.full(arm.n, np.nan))).all()
        assert np.isinf(kernel(state[0], np.full(arm.n, np.inf))).all()
        with pytest.raises(dy.InputError, match=r"q\[0\] is inf"):
            kernel(np.full(arm.n, np.inf), state[1])


def test_the_builtin_looks_like_the_method(arm):
    builtin, method = arm.jacobian, type(arm).jacobian
    arm.jacobian(arm.neutral())
    builtin = arm.jacobian
    assert isinstance(builtin, types.BuiltinFunctionType)
    assert inspect.getdoc(builtin) == inspect.getdoc(method)
    assert list(inspect.signature(builtin).parameters) == list(inspect.signature(method).parameters)[1:]
    assert builtin.__name__ == "jacobian"


def test_a_function_taken_before_the_first_call_is_called_directly_after_it():
    robot = dy.Robot(dy.load("planar_2r_melchiorri").description)
    held, q = robot.gravity, np.ones(2)
    assert isinstance(held, types.BuiltinFunctionType)
    assert not direct.is_connected(held)
    expected = held([1.0, 1.0])
    assert direct.is_connected(held)
    assert held is robot.gravity
    assert np.array_equal(held(q), expected)


@pytest.mark.parametrize(
    "name", ["inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives"]
)
def test_existing_results_are_overwritten_without_a_detour(monkeypatch, arm, state, name):
    method = getattr(arm, name)
    found = method(*state)
    monkeypatch.setattr(type(arm), "evaluate", None)
    again = method(*[x[::-1].copy() for x in state], out=found)
    expected = method(*[x[::-1].copy() for x in state])
    for x, y in zip(np.atleast_1d(again), np.atleast_1d(expected), strict=True):
        assert np.array_equal(x, y)


def test_named_frames_and_wrenches_are_answered_without_a_detour(monkeypatch, arm, state):
    q, v, a = state
    frame, other = arm.link_names[-1], arm.link_names[1]
    w = np.arange(6.0)

    def answers(q):
        return [
            arm.pose(q, other), arm.pose(q, frame, relative_to=other), arm.jacobian(q, axes="local"), arm.velocity(q, v, other),
            arm.acceleration(q, v, a, other, axes="local", relative_to=frame), arm.jacobian_dot(q, v, frame, axes="local"),
            arm.inverse_dynamics(q, v, a, {frame: w}), arm.forward_dynamics(q, v, a, {frame: w, other: -w}, axes="local"),
            arm.static_torque(q, {other: w}),
        ]  # fmt: skip

    for _ in range(12):  # past the states that are interpreted
        answers(q)
    many = answers(np.stack([q, 2.0 * q]))
    monkeypatch.setattr(type(arm), "_evaluate_given", None)
    for one, both in zip(answers(2.0 * q), many, strict=True):
        np.testing.assert_allclose(one, both[1], rtol=1e-13, atol=1e-13)
    monkeypatch.undo()
    with pytest.raises(dy.InputError, match="finite"):
        arm.pose(np.full(arm.n, np.nan), other)
    with pytest.raises(dy.NameLookupError):
        arm.pose(q, "elsewhere")
    with pytest.raises(dy.DynamisError):
        arm.pose(q, [other])


def test_a_method_of_a_subclass_is_not_bypassed():
    class Doubled(dy.Robot):
        def gravity(self, q, **options):
            return 2.0 * super().gravity(q, **options)

    robot = dy.load("planar_2r_melchiorri")
    doubled = Doubled(robot.description)
    for _ in range(3):
        assert np.array_equal(doubled.gravity(np.ones(2)), 2.0 * robot.gravity(np.ones(2)))


def test_without_direct_calls_the_methods_answer_the_same(state):
    """The switch stands for interpreters whose objects lie otherwise."""
    text = """
import types, numpy as np, dynamis as dy
robot = dy.load("scara")
q = np.linspace(-1, 1, robot.n)
for _ in range(2):
    found = robot.inverse_dynamics(q, q, q)
assert not isinstance(robot.inverse_dynamics, types.BuiltinFunctionType)
try:
    robot.inverse_dynamics(q * np.nan, q, q)
except dy.InputError:
    print(found.tobytes().hex(), robot.inverse_dynamics(np.stack([q] * 3), q, q, out=np.empty((3, robot.n))).tobytes().hex())
"""
    answers = {run_python(text, DYNAMIS_NO_DIRECT="1").stdout}
    robot = dy.load("scara")
    q = np.linspace(-1, 1, robot.n)
    one = robot.inverse_dynamics(q, q, q)
    assert answers == {f"{one.tobytes().hex()} {np.stack([one] * 3).tobytes().hex()}\n"}


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("name", ["wrists", "flyer"])
def test_code_for_single_states_has_the_same_bits(monkeypatch, name, dtype):
    """A single state is computed with short vectors where batches have long ones; from disk it is the same code."""
    precision = "double" if dtype == np.float64 else "float"
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    found = []
    for _ in range(2):
        robot = dy.Robot(zoo_robot(name).description)
        states = zoo_states(robot, 5, dtype)
        for function in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
            arguments = states[: 1 if function == "mass_matrix" else 3]
            batch = getattr(robot, function)(*arguments)
            assert wait_for_compiler(300.0)
            compiled = robot.kernel(function).compiled(precision)
            assert bool(compiled.single[0]) == (jit.single_state_target(precision) is not None)
            ones = np.array([getattr(robot, function)(*one) for one in zip(*arguments, strict=True)])
            assert ones.tobytes() == batch.tobytes()
            found.append(ones.tobytes())
            bad = [x[0].copy() for x in arguments]
            bad[-1][-1] = np.nan
            with pytest.raises(dy.InputError, match="nan"):
                getattr(robot, function)(*bad)
    assert found[:3] == found[3:]


def test_a_kernel_of_more_operands_than_can_be_called_directly_is_called_all_the_same():
    names = [f"x{k}" for k in range(direct.OPERANDS)]
    kernel = Kernel([lambda *vectors: sum(vectors)], [(name, 2) for name in names], "total")
    assert np.array_equal(kernel(*[np.ones(2)] * len(names)), np.full(2, float(len(names))))
    assert not isinstance(kernel.__call__, types.BuiltinFunctionType)


@pytest.mark.skipif(not direct.available(), reason="kernels are not called directly here")
def test_a_builtin_is_connected_unless_it_waits_for_a_kernel():
    assert direct.is_connected(len)
    assert direct.is_connected(lambda x: x)
    assert not direct.is_connected(direct.direct_function("waiting", lambda *values: None))
