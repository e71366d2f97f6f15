"""Parts on disk: whole or not there, sealed, of one study, written by one process at a time."""

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest

from dynamis.errors import InputError
from dynamis.files.atomic_write import write_whole
from dynamis.sweeps.cases import column_names, run_part
from dynamis.sweeps.parts import SweepFolder
from dynamis.sweeps.study_file import study_from_text

TEXT = (
    'robot = "planar_2r_melchiorri"\nduration = 0.01\npoints = 3\npart = 2\n[vary]\n"viscous.*" = { grid = [0, 1, 2, 3, 4] }\n'
)
STUDY = study_from_text(TEXT)
ROWS = {part: run_part(STUDY, STUDY.range_of(part)) for part in range(STUDY.parts)}


def folder(path, study=STUDY):
    return SweepFolder(path, study, column_names(study))


@pytest.fixture
def full(tmp_path):
    place = folder(tmp_path / "s")
    with place.opened() as done:
        assert done == {}
        for part, rows in ROWS.items():
            place.store(part, rows)
    return place.path


def parts_in(path):
    with (place := folder(path)).opened() as done:
        return done, place.notes


def test_what_was_stored_is_read_back_digit_for_digit(full):
    assert parts_in(full) == (ROWS, [])
    assert sorted(p.name for p in (full / "parts").iterdir()) == [f"part-00000{k}.jsonl" for k in range(3)]
    assert [len(rows) for rows in ROWS.values()] == [2, 2, 1]


def test_any_flipped_bit_is_found_and_the_part_set_aside(full):
    path = full / "parts" / "part-000001.jsonl"
    good = path.read_bytes()
    for place in range(0, len(good), 41):
        for bit in (0, 7):
            bad = bytearray(good)
            bad[place] ^= 1 << bit
            path.write_bytes(bad)
            done, notes = parts_in(full)
            assert 1 not in done
            assert "part-000001.jsonl is damaged (checksum mismatch): renamed to" in notes[0]
            assert not path.exists()
            for aside in (full / "parts").glob("*.bad"):
                assert aside.read_bytes() == bytes(bad)
                aside.unlink()
    path.write_bytes(good)
    assert parts_in(full) == (ROWS, [])


@pytest.mark.parametrize("cut", [0, 1, 40, 72, 73, 300, -1])
def test_a_part_cut_short_is_found(full, cut):
    path = full / "parts" / "part-000000.jsonl"
    path.write_bytes(path.read_bytes()[:cut])
    done, notes = parts_in(full)
    assert sorted(done) == [1, 2]
    assert len(notes) == 1


def sealed_again(path, change):
    """Change the lines of a sealed file and seal it again."""
    _, *lines = path.read_bytes().split(b"\n")
    body = b"\n".join(change(lines))
    path.write_bytes(b"sha256 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


MALFORMED = {
    "nothing": lambda lines: [],
    "an empty line": lambda lines: [b"", b""],
    "no JSON": lambda lines: [b"{", *lines[1:]],
    "a head that is a list": lambda lines: [b"[]", *lines[1:]],
    "a head that is a number": lambda lines: [b"7", *lines[1:]],
    "no UTF-8": lambda lines: [lines[0], b'"\xff"', *lines[1:]],
    "a row that is no JSON": lambda lines: [lines[0], b"[0,", *lines[2:]],
    "a row that is a number": lambda lines: [lines[0], b"0", *lines[2:]],
    "a row that is an object": lambda lines: [lines[0], b'{"0": 1}', *lines[2:]],
    "an empty row": lambda lines: [lines[0], b"[]", *lines[2:]],
    "a short row": lambda lines: [lines[0], b"[0, 1]", *lines[2:]],
    "a text for a number": lambda lines: [lines[0], lines[1].replace(b", 0.01,", b', "x",'), *lines[2:]],
    "a list for a number": lambda lines: [lines[0], lines[1].replace(b", 0.01,", b", [1],"), *lines[2:]],
    "an infinite number": lambda lines: [lines[0], lines[1].replace(b", 0.01,", b", Infinity,"), *lines[2:]],
    "a number beyond floats": lambda lines: [lines[0], lines[1].replace(b", 0.01,", b", 1" + 400 * b"0" + b","), *lines[2:]],
    "a number of too many digits": lambda lines: [
        lines[0],
        lines[1].replace(b", 0.01,", b", " + 5000 * b"9" + b","),
        *lines[2:],
    ],
    "a status that is a number": lambda lines: [lines[0], lines[1].replace(b'"completed"', b"1"), *lines[2:]],
    "deep nesting": lambda lines: [lines[0], 100_000 * b"[", *lines[2:]],
    "a lost row": lambda lines: [lines[0], *lines[2:]],
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_a_part_that_is_sealed_but_malformed_is_set_aside(full, change):
    sealed_again(full / "parts" / "part-000000.jsonl", change)
    done, notes = parts_in(full)
    assert sorted(done) == [1, 2]
    assert len(notes) == 1
    assert "part-000000.jsonl is damaged (" in notes[0]
    assert "checksum" not in notes[0]


@pytest.mark.parametrize("text", [b"", b"{", b"[]\n", b"7\n", b"\xff\n"])
def test_a_description_that_is_sealed_but_malformed_is_written_again(full, text):
    good = (full / "study.json").read_bytes()
    sealed_again(full / "study.json", lambda _lines: [text])
    done, notes = parts_in(full)
    assert done == ROWS
    assert "study.json is damaged" in notes[0]
    assert (full / "study.json").read_bytes() == good


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["parts/part-000001.jsonl", "study.json", "study.toml", "results.csv", "lock"])
def test_a_named_pipe_in_place_of_a_file_is_refused_not_waited_for(full, name):
    (full / name).unlink(missing_ok=True)
    os.mkfifo(full / name)
    with pytest.raises(InputError, match=rf"{Path(name).name} is a named pipe, not a file; remove it, or give another"):
        parts_in(full)
    assert stat.S_ISFIFO((full / name).stat().st_mode)


@pytest.mark.timeout(60)
def test_a_device_in_place_of_a_part_is_refused_not_read(full):
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
    ends = pty.openpty()  # reading it waits
    (full / "parts" / "part-000001.jsonl").unlink()
    (full / "parts" / "part-000001.jsonl").symlink_to(os.ttyname(ends[1]))
    with pytest.raises(InputError, match=r"part-000001.jsonl is a device, not a file"):
        parts_in(full)
    for end in ends:
        os.close(end)


def test_a_status_with_separators_of_lines_is_read_back(tmp_path):
    rows = [[*row[:-1], "failed: a\u2028b\x85c\nd"] for row in ROWS[0]]
    with (place := folder(tmp_path)).opened():
        place.store(0, rows)
    assert parts_in(tmp_path) == ({0: rows}, [])


def test_a_part_under_another_name_is_found(full):
    first, second = (full / "parts" / f"part-00000{k}.jsonl" for k in (0, 1))
    second.write_bytes(first.read_bytes())
    done, notes = parts_in(full)
    assert sorted(done) == [0, 2]
    assert "its cases do not match its name" in notes[0]


def test_another_study_is_refused(full):
    other = study_from_text(TEXT.replace("0.01", "0.02"))
    with pytest.raises(InputError, match=r"results of another study.*give a new folder with -o"), folder(full, other).opened():
        pass
    (full / "study.json").unlink()
    with pytest.raises(InputError, match=r"another study.*part-000000.jsonl is of it"), folder(full, other).opened():
        pass
    assert parts_in(full)[0] == ROWS or (full / "study.json").exists()


def test_a_damaged_description_of_the_folder_is_written_again(full):
    good = (full / "study.json").read_bytes()
    (full / "study.json").write_bytes(good[:-9])
    done, notes = parts_in(full)
    assert done == ROWS
    assert "study.json is damaged" in notes[0]
    assert (full / "study.json").read_bytes() == good


def test_a_folder_with_other_things_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"contains other files, such as 'thesis.tex'.*-o"):
        parts_in(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match=r"cannot be used"):
        parts_in(tmp_path / "thesis.tex")


def test_files_put_beside_results_are_left_alone(full):
    (full / "notes.txt").write_text("mine")
    (full / "parts" / "part-000099.jsonl").write_text("not mine")
    assert parts_in(full) == (ROWS, [])
    assert (full / "notes.txt").read_text() == "mine"


def test_two_processes_do_not_work_on_one_folder(full):
    with folder(full).opened(), pytest.raises(InputError, match=r"another process uses folder"), folder(full).opened():
        pass
    assert parts_in(full) == (ROWS, [])


def test_leftovers_of_a_crash_are_cleared(full):
    for name in (".study.json.1-ab.tmp", "parts/.part-000000.jsonl.1-ab.tmp"):
        (full / name).write_text("half")
    assert parts_in(full) == (ROWS, [])
    assert not list(full.rglob("*.tmp"))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch, step):
    path = tmp_path / "file"
    write_whole(path, b"before")

    def full_disk(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", full_disk)
    else:
        monkeypatch.setattr("pathlib.Path.replace", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"after")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"before"
