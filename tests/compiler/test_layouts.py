"""The layout of arrays: any strides, alignment and overlap give the bits of plain arrays, and nothing else is touched."""

import sys

import numpy as np
import pytest
from processes import run_python

import dynamis as dy

DTYPES = [np.float64, np.float32]
BATCH = (3, 5)


def fortran(x):
    return np.asfortranarray(x)


def reversed_batch(x):
    return np.ascontiguousarray(x[::-1])[::-1]


def reversed_elements(x):
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1]


def gaps_between_elements(x):
    holder = np.full((*x.shape[:-1], 3 * x.shape[-1]), np.nan, dtype=x.dtype)  # what is read by mistake shows
    holder[..., ::3] = x
    return holder[..., ::3]


def gaps_between_states(x):
    holder = np.full((x.shape[0], 4 * x.shape[1], x.shape[2]), np.nan, dtype=x.dtype)
    holder[:, 1::4] = x
    return holder[:, 1::4]


def elements_outermost(x):
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, -1, 0)), 0, -1)


def off_by_one_byte(x):
    raw = np.zeros(x.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def off_by_half_an_element(x):
    raw = np.zeros(x.nbytes + x.itemsize, dtype=np.uint8)
    half = x.itemsize // 2
    view = raw[half : half + x.nbytes].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def packed_records(x):
    records = np.zeros(x.shape[:-1], dtype=np.dtype([("tag", "i1"), ("x", x.dtype, x.shape[-1])]))
    records["x"] = x
    return records["x"]


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = [
    fortran, reversed_batch, reversed_elements, gaps_between_elements, gaps_between_states, elements_outermost,
    off_by_one_byte, off_by_half_an_element, packed_records,
]  # fmt: skip


@pytest.fixture(scope="module")
def arm():
    return dy.load("scara")


def states(robot, batch, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    q = robot.random(rng, batch)
    return tuple(x.astype(dtype) for x in (q, *rng.uniform(-1, 1, (2, *q.shape[:-1], robot.n))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", [*LAYOUTS, read_only])
def test_the_layout_of_inputs_does_not_change_a_bit(arm, layout, dtype):
    plain = states(arm, BATCH, dtype)
    given = [layout(x) for x in plain]
    assert all(
        x.strides != y.strides or not x.flags.aligned or not x.flags.writeable for x, y in zip(given, plain, strict=True)
    )
    assert all(np.array_equal(x, y) for x, y in zip(given, plain, strict=True))
    assert np.array_equal(arm.inverse_dynamics(*given), arm.inverse_dynamics(*plain))
    assert np.array_equal(arm.mass_matrix(given[0]), arm.mass_matrix(plain[0]))
    bare = arm.kernel("inverse_dynamics").ufunc("double" if dtype == np.float64 else "float")
    assert np.array_equal(bare(*given), bare(*plain))
    # one argument of another layout than the rest
    assert np.array_equal(bare(plain[0], given[1], plain[2]), bare(*plain))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_results_go_to_arrays_of_any_layout(arm, layout, dtype):
    q = states(arm, BATCH, dtype)[0]
    bare = arm.kernel("gravity").ufunc("double" if dtype == np.float64 else "float")
    expected = bare(q)
    out = layout(np.zeros_like(expected))
    assert bare(q, out=out) is out
    assert np.array_equal(out, expected)


def test_matrices_go_to_transposed_and_gapped_arrays(arm):
    q, v, _ = states(arm, BATCH)
    bare = arm.kernel("coriolis_matrix").ufunc()
    expected = bare(q, v)
    assert not np.array_equal(expected, np.swapaxes(expected, -1, -2))  # a symmetric matrix would hide a transposition
    holder = np.full((4, *BATCH[::-1], 8), np.nan)
    out = holder.transpose(2, 1, 0, 3)[..., ::2]
    bare(q, v, out=out)
    assert np.array_equal(out, expected)
    assert np.isnan(holder[..., 1::2]).all()
    columns_first = np.swapaxes(np.full((*BATCH, 4, 4), np.nan), -1, -2)
    bare(q, v, out=columns_first)
    assert np.array_equal(columns_first, expected)


def test_a_repeated_state_is_read_through_stride_zero(arm):
    q, v, a = states(arm, ())
    repeated = [np.broadcast_to(x, (*BATCH, x.shape[-1])) for x in (q, v, a)]
    assert repeated[0].strides[:2] == (0, 0)
    one = arm.inverse_dynamics(q, v, a)
    assert np.array_equal(arm.inverse_dynamics(*repeated), np.broadcast_to(one, (*BATCH, 4)))
    # one number for all elements: stride zero on the last axis, alone and with a batch
    half = np.broadcast_to(np.float64(0.5), (7, 4))
    assert half.strides == (0, 0)
    assert np.array_equal(arm.gravity(half), arm.gravity(np.full((7, 4), 0.5)))
    # axes that only some arguments have
    q, v, a = states(arm, (3, 5))
    mixed = arm.inverse_dynamics(q[:, :1], v[:1], a[1, 2])
    for i in range(3):
        for j in range(5):
            assert np.array_equal(mixed[i, j], arm.inverse_dynamics(q[i, 0], v[0, j], a[1, 2]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9, 64])
def test_an_output_may_be_an_input(arm, dtype, count):
    bare = arm.kernel("gravity").ufunc("double" if dtype == np.float64 else "float")
    q = states(arm, count + 1, dtype)[0]
    for given, out in [
        (lambda x: x[:count], lambda x: x[:count]),
        (lambda x: x[:count], lambda x: x[1:]),  # a result would overwrite a state still to come
        (lambda x: x[1:], lambda x: x[:count]),
        (lambda x: x[:count], lambda x: x[:count][::-1]),
        (lambda x: x[:count], lambda x: x[:count, ::-1]),
    ]:
        work = q.copy()
        expected = bare(given(work).copy())
        bare(given(work), out=out(work))
        assert np.array_equal(out(work), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", range(1, 10))
def test_nothing_is_written_beside_the_results(arm, dtype, count):
    bare = arm.kernel("mass_matrix").ufunc("double" if dtype == np.float64 else "float")
    q = states(arm, count, dtype)[0]
    holder = np.full((count + 16, 4, 4), -7.0, dtype=dtype)
    bare(q, out=holder[8 : 8 + count])
    assert np.array_equal(holder[8 : 8 + count], bare(q))
    assert (holder[:8] == -7.0).all()
    assert (holder[8 + count :] == -7.0).all()


GUARDED = """
import ctypes, mmap, sys
import numpy as np, dynamis as dy
robot = dy.load("scara")
page = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
for dtype, precision in ((np.float64, "double"), (np.float32, "float")):
    bare = robot.kernel("inverse_dynamics").ufunc(precision)
    for count in range(1, 10):
        arrays = []
        for k in range(4):  # three arguments and the result, each ending where a page begins that must not be touched
            memory = mmap.mmap(-1, 2 * page)
            whole = np.frombuffer(memory, dtype=np.uint8)
            size = count * 4 * np.dtype(dtype).itemsize
            arrays.append(whole[page - size : page].view(dtype).reshape(count, 4))
            arrays[-1][...] = np.linspace(0.1, 0.9, 4 * count).reshape(count, 4) * (k < 3)
            assert libc.mprotect(whole.ctypes.data + page, page, 0) == 0
        expected = bare(*(x.copy() for x in arrays[:3]))
        bare(*arrays[:3], out=arrays[3])
        assert np.array_equal(arrays[3], expected)
print("untouched")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is protected through Linux's C library here")
def test_nothing_is_read_or_written_beyond_the_last_state():
    run = run_python(GUARDED, DYNAMIS_NO_CACHE="1", DYNAMIS_TIER="quick")
    assert run.returncode == 0, f"exit {run.returncode}: {run.stderr[-400:]}"  # −11 is a touch of the page behind
    assert run.stdout.strip() == "untouched"
