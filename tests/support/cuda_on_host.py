"""The CUDA source of a kernel compiled for the processor: its function of one state behind a loop."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from dynamis.compiler import cuda_text

COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler here")
DTYPE = {"double": np.float64, "float": np.float32}
# what nvcc has of its own; contraction is off there too
PRELUDE = (
    "#include <cmath>\n#define __device__\n#define __forceinline__ inline\n#define __noinline__ __attribute__((noinline))\n"
)


def on_the_host(kernel, precision, folder):
    """The state function behind a loop, as a Python function of arrays with one batch axis."""
    sizes, results = [n for _, n in kernel.code.arguments], [len(v) for v in kernel.code.outputs]
    arguments = [f"const T *in{k}" for k in range(len(sizes))] + [f"T *out{k}" for k in range(len(results))]
    inside = [f"in{k} + i * {n}" for k, n in enumerate(sizes)] + [f"out{k} + i * {n}" for k, n in enumerate(results)]
    loop = f'extern "C" void run(long n, {", ".join(arguments)})\n{{ for (long i = 0; i < n; ++i) f_state({", ".join(inside)}); }}\n'
    source, library = folder / f"{precision}.cpp", folder / f"{precision}.so"
    source.write_text(PRELUDE + cuda_text.render(kernel.code, "f", precision) + loop, encoding="utf-8")
    flags = ["-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(library)], check=True, capture_output=True)
    run = ctypes.CDLL(str(library)).run

    def call(*arrays):
        rows = [np.ascontiguousarray(x, dtype=DTYPE[precision]) for x in arrays]
        outs = [np.full((len(rows[0]), *shape), np.nan, DTYPE[precision]) for _, shape in kernel.code.results]
        run(ctypes.c_long(len(rows[0])), *(ctypes.c_void_p(x.ctypes.data) for x in (*rows, *outs)))
        return outs[0] if len(outs) == 1 else outs

    return call
