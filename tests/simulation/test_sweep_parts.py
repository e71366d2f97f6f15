"""Parts on disk: whole or not there, sealed, of one study, written by one process at a time."""

import errno
import os

import pytest

from dynamis.errors import InputError
from dynamis.simulation.sweeps.cases import column_names, run_part
from dynamis.simulation.sweeps.parts import SweepFolder
from dynamis.simulation.sweeps.study import study_from_text
from dynamis.whole_files import write_whole

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
