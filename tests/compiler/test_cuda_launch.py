"""How kernels are launched on a GPU, with the memory and the threads of the host in the place of CuPy's."""

import ctypes
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import dynamis as dy
from dynamis.algorithms.derivatives import TorqueDerivatives
from dynamis.compiler import cuda, cuda_time_stepper
from dynamis.compiler.kernel import Kernel

SIZES = (2, 3)


def function(a, b):
    return np.array([a[0] * b[0] + a[1], b[1] - a[0], 2.0 * b[2]])


class DeviceArray(np.ndarray):
    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)


def device(x):
    return np.ascontiguousarray(x).view(DeviceArray)


class Grid:
    """The kernel's threads, one after the other; ``launches`` counts them by the way they were started."""

    kernel = SimpleNamespace(ptr=11)

    def __init__(self):
        self.launches = []

    def __call__(self, grid, block, arguments):
        *pairs, out, count = arguments
        words = [x.ctypes.data if isinstance(x, np.ndarray) else int(x) for x in pairs]
        self.run(grid[0], block[0], out.dtype, words, out.ctypes.data, int(count))
        self.launches.append("by CuPy")

    def driver(self, kernel, grid, y, z, block, y_threads, z_threads, shared, stream, parameters, extra):
        assert (kernel, y, z, y_threads, z_threads, shared, stream, extra) == (11, 1, 1, 1, 1, 0, 7, 0)
        count = 2 * len(SIZES) + 2
        *words, out, states = (ctypes.c_int64.from_address(p).value for p in (ctypes.c_void_p * count).from_address(parameters))
        self.run(grid, block, np.dtype(float), words, out, states)
        self.launches.append("by the driver")

    def run(self, grid, block, dtype, words, out, count):
        assert (grid - 1) * block < count <= grid * block

        def row(address, start, size):
            bytes_ = (ctypes.c_char * (size * dtype.itemsize)).from_address(address + start * dtype.itemsize)
            return np.frombuffer(bytes_, dtype)

        for i in range(count):
            inputs = [row(words[2 * k], words[2 * k + 1] * i, size) for k, size in enumerate(SIZES)]
            row(out, 3 * i, 3)[:] = function(*inputs)


@pytest.fixture
def grid(monkeypatch):
    found = Grid()
    stream, driver = (lambda: SimpleNamespace(ptr=7)), SimpleNamespace(launchKernel=found.driver)
    cupy = SimpleNamespace(
        ndarray=DeviceArray, asarray=lambda x: np.asarray(x).view(DeviceArray), empty=DeviceArray, ascontiguousarray=device,
        broadcast_to=np.broadcast_to, cuda=SimpleNamespace(get_current_stream=stream, driver=driver),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(cuda, "compile_module", lambda source, options: SimpleNamespace(get_function=lambda name: found))
    return found


@pytest.fixture(scope="module")
def code():
    return Kernel([function], [("a", 2), ("b", 3)], "small").code


def expected(a, b):
    batch = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    rows = [np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (a, b)]
    return np.array([function(*state) for state in zip(*rows, strict=True)]).reshape(*batch, 3)


@pytest.mark.parametrize(
    "batches", [((300,), (300,)), ((), ()), ((4, 40), ()), ((5, 1), (3,)), ((128,), (128,)), ((1,), (129,))]
)
def test_every_state_of_a_broadcast_batch_is_computed_once(batches, code, grid):
    rng, kernel = np.random.default_rng(0), cuda.CudaKernel(code)
    a, b = (device(rng.uniform(-1.0, 1.0, (*batch, n))) for batch, n in zip(batches, SIZES, strict=True))
    for _ in range(2):  # the second time arrays of the same shapes may go by the prepared launch
        result = kernel(a, b)
        assert type(result) is DeviceArray
        np.testing.assert_array_equal(result, expected(a, b))
    assert grid.launches == ["by CuPy", "by the driver" if batches[0] == batches[1] else "by CuPy"]


def test_what_is_not_ordinary_does_not_go_by_the_prepared_launch(code, grid):
    rng, kernel = np.random.default_rng(0), cuda.CudaKernel(code)
    a, b = (device(rng.uniform(-1.0, 1.0, (7, n))) for n in SIZES)
    kernel(a, b)
    single = [x.astype(np.float32) for x in (a, b)]
    others = {
        "strided": (a, device(np.repeat(b, 2, axis=0))[::2]), "of integers": (a, b.astype(int)),
        "of another batch": (a, b[:1]), "single": single, "mixed": (a, single[1]),
    }  # fmt: skip
    for values in others.values():
        result = kernel(*values)
        assert result.dtype == (np.float32 if values is single else float)
        np.testing.assert_allclose(result, expected(*values), rtol=1e-6 if values is single else 1e-15)
    assert grid.launches == ["by CuPy"] * (1 + len(others))
    for wrong in ((a, b[:, :2]), (a, np.array(1.0)), (a, np.full((7, 3), "x"))):
        with pytest.raises(dy.InputError, match="b must be a numeric array with 3 entries"):
            kernel(*wrong)
    assert kernel(a[:0], b[:0]).shape == (0, 3)
    assert len(grid.launches) == 1 + len(others)  # nothing was started for no states


def test_arrays_of_other_libraries_are_launched_like_those_of_cupy(code, grid):
    class Tensor:
        """An array of a library whose types are not NumPy's."""

        dtype = object()

        def __init__(self, x):
            self.x, self.shape, self.__cuda_array_interface__ = x, x.shape, {}

        def __array__(self, dtype=None, copy=None):
            return self.x

    rng, kernel = np.random.default_rng(0), cuda.CudaKernel(code)
    a, b = (device(rng.uniform(-1.0, 1.0, (7, n))) for n in SIZES)
    for values in ((Tensor(a), Tensor(b)), (Tensor(a), b), (a, np.asarray(b))):
        np.testing.assert_array_equal(kernel(*values), expected(a, b))
    assert grid.launches == ["by CuPy", "by the driver", "by the driver"]


def test_memory_of_a_gpu_is_not_copied_and_other_numbers_are_sent_over(grid, monkeypatch):
    class Shown:
        __cuda_array_interface__ = None

    class Dlpack:
        def __init__(self, device):
            self.device = device

        def __dlpack_device__(self):
            return self.device, 0

    class ShownInBothWays(Shown, Dlpack):
        pass

    cupy = sys.modules["cupy"]
    cupy.asarray, cupy.from_dlpack = (lambda x: ("asarray", x)), (lambda x: ("from_dlpack", x))
    for value, way in (
        (Dlpack(2), "from_dlpack"),
        (Dlpack(1), "asarray"),
        (Shown(), "asarray"),
        (ShownInBothWays(2), "asarray"),
        ([1.0], "asarray"),
    ):
        assert cuda.as_cupy(value) == (way, value)


def test_fractions_on_a_gpu_stay_there(monkeypatch):
    class OnDevice(DeviceArray):
        """CuPy's arrays are not converted unasked."""

        def __array__(self, *_, **__):
            raise TypeError("implicit conversion")

    robot, seen = dy.load("planar_2r_melchiorri"), []
    monkeypatch.setattr(type(robot), "evaluate", lambda self, row, *given, **_: seen.append(given))
    monkeypatch.setattr("dynamis.robot.configurations.on_gpu", lambda x: isinstance(x, OnDevice))
    robot.interpolate(np.zeros(2), np.ones(2), np.linspace(0.0, 1.0, 5).view(OnDevice))
    assert type(seen[0][2]) is OnDevice
    assert seen[0][2].shape == (5, 1)


def test_launches_are_kept_for_a_few_shapes(code, grid):
    kernel = cuda.CudaKernel(code)
    for count in [*range(1, 3 * cuda.PLANS), 3, 3]:
        a, b = (device(np.full((count, n), 0.5)) for n in SIZES)
        np.testing.assert_array_equal(kernel(a, b), expected(a, b))
        assert len(kernel._plans) <= cuda.PLANS
    assert grid.launches.count("by CuPy") == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("count", "reports"), [(300, 2), (128, 1), (0, 2), (5, 0)])
def test_a_march_starts_one_thread_per_state_with_its_numbers(dtype, count, reports, grid, monkeypatch):
    kernel = Kernel([lambda y, t, h, u: y + h * (t - u[0])], [("y", 2), ("t", 1), ("h", 1), ("u", 1)], "step")
    y, u = device(np.ones((count, 2), dtype)), device(np.full(1, 3.0, dtype))
    started = []
    monkeypatch.setattr(Grid, "__call__", lambda self, *launch: started.append(launch))
    out = cuda_time_stepper.march_on_gpu(kernel, y, [u], t=0.5, h=0.1, reports=reports, every=4, first=3, stages=None)
    assert (out.shape, out.dtype) == ((reports, count, 2), dtype)
    assert len(started) == bool(count and reports)
    for (blocks,), (block,), (y_, y_step, u_, u_step, result, *numbers) in started:
        assert (blocks - 1) * block < count <= blocks * block
        assert (y_step, u_step) == (2, 0)
        assert np.array_equal(y_, y)
        assert np.array_equal(u_, u)
        assert result is out
        assert numbers == [count, dtype(0.5), dtype(0.1), 3, reports, 4]
        assert [type(x) for x in numbers] == [np.int64, dtype, dtype, *[np.int32] * 3]


def test_the_source_of_a_march_is_rendered_once(grid, monkeypatch):
    kernel = Kernel([lambda y, t, h, u: y + h * (t - u[0])], [("y", 2), ("t", 1), ("h", 1), ("u", 1)], "step")
    rendered, render = [], cuda_time_stepper.render_march
    monkeypatch.setattr(cuda_time_stepper, "render_march", lambda *given: rendered.append(given) or render(*given))
    monkeypatch.setattr(Grid, "__call__", lambda self, *launch: None)
    for dtype in (np.float64, np.float32, np.float64, np.float32):
        y, u = device(np.ones((4, 2), dtype)), device(np.full(1, 3.0, dtype))
        for _ in range(3):
            cuda_time_stepper.march_on_gpu(kernel, y, [u], t=0.5, h=0.1, reports=1, every=1, first=0, stages=None)
    assert [given[2] for given in rendered] == ["double", "float"]


@pytest.mark.parametrize("shape", [(3, 2, 2), (5, 3, 2, 2)])
def test_parts_of_derivatives_stay_on_the_gpu(shape):
    whole = device(np.arange(np.prod(shape), dtype=float).reshape(shape))
    for part, value in enumerate(TorqueDerivatives(whole)):
        assert type(value) is DeviceArray
        np.testing.assert_array_equal(value, whole[..., part, :, :])
