"""Every test process compiles quickly and stores nothing; a function that several tests compile is compiled once."""

import importlib
import os
import time
import types
from collections import OrderedDict

import numpy as np
import pytest

os.environ.setdefault("DYNAMIS_TIER", "quick")
# the tests share the cores among themselves: a BLAS that takes all of them would only make them wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DYNAMIS_NO_CACHE", "1")

# what ends a computation after some seconds
LIMITED = ("analysis.bounds", "analysis.extremes", "control.structural_constants", "identification.excitation.design",
           "identification.excitation.search", "report.meshes.drawing", "report.section", "simulation.stepping",
           "symbolic.budget")  # fmt: skip
COMPILED = 300  # functions that a process remembers
_fresh = {}  # generators that test files share among their tests, as they were before the first of them


@pytest.fixture(autouse=True)
def the_same_numbers_whatever_ran_before(request):
    """Tests are dealt out to processes in an order that varies: a generator of a file begins anew for each of its tests."""
    for name, value in vars(request.module).items() if request.module is not None else ():
        if isinstance(value, np.random.Generator):
            state = _fresh.setdefault((request.module.__name__, name), value.bit_generator.state)
            value.bit_generator.state = state


@pytest.fixture(autouse=True, scope="session")
def limits_of_time_are_limits_of_processor_time():
    """Other work on the machine does not change how far a computation comes in its seconds."""
    clock = types.SimpleNamespace(monotonic=time.thread_time, perf_counter=time.thread_time)
    with pytest.MonkeyPatch.context() as patch:
        for name in LIMITED:
            patch.setattr(importlib.import_module(f"dynamis.{name}"), "time", clock)
        yield


@pytest.fixture(autouse=True, scope="session")
def the_same_function_is_compiled_once():
    """Functions are found again as on disk: by what determines them, so that a key that says too little gives wrong numbers."""
    from dynamis.compiler import cache
    from dynamis.compiler.kernel import Kernel

    known = OrderedDict()
    compile_anew = Kernel._compile

    def compiled(kernel, precision):
        if cache.folder() is not None or os.environ.get("DYNAMIS_TIER") != "quick":
            return compile_anew(kernel, precision)
        key = kernel._key(precision)
        found = known.pop(key, None) or compile_anew(kernel, precision)
        known[key] = found
        if len(known) > COMPILED:
            known.popitem(last=False)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "_compile", compiled)
        yield
