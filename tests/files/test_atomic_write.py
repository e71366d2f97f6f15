"""Writing files: what is replaced keeps its permissions, and only files are replaced."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.cli.output_files import check_output, whole
from dynamis.files.atomic_write import write_file, write_whole

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")


def by_command(path, data):
    return whole(path, lambda file: write_file(file, data))


WRITERS = [write_file, write_whole, by_command]


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@posix
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o755])
def test_a_replaced_file_keeps_its_permissions(write, mode, tmp_path, umask):
    path = tmp_path / "robot.toml"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
@pytest.mark.parametrize("write", WRITERS)
def test_a_new_file_has_the_permissions_of_the_umask(write, tmp_path, umask):
    write(tmp_path / "new.toml", b"new")
    assert stat.S_IMODE((tmp_path / "new.toml").stat().st_mode) == 0o644


@posix
def test_a_private_file_is_private_while_it_is_replaced(tmp_path, umask, monkeypatch):
    path, seen = tmp_path / "robot.toml", []
    path.write_bytes(b"old")
    path.chmod(0o600)
    flush = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (seen.append(os.fstat(number)), flush(number))[1])
    write_file(path, b"new")
    assert [stat.S_IMODE(s.st_mode) for s in seen if stat.S_ISREG(s.st_mode)] == [0o600]


@posix
@pytest.mark.parametrize("write", [write_file, by_command])
def test_a_link_stays_one_and_its_file_keeps_its_permissions(write, tmp_path, umask):
    target, link = tmp_path / "target.toml", tmp_path / "link.toml"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@needs_pipes
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("write", WRITERS)
def test_a_named_pipe_is_refused_and_stays(write, linked, tmp_path):
    pipe = path = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    if linked:
        path = tmp_path / "link.toml"
        path.symlink_to(pipe)
    with pytest.raises(dy.InputError, match=f"{path.name}.* named pipe, not a file; name a regular file"):
        write(path, b"new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted({pipe.name, path.name})


@pytest.fixture
def terminal():
    """A device in a folder where nobody can make files, so that a failure does no harm."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
    ends = pty.openpty()
    yield Path(os.ttyname(ends[1]))
    for end in ends:
        os.close(end)


@pytest.mark.parametrize("write", WRITERS)
def test_a_device_is_refused_and_stays(write, terminal):
    with pytest.raises(dy.InputError, match="device, not a file; name a regular file"):
        write(terminal, b"new")
    assert stat.S_ISCHR(terminal.stat().st_mode)


@needs_pipes
def test_a_named_pipe_is_refused_before_the_work(tmp_path):
    os.mkfifo(tmp_path / "out.toml")
    with pytest.raises(dy.InputError, match="named pipe"):
        check_output(tmp_path / "out.toml", (".toml",))
    result = CliRunner().invoke(cli, ["convert", "ur5e", str(tmp_path / "out.toml")])
    assert result.exit_code != 0
    assert "named pipe" in result.output


@pytest.fixture
def null(tmp_path):
    """The null device where its folder is protected; for a user who may do everything, another node of the same device."""
    real = Path(os.devnull)
    if not os.access(real.parent, os.W_OK):
        return real
    node = tmp_path / "null"
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, real.stat().st_rdev)
        node.write_bytes(b"")  # some file systems take nodes, and let nobody open them
    except OSError:
        pytest.skip("no device can be made here")
    return node


@posix
@pytest.mark.parametrize("write", [write_file, by_command])
def test_the_null_device_takes_everything_and_stays(write, null, tmp_path):
    link = tmp_path / "nothing.toml"
    link.symlink_to(null)
    write(link, b"new")
    assert link.is_symlink()
    assert stat.S_ISCHR(null.stat().st_mode)


@posix
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("to", ["pipe", "file"])
def test_standard_output_and_error_are_written_through_in_order(stream, to, tmp_path):
    code = (
        "import sys; from pathlib import Path; from dynamis.files.atomic_write import write_file; "
        f"print('before', file=sys.{stream}); write_file(Path('/dev/{stream}'), b'bytes\\n'); print('after', file=sys.{stream})"
    )
    if to == "pipe":
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        text = getattr(done, stream)
    else:
        with (tmp_path / "log").open("wb") as log:
            subprocess.run([sys.executable, "-c", code], **{stream: log}, check=True)
        text = (tmp_path / "log").read_bytes()
    assert text.split() == [b"before", b"bytes", b"after"]


@pytest.mark.parametrize("write", [by_command, write_whole], ids=["command", "library"])
def test_what_killed_processes_left_is_removed_and_nothing_else(write, tmp_path):
    old = [tmp_path / ".dynamis-abc123", tmp_path / ".arm.toml.123-0123abcd.tmp"]
    kept = [tmp_path / name for name in (".dynamis-new", ".dynamisrc", "notes.tmp", ".arm.toml.1-0123abcd.tmp.bak", ".hidden")]
    for path in (*old, *kept):
        path.mkdir() if "dynamis-" in path.name else path.write_text("x")
    (old[0] / "arm.toml").write_text("half a file")
    for path in (*old, *kept[1:]):
        os.utime(path, (1, 1))
    write(tmp_path / "out.txt", b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([*kept, tmp_path / "out.txt"])
