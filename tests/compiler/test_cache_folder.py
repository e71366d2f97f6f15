"""The cache folder in any state, used by any number of processes: right results and no error."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from processes import clean_environment, output_of

from dynamis.compiler import cache, jit
from dynamis.compiler.kernel import Kernel, wait_for_compiler

X = np.random.default_rng(0).uniform(-2, 2, (7, 3))


def law(x):
    return np.array([x[0] * x[1] + x[2], x[0] - x[1], x[1] / 7.0, x[0] / (x[1] * x[1] + 1.0)])


def right(x):
    a, b, c = x.T
    return np.stack([a * b + c, a - b, b / 7.0, a / (b * b + 1.0)], axis=1)


def check(kernel=None):
    """The law gives what it should; returns how many codes it has had."""
    kernel = kernel or Kernel([law], [("x", 3)], "law")
    assert np.allclose(kernel(X), right(X), rtol=1e-14, atol=1e-15)
    assert wait_for_compiler(300.0)
    assert np.allclose(kernel(X), right(X), rtol=1e-14, atol=1e-15)
    return len(kernel.compiled("double").loaded)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty cache folder in use, with both codes compiled."""
    monkeypatch.delenv("DYNAMIS_NO_CACHE", raising=False)
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def entry(folder):
    """The file of the law, stored."""
    assert check() == 2
    (path,) = folder.iterdir()
    assert check() == 1  # straight from disk
    return path


@pytest.mark.parametrize(
    "damage",
    {
        "empty": lambda data: b"",
        "one byte short": lambda data: data[:-1],
        "one byte longer": lambda data: data + b"\0",
        "half": lambda data: data[: len(data) // 2],
        "twice": lambda data: data * 2,
        "another program's file": lambda data: b"\x7fELF" + bytes(5000),
        "text": lambda data: b"dynamis object code 1\nhello\n{}\n",
        "first line only": lambda data: cache.MAGIC,
        "an older version": lambda data: data.replace(b"object code 1", b"object code 0"),
        "not UTF-8": lambda data: cache.MAGIC + b"\xff\xfe\n\xff\n\xff",
        "code without its head": lambda data: data[len(cache.MAGIC) :],
    }.items(),
    ids=lambda item: item[0],
)
def test_a_foreign_file_is_not_loaded_and_is_replaced(entry, damage):
    good = entry.read_bytes()
    entry.write_bytes(damage[1](good))
    assert check() == 2  # compiled anew
    assert entry.read_bytes() == good
    assert check() == 1


def test_another_kernels_file_under_this_name_is_not_loaded(folder, entry):
    other = Kernel([lambda x: law(x) + 1.0], [("x", 3)], "law")
    other(X)
    assert wait_for_compiler(300.0)
    (theirs,) = set(folder.iterdir()) - {entry}
    entry.write_bytes(theirs.read_bytes())
    assert check() == 2


def test_a_directory_in_a_files_place_is_no_error(entry):
    entry.unlink()
    entry.mkdir()
    (entry / "inside").write_text("x")
    assert check() == 2
    assert check() == 2
    assert [p.name for p in entry.parent.iterdir()] == [entry.name]  # no half-written file is left behind


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted through /proc")
def test_refused_files_are_closed(entry):
    entry.unlink()
    entry.mkdir()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        assert cache.load(entry.stem) is None
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_in_a_files_place_does_not_wait_for_a_writer(entry):
    entry.unlink()
    os.mkfifo(entry)
    found = []
    reader = threading.Thread(target=lambda: found.append(cache.load(entry.stem)), daemon=True)
    reader.start()
    reader.join(3.0)
    if reader.is_alive():  # let it go before complaining
        os.close(os.open(entry, os.O_WRONLY))
        reader.join()
        pytest.fail("reading the cache waits for a pipe to be written")
    assert found == [None]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_a_folder_that_the_group_or_others_may_write_to_is_not_used(folder):
    assert cache.folder() is not None
    assert folder.stat().st_mode & 0o777 == 0o700  # as it is made
    for mode, used in {0o700: True, 0o755: True, 0o720: False, 0o770: False, 0o702: False, 0o777: False}.items():
        folder.chmod(mode)
        assert (cache.folder() is not None) is used, oct(mode)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_loaded(entry, mode):
    entry.chmod(mode)
    assert check() == 2
    assert entry.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_not_loaded(entry):
    os.chown(entry, 12345, 12345)
    assert check() == 2


def test_beyond_the_limit_the_longest_unused_code_is_removed(monkeypatch, folder, entry):
    monkeypatch.setattr(cache, "TIDIED_EVERY", 1)
    old = folder / f"{'0' * 64}.o"
    old.write_bytes(bytes(10**6))
    os.utime(old, (1, 1))
    abandoned, young = folder / ".new-abandoned", folder / ".new-young"
    abandoned.write_bytes(b"")
    os.utime(abandoned, (1, 1))
    young.write_bytes(b"")
    entry.write_bytes(b"damaged, so that it is stored again")
    check()
    assert old.exists()  # below the limit
    assert not abandoned.exists()
    monkeypatch.setenv("DYNAMIS_CACHE_LIMIT", "1")
    entry.write_bytes(b"damaged, so that it is stored again")
    check()
    assert sorted(path.name for path in folder.iterdir()) == sorted([young.name, entry.name])


def test_baseline_code_is_stored_and_replaced_by_optimised_code(monkeypatch, folder):
    monkeypatch.setenv("DYNAMIS_TIER", "quick")
    assert check() == 1
    (entry,) = folder.iterdir()
    baseline = entry.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(jit, "assemble", None)  # nothing is compiled
        assert check() == 1
    assert entry.read_bytes() == baseline
    monkeypatch.delenv("DYNAMIS_TIER")
    assert check() == 2  # found, then optimised
    optimised = entry.read_bytes()
    assert optimised != baseline
    assert check() == 1
    cache.store(entry.stem, {}, b"baseline code of a slower process", replace=False)
    assert entry.read_bytes() == optimised


def test_code_that_is_used_counts_as_new(folder, entry):
    os.utime(entry, (1, 1))
    assert check() == 1
    assert entry.stat().st_mtime > 1e9


def test_a_file_in_the_folders_place_is_no_error(monkeypatch, folder, tmp_path):
    folder.write_text("not a folder")
    assert check() == 2
    assert folder.read_text() == "not a folder"
    monkeypatch.setenv("DYNAMIS_CACHE", str(folder / "below" / "a file"))
    assert check() == 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder where nobody can create anything")
def test_a_folder_that_cannot_be_made_is_no_error(monkeypatch, folder):
    monkeypatch.setenv("DYNAMIS_CACHE", "/proc/dynamis/cache")
    assert check() == 2


def test_a_folder_that_disappears_is_no_error(folder, entry):
    kernel = Kernel([lambda x: law(x)], [("x", 3)], "law")
    entry.unlink()
    folder.rmdir()
    assert check(kernel) == 2
    assert check() == 1  # made again


def test_a_link_in_the_folders_place_is_not_followed(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    assert check() == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_no_home_is_no_error(monkeypatch, folder):
    """A user without an entry in the system's list, as in many containers."""

    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    for name in ("DYNAMIS_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", staticmethod(nowhere))
    assert check() == 2


# what a system refuses: run as a user without privileges, whoever runs the tests

REFUSED = """
import os, resource, tempfile
from pathlib import Path
import numpy as np, dynamis as dy
from dynamis.compiler import kernel
robot = dy.load("planar_2r_melchiorri")
q = np.random.default_rng(0).uniform(-1, 1, (5, 2))
expected = robot.gravity(q)  # everything that needs files is loaded now
assert kernel.wait_for_compiler(300.0)
if os.getuid() == 0:  # nothing is refused to the superuser
    os.setgid(65534)
    os.setuid(65534)
del os.environ["DYNAMIS_NO_CACHE"]

def use():
    again = dy.Robot(robot.description)
    assert np.array_equal(again.gravity(q), expected)  # interpreted, unless the code is on disk or was asked for before
    again.kernel("gravity").ufunc()
    assert kernel.wait_for_compiler(300.0)
    assert np.array_equal(again.gravity(q), expected)
    return len(again.kernel("gravity").compiled("double").loaded)

for name, steps in {SITUATIONS}.items():
    folder = Path(tempfile.mkdtemp())
    cache = folder / "cache"
    os.environ["DYNAMIS_CACHE"] = str(cache)
    codes = []
    try:
        for step in steps:
            eval(step) if step != "use" else codes.append(use())
    finally:
        for path in [folder, cache, *folder.rglob("*")]:
            path.exists() and path.chmod(0o700)
        left = [p.name for p in folder.rglob(".new-*")]
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()
    print(name, codes, left, sep="|")
"""
# what happens in turn, and how many codes the function has at each use: 2 compiled, 1 from disk
SITUATIONS = {
    "nothing is refused": (["use", "use"], [2, 1]),
    "a file that may not be read": (["use", "[p.chmod(0) for p in cache.iterdir()]", "use"], [2, 2]),
    "a folder that may only be read": (["use", "cache.chmod(0o500)", "use"], [2, 1]),
    "an empty folder that may only be read": (["cache.mkdir(mode=0o500)", "use", "use"], [2, 2]),
    "a folder that may not be entered": (["use", "cache.chmod(0)", "use"], [2, 2]),
    "a parent that may not be written": (["folder.chmod(0o500)", "use", "use"], [2, 2]),
    "a folder others may write to": (["cache.mkdir()", "cache.chmod(0o777)", "use", "use"], [2, 2]),
    "a full disk": (
        ["resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))", "use", "use"],
        [2, 2],
    ),  # the last: it cannot be undone
}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    steps = {name: list(steps) for name, (steps, _) in SITUATIONS.items()}
    text = REFUSED.replace("{SITUATIONS}", repr(steps))
    output = output_of(text, cwd=tmp_path_factory.mktemp("nobody"), DYNAMIS_NO_CACHE="1")
    return dict(line.split("|", 1) for line in output.splitlines())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of another kind on this system")
@pytest.mark.parametrize("situation", SITUATIONS)
def test_what_the_system_refuses_is_no_error(situation, refusals):
    """Right results, no complaint, nothing left behind: the program above checks all but the last."""
    assert refusals[situation] == f"{SITUATIONS[situation][1]}|[]"


RACING = """
import hashlib, sys, time
import numpy as np, dynamis as dy
from dynamis.compiler.kernel import wait_for_compiler
robot = dy.load("scara")
print("ready", flush=True)
sys.stdin.readline()
q = np.random.default_rng(0).uniform(-1, 1, (50, 4))
digest = hashlib.sha256()
for _ in range(2):
    for x in (q, q.astype(np.float32)):
        digest.update(robot.inverse_dynamics(x, x, x).tobytes())
        digest.update(robot.mass_matrix(x).tobytes())
    assert wait_for_compiler(300.0)
print(digest.hexdigest(), [len(k.compiled(p).loaded) for k in robot.evaluator.kernels.values() for p in ("double", "float")])
"""


def test_processes_that_race_for_one_folder_all_get_right_results(tmp_path):
    folder = tmp_path / "cache"
    env = clean_environment(DYNAMIS_CACHE=str(folder))
    outputs = []
    for count in (3, 1):  # together on an empty folder, then one that finds everything there
        processes = [
            subprocess.Popen([sys.executable, "-c", RACING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env=env)
            for _ in range(count)
        ]  # fmt: skip
        for p in processes:
            assert p.stdout.readline() == "ready\n"
        for p in processes:  # all are waiting: now they start
            p.stdin.write("\n")
            p.stdin.flush()
        for p in processes:
            output, error = p.communicate(timeout=300)
            assert p.returncode == 0, error[-1500:]
            assert error == ""
            outputs.append(output.split(" ", 1))
    assert len({digest for digest, _ in outputs}) == 1
    assert outputs[-1][1].strip() == "[1, 1, 1, 1]"  # straight from disk
    files = list(folder.iterdir())
    assert len(files) == 5  # one of them for the code that all functions are called by
    assert all(p.read_bytes().startswith(cache.MAGIC) for p in files)
