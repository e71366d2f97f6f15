"""Tests use baseline code, and all processes of a run share one cache: a function that several tests compile is compiled once."""

import contextlib
import gc
import importlib
import os
import shutil
import sys
import tempfile
import time
import types
from pathlib import Path

import pytest

os.environ.setdefault("DYNAMIS_TIER", "quick")
if "PYTEST_XDIST_WORKER" not in os.environ:  # its workers inherit the folder
    os.environ["DYNAMIS_CACHE"] = tempfile.mkdtemp(prefix="dynamis-tests-")
# The tests share the cores among themselves: a BLAS that takes all of them would only make them wait for each other. It reads
# these numbers when NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

# what ends a computation after some seconds
LIMITED = ("analysis.bounds", "analysis.extremes", "control.structural_constants", "identification.excitation.design",
           "identification.excitation.search", "reports.meshes.drawing", "reports.budget", "simulation.stepping",
           "symbolic.budget")  # fmt: skip
# these take longest and start first, so that all processes end at about the same time
LONGEST = ("reports/test_navigation.py", "test_documentation.py", "cli/test_consistency.py", "test_examples.py", "sweeps/test_run.py",
           "identification/test_identify.py", "identification/test_logs_real.py", "symbolic/test_closed_form.py",
           "robot/test_against_reference.py", "identification/test_accuracy.py", "identification/test_examine_torques.py",
           "cli/test_terminal.py", "oracles/test_pinocchio.py", "oracles/test_fmpy.py", "cli/test_control.py",
           "analysis/test_bounds.py", "control/test_every_law.py", "simulation/test_power.py", "compiler/test_cuda.py",
           "identification/test_excitation_design.py")  # fmt: skip
_fresh = {}  # generators that test files share among their tests, as they were before the first of them


def pytest_unconfigure(config):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        for folder in (os.environ["DYNAMIS_CACHE"], f"{os.environ['DYNAMIS_CACHE']}-bytecode"):
            shutil.rmtree(folder, ignore_errors=True)


def pytest_collection_modifyitems(items):
    rank = {Path(__file__).parent / name: k for k, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A process runs whole files, since the tests of a file share what they prepare; those of reports share pages and browser."""
    if config.option.dist != "load":  # the default of -n
        return None
    from xdist.scheduler import LoadScopeScheduling

    class WholeFiles(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::", 1)[0]
            return "tests/reports" if file.startswith("tests/reports/") else file

    config.option.loadscopereorder = False  # the order is that of pytest_collection_modifyitems
    return WholeFiles(config, log)


def pytest_collection_finish():
    """The garbage collector does not look through collected tests and imported modules again, nor after every few objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


@pytest.fixture(autouse=True, scope="session")
def programs_keep_their_bytecode():
    """Where Python is told to write no bytecode, each program that a test starts would compile the whole package anew."""
    if sys.dont_write_bytecode and "PYTHONPYCACHEPREFIX" not in os.environ:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{os.environ['DYNAMIS_CACHE']}-bytecode"


@pytest.fixture
def without_compilation(monkeypatch):
    """The functions of robots run the algorithms themselves on floats: for tests of algorithms at a few states of many robots.

    tests/robot/test_against_reference.py and tests/compiler/test_kernel.py prove that compiled code agrees with them.
    """
    monkeypatch.setattr("dynamis.robot.evaluation.Evaluator.can_be_compiled", lambda *_: False)


@pytest.fixture
def panels_are_not_arranged(monkeypatch):
    """Figures are drawn without the search for margins, half of the time: for tests that only ask whether they are drawn.

    tests/plotting/test_layout.py looks at margins, and whether texts overlap.
    """
    with contextlib.suppress(ImportError):  # matplotlib is optional
        monkeypatch.setattr("matplotlib.layout_engine.ConstrainedLayoutEngine.execute", lambda *_: None)


@pytest.fixture(autouse=True)
def the_same_numbers_whatever_ran_before(request):
    """Tests are dealt out to processes in an order that varies: a generator of a file begins anew for each of its tests."""
    for name, value in vars(request.module).items() if request.module is not None else ():
        if isinstance(value, np.random.Generator):
            state = _fresh.setdefault((request.module.__name__, name), value.bit_generator.state)
            value.bit_generator.state = state


@pytest.fixture(autouse=True, scope="session")
def figures_are_drawn_with_fewer_dots():
    """What is on a figure, and its proportions, do not depend on them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dynamis.drawing.FILE_DPI", 60)
        yield


@pytest.fixture(autouse=True, scope="session")
def limits_of_time_are_limits_of_processor_time():
    """Other work on the machine does not change how far a computation comes in its seconds."""
    clock = types.SimpleNamespace(monotonic=time.thread_time, perf_counter=time.thread_time)
    with pytest.MonkeyPatch.context() as patch:
        for name in LIMITED:
            patch.setattr(importlib.import_module(f"dynamis.{name}"), "time", clock)
        yield
