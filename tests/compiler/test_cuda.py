"""The rendered CUDA kernel without a GPU: its function of one state compiled for this machine, and how arrays are recognised."""

import ctypes
import subprocess

import numpy as np
import pytest
from click.testing import CliRunner
from cuda_on_host import COMPILER, DTYPE, PRELUDE, needs_compiler, on_the_host

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.compiler import cuda, cuda_text
from dynamis.compiler.cuda_time_stepper import RK4, render_march
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.time_stepper import march
from dynamis.simulation.closed_loop import ClosedLoop


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix"])
def test_the_state_function_is_the_compiled_kernel(name, precision, tmp_path):
    robot = dy.load("ur5e")
    rng = np.random.default_rng(1)
    state = {"q": robot.random(rng, 200), "v": rng.normal(size=(200, 6)), "a": rng.normal(size=(200, 6))}
    state["tau"] = state["a"]
    kernel = robot.kernel(name)
    arrays = [state[argument].astype(DTYPE[precision]) for argument, _ in kernel.arguments]
    found, expected = on_the_host(kernel, precision, tmp_path)(*arrays), kernel(*arrays)
    if precision == "double":
        assert np.array_equal(found, expected)  # the same fused multiply-adds, the same polynomials
    else:
        assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()


@needs_compiler
@pytest.mark.parametrize("name", ["forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives"])
@pytest.mark.parametrize("size", [40, 137])
def test_a_long_function_is_cut_into_parts_that_compute_the_same_bits(name, size, tmp_path, monkeypatch):
    monkeypatch.setattr(cuda_text, "LONG", size)
    monkeypatch.setattr(cuda_text, "PART", size)
    robot = dy.load("ur5e")
    kernel = robot.kernel(name)
    rng = np.random.default_rng(1)
    arrays = [rng.uniform(-2.0, 2.0, (50, length)) for _, length in kernel.arguments]
    text = cuda_text.render(kernel.code, "f", "double")
    assert text.count("__noinline__") == -(-len(kernel.code.instructions) // size)
    assert np.array_equal(on_the_host(kernel, "double", tmp_path)(*arrays), kernel(*arrays))


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
def test_every_operation_means_the_same(precision, tmp_path):
    def function(x):
        a, b, c = x
        return np.array([
            np.sin(a), np.cos(1e6 * a), np.minimum(a, b), np.maximum(a, b), abs(a), np.sign(b), np.where(a < b, a, c),
            np.where(a <= b, 1.0, c), np.arctan2(a, b), np.sqrt(a * a + 1.0), np.exp(-abs(a)), np.tanh(b), a / (b * b + 2.0),
            np.floor(c * 3.0), -a, a * b - c, c - a * b, np.abs(a) ** b, np.floor(a) ** abs(np.floor(b)),
            np.where(np.sqrt(a) == np.sqrt(a), b, c),
        ])  # fmt: skip

    kernel = Kernel([function], [("x", 3)], "f")
    x = np.random.default_rng(2).normal(size=(500, 3)).astype(DTYPE[precision])
    x[:5] = [[0, 0, 0], [1, 1, 1], [-1, 1, 0], [np.nan, 1, 2], [1, np.nan, 2]]
    found, expected = on_the_host(kernel, precision, tmp_path)(x), kernel(x)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    assert np.nanmax(np.abs(found - expected)) <= 8 * np.finfo(DTYPE[precision]).eps * 3


@pytest.mark.parametrize("precision", ["double", "float"])
def test_long_results_are_gathered_and_fit_into_shared_memory(precision):
    width = 8 if precision == "double" else 4
    for name, floating in (("ur5e", False), ("panda", False), ("g1", True)):
        robot = dy.load(name, base="floating" if floating else "fixed")
        code = robot.kernel("mass_matrix").code
        text, block = cuda_text.render(code, "f", precision), cuda_text.block_size(code, precision)
        declared = next(line for line in text.splitlines() if "__shared__" in line)
        numbers = int(declared.split("* ")[1].split("]")[0])
        assert f"#define BLOCK {block}" in text
        assert block * numbers * width <= cuda_text.SHARED
    short = robot.kernel("inverse_dynamics").code
    assert "__shared__" in cuda_text.render(short, "f", precision)  # 35 torques are a long row
    assert "__shared__" not in cuda_text.render(dy.load("ur5e").kernel("inverse_dynamics").code, "f", precision)


class OnGpu:
    """Looks like an array on a GPU."""

    @property
    def __cuda_array_interface__(self):
        return {"shape": (6,), "typestr": "<f8", "data": (0, False), "version": 3}


class ThroughDlpack:
    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return (self.device, 0)


def test_arrays_on_a_gpu_are_recognised_and_others_are_not():
    assert cuda.on_gpu(OnGpu())
    assert cuda.on_gpu(ThroughDlpack(2))
    for value in (np.zeros(3), [1.0], 2.0, ThroughDlpack(1), None):
        assert not cuda.on_gpu(value)


def test_without_cupy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    robot = dy.load("ur5e")
    with pytest.raises(dy.MissingExtraError, match=r"pip install 'dynamis\[cuda\]'"):
        robot.inverse_dynamics(OnGpu(), np.zeros(6), np.zeros(6))
    with pytest.raises(dy.MissingExtraError, match=r"pip install 'dynamis\[cuda\]'"):
        robot.compile(lambda robot, q: q)(OnGpu())


def test_show_prints_cuda():
    shown = CliRunner().invoke(cli, ["show", "ur5e", "gravity", "--as", "cuda", "--precision", "float"])
    assert shown.exit_code == 0
    text = shown.output
    assert "__global__ void" in text
    assert "dynamis_gravity_state" in text


# what the marching kernel finds on a GPU: who it is, and words that mean nothing to a processor
GRID = """
#define __CUDACC__
#define __global__
#define __constant__ static const
#define __launch_bounds__(x)
struct Index { int x; };
static Index blockIdx, threadIdx;
"""


def march_on_the_host(code, precision, folder, stages, y, others, **numbers):
    """The rendered marching kernel, thread after thread."""
    source, library = folder / "march.cpp", folder / "march.so"
    pointers = ", ".join(f"const T *in{k}, long long step{k}" for k in (0, *range(3, len(code.arguments))))
    names = ", ".join(f"in{k}, step{k}" for k in (0, *range(3, len(code.arguments))))
    loop = (
        f'extern "C" void run({pointers}, T *out, long long n, T t, T h, int first, int reports, int every)\n'
        "{ for (long long i = 0; i < n; ++i) { blockIdx.x = i / BLOCK; threadIdx.x = i % BLOCK;\n"
        f"  f({names}, out, n, t, h, first, reports, every); }} }}\n"
    )
    source.write_text(PRELUDE + GRID + render_march(code, "f", precision, stages) + loop, encoding="utf-8")
    flags = ["-O1", "-ffp-contract=off", "-Wno-unknown-pragmas", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(library)], check=True, capture_output=True)
    out = np.full((numbers["reports"], *y.shape), np.nan, DTYPE[precision])
    real = ctypes.c_double if precision == "double" else ctypes.c_float
    arrays = [np.ascontiguousarray(x, DTYPE[precision]) for x in (y, *others)]
    given = [z for x in arrays for z in (ctypes.c_void_p(x.ctypes.data), ctypes.c_longlong(x.shape[-1] if x.ndim > 1 else 0))]
    ctypes.CDLL(str(library)).run(
        *given, ctypes.c_void_p(out.ctypes.data), ctypes.c_longlong(len(y)), real(numbers["t"]), real(numbers["h"]),
        *(ctypes.c_int(numbers[key]) for key in ("first", "reports", "every")),
    )  # fmt: skip
    return out


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("cut", [False, True])
def test_results_too_long_for_shared_memory_are_written_a_few_numbers_at_a_time(cut, precision, tmp_path, monkeypatch):
    monkeypatch.setattr(cuda_text, "BLOCK_SIZES", (1,))  # a thread after the other needs no barriers
    monkeypatch.setattr(cuda_text, "SHARED", 40)
    monkeypatch.setattr(cuda_text, "WRITTEN", 56)
    if cut:
        monkeypatch.setattr(cuda_text, "LONG", 40)
        monkeypatch.setattr(cuda_text, "PART", 40)
    kernel = dy.load("scara").kernel("inverse_dynamics_derivatives")
    text = cuda_text.render(kernel.code, "f", precision)
    assert ("f_part1" in text) == cut
    assert "y0" not in text
    source, library = tmp_path / "kernel.cpp", tmp_path / "kernel.so"
    loop = (
        'extern "C" void run(const T *q, const T *v, const T *a, T *out, long long n)\n'
        "{ for (long long i = 0; i < n; ++i) { blockIdx.x = i; f(q, 4, v, 4, a, 4, out, n); } }\n"
    )
    shared = "#define __CUDACC__\n#define __shared__ static\n#define __global__\n#define __syncthreads()\n"
    source.write_text(PRELUDE + GRID + shared + text + loop, encoding="utf-8")
    flags = ["-O1", "-ffp-contract=off", "-Wno-unknown-pragmas", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(library)], check=True, capture_output=True)
    given = [x.astype(DTYPE[precision]) for x in np.random.default_rng(0).uniform(-2.0, 2.0, (3, 20, 4))]
    out = np.full((20, 3, 4, 4), np.nan, DTYPE[precision])
    ctypes.CDLL(str(library)).run(*(ctypes.c_void_p(x.ctypes.data) for x in (*given, out)), ctypes.c_longlong(20))
    if precision == "double":
        assert np.array_equal(out, kernel(*given))
    else:
        assert np.abs(out - kernel(*given)).max() <= 1e-6 * np.abs(out).max()


def pushed(robot, t, q, v, goal):
    return robot.gravity(q) - 400.0 * (q - goal) - 80.0 * v + np.sin(7.0 * t)


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("method", ["euler", "rk4", "staged rk4", "time_stepping"])
def test_the_marching_kernel_takes_the_steps_of_the_processors(method, precision, tmp_path):
    robot, rng = dy.load("planar_2r_melchiorri"), np.random.default_rng(0)
    if method == "time_stepping":
        robot = robot.replace(friction={name: {"coulomb": 60.0} for name in robot.joint_names})
    y, goal = rng.uniform(-1, 1, (300, 4)), rng.uniform(-1, 1, (300, 2))
    y, goal = y.astype(DTYPE[precision]), goal.astype(DTYPE[precision])
    staged = method.startswith("staged")
    loop = ClosedLoop(robot, method.removeprefix("staged "), controller=pushed, parameters={"goal": goal})
    numbers = {"t": 0.5, "h": 1e-2, "first": 3, "reports": 3, "every": 4}
    expected = march(loop.kernel(), y, (goal,), **numbers)
    code = loop.kernel(stage=staged).code
    found = march_on_the_host(code, precision, tmp_path, RK4 if staged else None, y, (goal,), **numbers)
    if precision == "double" and not staged:
        assert np.array_equal(found, expected)
    else:  # stages are summed in another order
        assert np.abs(found - expected).max() <= (1e-13 if precision == "double" else 1e-4) * np.abs(expected).max()
