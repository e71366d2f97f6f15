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
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from dynamis.errors import InputError, printable
from dynamis.simulation.sweeps.study import Study
from dynamis.whole_files import write_whole

Row = list[Any]
FORMAT = "dynamis sweep 1"
MANIFEST, COPY, PARTS, LOCK = "study.json", "study.toml", "parts", "lock"
OWN = {MANIFEST, COPY, PARTS, LOCK, "results.csv"}


class SweepFolder:
    """The folder of one sweep. ``notes`` lists damaged files that were set aside."""

    def __init__(self, path: str | os.PathLike[str], study: Study, columns: list[str]) -> None:
        self.path, self.study, self.columns = Path(path), study, columns
        self.notes: list[str] = []

    @contextlib.contextmanager
    def opened(self) -> Iterator[dict[int, list[Row]]]:
        """{part: rows} of completed parts, with the folder locked."""
        self._claim_place()
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

    @staticmethod
    def _is_own(path: Path) -> bool:
        return path.name in OWN or (path.name.startswith(".") and path.suffix == ".tmp") or ".bad" in path.suffixes

    def _check_owner(self) -> bool:
        """Whether the folder is identified as that of this study."""
        manifest = self.path / MANIFEST
        found = _read_sealed(manifest) if manifest.exists() else None
        if isinstance(found, str):
            self._set_aside(manifest, found)
        elif found is not None:
            note = json.loads(found[0])
            if note.get("study") != self.study.fingerprint:
                raise self._foreign(f"{note.get('name')} by Dynamis {note.get('version')}")
            return True
        return False

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
            if not place.exists():
                continue
            found = self._rows(part, _read_sealed(place))
            if isinstance(found, str):
                self._set_aside(place, found)
            else:
                done[part] = found
        return done

    def _rows(self, part: int, lines: list[str] | str) -> list[Row] | str:
        """The rows of a part, or an error message."""
        if isinstance(lines, str):
            return lines
        head = json.loads(lines[0])
        if head.get("study") != self.study.fingerprint:
            raise self._foreign(f"{self._place(part).name} is of it")
        cases = self.study.range_of(part)
        rows = [json.loads(line) for line in lines[1:]]
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
    return body.decode().splitlines()


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
