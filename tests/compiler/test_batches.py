"""Batches of any size and shape: empty, one state, odd numbers, very many, several results at once."""

import itertools
import sys

import numpy as np
import pytest
from processes import run_python

import dynamis as dy

DTYPES = [np.float64, np.float32]


@pytest.fixture(scope="module")
def arm():
    return dy.load("scara")


def states(robot, batch, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    q = robot.random(rng, batch)
    return tuple(x.astype(dtype) for x in (q, *rng.uniform(-1, 1, (2, *q.shape[:-1], robot.n))))


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [(0,), (3, 0, 2), (0, 0), (1, 0)])
def test_an_empty_batch_gives_an_empty_result(arm, monkeypatch, batch, dtype, threads):
    monkeypatch.setenv("DYNAMIS_NUM_THREADS", threads)
    q = np.zeros((*batch, 4), dtype=dtype)
    for found, shape in [
        (arm.inverse_dynamics(q, q, q), (4,)), (arm.mass_matrix(q), (4, 4)), (arm.kinetic_energy(q, q), ()),
        (arm.pose(q), (4, 4)), (arm.kernel("gravity")(q), (4,)), (arm.inverse_dynamics(q, np.zeros(4, dtype), q), (4,)),
    ]:  # fmt: skip
        assert found.shape == (*batch, *shape)
        assert found.dtype == dtype


def test_an_empty_axis_broadcasts_against_a_single_state(arm):
    q, v = np.zeros((1, 4)), np.zeros((0, 4))
    assert arm.bias(q, v).shape == (0, 4)
    with pytest.raises(dy.InputError, match="do not broadcast"):
        arm.bias(np.zeros((2, 4)), v)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 4097])
def test_every_state_of_a_batch_is_what_it_is_alone(arm, dtype, count):
    q, v, a = states(arm, count, dtype)
    tau, M, T = arm.inverse_dynamics(q, v, a), arm.mass_matrix(q), arm.kinetic_energy(q, v)
    assert tau.shape == (count, 4)
    for k in {0, 1, 2, count // 2, count - 2, count - 1} & set(range(count)):
        assert np.array_equal(tau[k], arm.inverse_dynamics(q[k], v[k], a[k]))
        assert np.array_equal(M[k], arm.mass_matrix(q[k]))
        assert T[k] == arm.kinetic_energy(q[k], v[k])


def test_the_length_of_a_batch_axis_of_one_is_kept(arm):
    q = states(arm, (1, 1, 1))[0]
    assert arm.gravity(q).shape == (1, 1, 1, 4)
    assert arm.potential_energy(q).shape == (1, 1, 1)
    assert arm.potential_energy(q[0, 0, 0]).shape == ()


@pytest.mark.parametrize("threads", ["1", "3"])
def test_two_hundred_thousand_states_are_their_pieces(arm, monkeypatch, threads):
    monkeypatch.setenv("DYNAMIS_NUM_THREADS", threads)
    count = 200_000
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-3, 3, (3, count, 4))
    whole = arm.inverse_dynamics(q, v, a)
    edges = [0, 1, 3, 64, 4099, 70_001, 133_333, 199_999, count]
    pieces = [arm.inverse_dynamics(q[i:j], v[i:j], a[i:j]) for i, j in itertools.pairwise(edges)]
    assert np.array_equal(whole, np.concatenate(pieces))
    folded = arm.inverse_dynamics(*(x.reshape(8, 25, 1000, 4) for x in (q, v, a)))
    assert np.array_equal(folded.reshape(count, 4), whole)


def test_several_results_have_their_own_shapes_in_every_batch(arm, monkeypatch):
    """A number, a vector, a matrix and a constant at once: split over threads as well as in one call."""
    law = arm.compile(lambda robot, x: (np.dot(x, x), 2.0 * x, np.outer(x, x), np.array([1.5, x[0]], dtype=object)), x=3)
    x = np.random.default_rng(1).uniform(-1, 1, (60_000, 3))
    results = []
    for threads in ("1", "2"):
        monkeypatch.setenv("DYNAMIS_NUM_THREADS", threads)
        results.append(law(x))
    for one, two, shape in zip(*results, [(), (3,), (3, 3), (2,)], strict=True):
        assert one.shape == (60_000, *shape)
        assert np.array_equal(one, two)
    number, vector, matrix, constant = results[0]
    assert np.array_equal(vector, 2.0 * x)
    assert np.array_equal(matrix, x[:, :, None] * x[:, None, :])
    assert np.array_equal(constant, np.stack([np.full(60_000, 1.5), x[:, 0]], axis=-1))
    assert np.allclose(number, (x * x).sum(axis=1), rtol=1e-15)


@pytest.mark.parametrize(
    ("law", "sizes", "shape"), [(lambda robot, x: np.zeros(0), 2, (0,)), (lambda robot, x: np.zeros((3, 0)), 2, (3, 0))]
)
def test_a_law_without_results_gives_an_empty_array(arm, law, sizes, shape):
    assert arm.compile(law, x=sizes)(np.zeros((5, sizes))).shape == (5, *shape)


def test_an_argument_of_length_zero_is_no_error(arm):
    """A law over a list of obstacles that happens to be empty."""
    law = arm.compile(lambda robot, q, obstacles: q + sum(obstacles, 0.0), obstacles=0)
    assert np.array_equal(law(np.ones((5, 4)), np.zeros((5, 0))), np.ones((5, 4)))


def test_wrenches_on_more_frames_than_a_ufunc_has_operands(arm):
    """NumPy allows 64; a robot with skin has more patches than that."""
    d = arm.description
    tip = d.links[-1].name
    for k in range(70):
        d.add_link(f"patch{k}", tip, origin=dy.Pose.translation([0.01 * k, 0.0, 0.0]))
    robot = dy.Robot(d)
    q, v, a = states(robot, 3)
    push = {f"patch{k}": np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0]) for k in range(70)}
    # the same force and moment at one place
    moment = -np.cross([0.01 * sum(range(70)), 0.0, 0.0], [0.0, 0.0, 1.0])
    expected = robot.inverse_dynamics(q, v, a, {tip: np.array([0.0, 0.0, -70.0, *moment])}, axes="local")
    assert np.allclose(robot.inverse_dynamics(q, v, a, push, axes="local"), expected, rtol=1e-12, atol=1e-10)


LONG_ARGUMENT = """
import resource
resource.setrlimit(resource.RLIMIT_STACK, (2_000_000, resource.getrlimit(resource.RLIMIT_STACK)[1]))
import numpy as np, dynamis as dy
robot = dy.load("scara")
for length in (10, 150_000):  # the short one shows that the stack is long enough for everything else
    law = robot.compile(lambda robot, table: table[:2] + table[-1], table=length)
    print(law(np.arange(float(length))).tolist(), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the stack of the first thread is bounded while it runs on Linux only")
def test_a_long_argument_needs_no_long_stack():
    """Threads have short stacks on some systems; running over one ends the process, or worse."""
    run = run_python(LONG_ARGUMENT, DYNAMIS_NO_CACHE="1", DYNAMIS_TIER="quick")
    assert run.stdout.splitlines()[:1] == ["[9.0, 10.0]"]
    assert run.returncode == 0, f"exit {run.returncode}: {run.stderr[-400:]}"  # −11 is a stack that ran over
    assert run.stdout.splitlines()[1:] == ["[149999.0, 150000.0]"]
