"""Results on disk: parts written once, atomically, with a checksum.

The folder of a sweep contains ``study.json`` (identification), ``study.toml`` (the study as read), ``parts/`` and finally
``results.csv``. Each file is written to a temporary name, flushed to disk and renamed: after a crash a part is either complete
or absent. Only the holder of the lock writes; the lock is released when its process ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import kind_of, write_whole
from dynamis.files.paths import path_of
from dynamis.sweeps.study import Study

Row = list[Any]
FORMAT = "dynamis sweep 1"
MANIFEST, COPY, PARTS, LOCK = "study.json", "study.toml", "parts", "lock"
NOT_JSON = "a line is not JSON"
OWN_FILES = {MANIFEST, COPY, PARTS, LOCK, "results.csv"}


class SweepFolder:
    """The folder of one sweep. ``notes`` lists damaged files that were set aside."""

    def __init__(self, path: str | os.PathLike[str], study: Study, columns: list[str]) -> None:
        self.path, self.study, self.columns = path_of(path), study, columns
        self.notes: list[str] = []

    @contextlib.contextmanager
    def opened(self) -> Iterator[dict[int, list[Row]]]:
        """{part: rows} of completed parts, with the folder locked. A new folder that gets no part is removed."""
        new = not self.path.exists()
        self._claim_place()
        self._check_files()
        try:
            with self._locked() as done:
                yield done
        finally:
            if new and not any((self.path / PARTS).glob("part-*")):
                shutil.rmtree(self.path, ignore_errors=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[dict[int, list[Row]]]:
        with _locked(self.path / LOCK, self.path):
            try:
                for leftover in [*self.path.glob(".*.tmp"), *(self.path / PARTS).glob(".*.tmp")]:
                    leftover.unlink()
                known = self._check_owner()
                done = self._finished()
                if not known:
                    self._describe()
            except OSError as error:
                raise self._unusable(error) from None
            yield done

    def _unusable(self, error: OSError) -> InputError:
        name = printable(str(self.path))
        return InputError(
            f"folder {name} cannot be used: {error.strerror}; free disk space, grant write permission, or give another with -o"
        )

    def store(self, part: int, rows: list[Row]) -> None:
        """Write a part; it is on disk when this returns."""
        body = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
        cases = self.study.range_of(part)
        head = {"format": FORMAT, "study": self.study.fingerprint, "part": part, "cases": [cases.start, cases.stop]}
        write_whole(self._place(part), _sealed(json.dumps(head) + "\n" + body))

    def _place(self, part: int) -> Path:
        return self.path / PARTS / f"part-{part:06d}.jsonl"

    def _claim_place(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            foreign = sorted(p.name for p in self.path.iterdir() if not self._is_own(p))
            if foreign and not (self.path / MANIFEST).exists():
                raise InputError(
                    f"folder {printable(str(self.path))} contains other files, such as {printable(foreign[0])}, and no "
                    f"sweep: give an empty or new folder with -o"
                )
            (self.path / PARTS).mkdir(exist_ok=True)
        except OSError as error:
            raise self._unusable(error) from None

    def _check_files(self) -> None:
        """Before anything is opened or computed."""
        try:
            for name in sorted(OWN_FILES - {PARTS}):
                self._is_file(self.path / name)
        except OSError as error:
            raise self._unusable(error) from None

    @staticmethod
    def _is_own(path: Path) -> bool:
        return path.name in OWN_FILES or (path.name.startswith(".") and path.suffix == ".tmp") or ".bad" in path.suffixes

    def _check_owner(self) -> bool:
        """Whether the folder is identified as that of this study."""
        manifest = self.path / MANIFEST
        if not self._is_file(manifest):
            return False
        found = _read_sealed(manifest)
        note = _head(found)
        if isinstance(note, str):
            self._set_aside(manifest, note)
            return False
        if note.get("study") != self.study.fingerprint:
            raise self._foreign(f"{note.get('name')} by Dynamis {note.get('version')}")
        return True

    def _is_file(self, path: Path) -> bool:
        """Whether the file exists. What is not a file is refused: reading a named pipe waits for ever."""
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(mode):
            raise InputError(
                f"folder {printable(str(self.path))} cannot be used: {path.name} is {kind_of(mode)}, not a file; remove it, or "
                f"give another folder with -o"
            )
        return True

    def _describe(self) -> None:
        """Write the identification of the study."""
        study = self.study
        note = {"format": FORMAT, "study": study.fingerprint, "name": study.name, "version": study.version,
                "cases": study.cases, "parts": study.parts, "columns": self.columns}  # fmt: skip
        write_whole(self.path / COPY, study.text.encode())
        write_whole(self.path / MANIFEST, _sealed(json.dumps(note, ensure_ascii=False) + "\n"))

    def _foreign(self, whose: str) -> InputError:
        return InputError(
            f"folder {printable(str(self.path))} contains the results of another study ({whose}; a changed study or robot "
            f"is another study): give a new folder with -o, or delete this one"
        )

    def _finished(self) -> dict[int, list[Row]]:
        done: dict[int, list[Row]] = {}
        for part in range(self.study.parts):
            place = self._place(part)
            if not self._is_file(place):
                continue
            found = self._rows(part, _read_sealed(place))
            if isinstance(found, str):
                self._set_aside(place, found)
            else:
                done[part] = found
        return done

    def _rows(self, part: int, lines: list[str] | str) -> list[Row] | str:
        """The rows of a part, or an error message."""
        head = _head(lines)
        if isinstance(lines, str) or isinstance(head, str):
            return str(head)
        if head.get("study") != self.study.fingerprint:
            raise self._foreign(f"{self._place(part).name} is of it")
        cases = self.study.range_of(part)
        try:
            rows = [_parsed(line) for line in lines[1:]]
        except ValueError:
            return NOT_JSON
        if not all(_is_row(row, self.columns) for row in rows):
            return f"a row does not have the {counted(len(self.columns), 'column')} of the study"
        if head.get("cases") != [cases.start, cases.stop] or [row[0] for row in rows] != list(cases):
            return "its cases do not match its name"
        return rows

    def _set_aside(self, path: Path, why: str) -> None:
        """Rename a damaged file."""
        for k in range(1, 1000):
            target = path.with_name(f"{path.name}.{k}.bad")
            if not target.exists():
                break
        path.replace(target)
        self.notes.append(f"{path.name} is damaged ({why}): renamed to {target.name} and recomputed")


def _sealed(text: str) -> bytes:
    body = text.encode()
    return b"sha256 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _read_sealed(path: Path) -> list[str] | str:
    """The lines below the checksum, or an error message."""
    try:
        seal, _, body = path.read_bytes().partition(b"\n")
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if seal != b"sha256 " + hashlib.sha256(body).hexdigest().encode():
        return "checksum mismatch"
    try:
        return body.decode().split("\n")[:-1]  # each line ends; a status may contain other separators of lines
    except UnicodeDecodeError:
        return "it is not UTF-8"


def _head(lines: list[str] | str) -> dict[str, Any] | str:
    """The object in the first line, or an error message."""
    if isinstance(lines, str):
        return lines
    try:
        head = _parsed(lines[0]) if lines else None
    except ValueError:
        return NOT_JSON
    return head if isinstance(head, dict) else "its first line does not describe it"


def _parsed(line: str) -> Any:
    """A line of JSON; ValueError if it is none. Python also takes NaN and Infinity, and gives up on deep nesting."""
    try:
        return json.loads(line, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _is_row(row: Any, columns: list[str]) -> bool:
    """[case, numbers or null, status]."""
    if not isinstance(row, list) or len(row) != len(columns):
        return False
    numbers = all(x is None or (type(x) in (int, float) and abs(x) <= sys.float_info.max) for x in row[1:-1])
    return type(row[0]) is int and isinstance(row[-1], str) and numbers


@contextlib.contextmanager
def _locked(path: Path, folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; the system releases it when the process ends."""
    try:
        stream = path.open("ab")
    except OSError as error:
        raise InputError(f"folder {printable(str(folder))} cannot be written: {error.strerror}; give another with -o") from None
    with stream:
        try:
            _take(stream)
        except (BlockingIOError, PermissionError):
            raise InputError(
                f"another process uses folder {printable(str(folder))}: wait for it, or give another with -o"
            ) from None
        except OSError as error:
            raise InputError(
                f"folder {printable(str(folder))} cannot be locked: {error.strerror}; give one on a local disk with -o"
            ) from None
        yield


def _take(stream: IO[bytes]) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # on Windows only
    else:
        import fcntl

        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
