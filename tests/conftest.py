"""Tests use baseline code, and all processes of a run share one cache: a function that several tests compile is compiled once."""

import importlib
import os
import shutil
import tempfile
import time
import types

import numpy as np
import pytest

os.environ.setdefault("DYNAMIS_TIER", "quick")
if "PYTEST_XDIST_WORKER" not in os.environ:  # its workers inherit the folder
    os.environ["DYNAMIS_CACHE"] = tempfile.mkdtemp(prefix="dynamis-tests-")
# the tests share the cores among themselves: a BLAS that takes all of them would only make them wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

# what ends a computation after some seconds
LIMITED = ("analysis.bounds", "analysis.extremes", "control.structural_constants", "identification.excitation.design",
           "identification.excitation.search", "reports.meshes.drawing", "reports.budget", "simulation.stepping",
           "symbolic.budget")  # fmt: skip
_fresh = {}  # generators that test files share among their tests, as they were before the first of them


def pytest_unconfigure(config):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(os.environ["DYNAMIS_CACHE"], ignore_errors=True)


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
