"""What a robot may be read from: a name, a path, text, bytes, an open file, a folder, an archive, a module."""

from __future__ import annotations

import codecs
import contextlib
import importlib
import importlib.util
import io
import os
import re
import tempfile
import types
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from dynamis.errors import FormatError, InputError, MissingExtraError, printable, reason_of, unknown_name
from dynamis.model.diagnostics import format_error
from dynamis.model.library import library_names, library_path
from dynamis.model.readers.toml_text import MAX_BYTES

SUFFIXES = {".urdf": "xml", ".xacro": "xml", ".xml": "xml", ".mjcf": "xml", ".sdf": "xml", ".world": "xml", ".toml": "toml",
            ".usd": "usd", ".usda": "usd", ".usdc": "usd", ".usdz": "usd"}  # fmt: skip
MAX_FILES_LISTED = 6  # of a folder, in a message
MAX_ENTRIES = 10_000  # of a folder or an archive
MAX_DEPTH = 8  # of folders
MAX_UNPACKED = 512 * 2**20  # bytes of an archive
TEXTS = {b"mujoco": "MJCF text", b"sdf": "SDF text"}  # what messages call a document given as text; otherwise URDF text
PATHS = ("URDF_PATH", "MJCF_PATH", "XACRO_PATH")  # of a module of robot_descriptions
ZIP = b"PK\x03\x04"
USD = (b"#usda ", b"PXR-USDC")
EXPECTED = "give a .urdf, .xacro, .sdf, .mjcf, .usd or .toml file, or a robot's name"
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_WEB_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:<!--.*?-->\s*+)*+<(?:!doctype\s+html|html)\b", re.I | re.S)
_TABLES = re.compile(rb"^[ \t]*(?:\[(?:robot|base)\]|\[\[(?:link|dh|mdh|poe)\]\])", re.M)


@dataclass
class Source:
    """The bytes of one robot; ``name`` is what messages call it, ``path`` where it lies, if it does."""

    name: str
    data: bytes
    path: Path | None = None
    library: bool = False
    is_text: bool = False

    @property
    def kind(self) -> str:
        """toml, usd or xml."""
        if self.data.startswith(LFS_POINTER):
            raise format_error(
                self.name or "the document",
                1,
                "a pointer of Git LFS, not the file itself",
                "a robot's file",
                "run git lfs pull",
            )
        if _WEB_PAGE.match(self.data):
            raise format_error(self.name or "the document", 1, "a web page (HTML)", "a robot's file", "download the raw file")
        suffix = self.path.suffix.lower() if self.path is not None else ""
        if suffix in SUFFIXES:
            return SUFFIXES[suffix]
        if self.data.removeprefix(codecs.BOM_UTF8).lstrip().startswith((b"<", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "xml"
        if self.data.startswith(USD):
            return "usd"
        if self.path is None:
            return "toml"
        raise FormatError(f"{printable(self.name)} has no file name extension that Dynamis reads; {EXPECTED}")


def is_document(source: object) -> bool:
    """Whether a source is the text of an XML, USDA or TOML file instead of a path or a name."""
    if not isinstance(source, str):
        return False
    is_xml = source.lstrip("\ufeff \t\r\n").startswith("<") or source.startswith("#usda ")
    return is_xml or ("\n" in source and _TABLES.search(source.encode("utf-8", "surrogatepass")) is not None)


def root_tag(data: bytes) -> bytes:
    """The name of the first element of an XML document, as far as it can be seen without parsing it."""
    at = data.find(b"<")
    while at >= 0 and data[at + 1 : at + 2] in (b"?", b"!"):  # a declaration or a comment
        end = data.find(b"-->" if data.startswith(b"<!--", at) else b">", at)
        at = data.find(b"<", end) if end >= 0 else -1
    name = re.match(rb"<([\w:.-]{1,100})", data[at : at + 102]) if at >= 0 else None
    return name[1] if name else b""


@contextlib.contextmanager
def opened(source: Any) -> Iterator[Source]:
    """The robot a source contains; files unpacked from an archive exist until the end of the block."""
    if is_document(source):
        data = str(source).removeprefix("\ufeff").encode("utf-8", "surrogatepass")
        yield Source(_text_name(data), data, is_text=True)
    elif isinstance(source, bytes | bytearray | memoryview):
        with _content_of(bytes(source), "archive.zip") as found:
            yield found
    elif isinstance(source, types.ModuleType):
        yield _file(_path_of(source), None)
    elif callable(getattr(source, "read", None)):
        with _stream(source) as found:
            yield found
    else:
        path, known = find(source)
        if known:
            yield Source(path.stem, _content(path), path, library=True)
        elif path.is_dir():
            yield _file(_only_robot(path, str(path)), None)
        elif path.suffix.lower() == ".zip":
            with _archive(path, str(path)) as found:
                yield found
        else:
            yield _file(path, os.fspath(source) if not _is_module_name(source) else None)


def find(source: Any) -> tuple[Path, bool]:
    """(path, whether it is of the library) of a file's path, a library robot's name or a module of robot_descriptions."""
    if not isinstance(source, str | os.PathLike):
        package = type(source).__module__.split(".")[0]
        other = {"pinocchio": "from_pinocchio", "mujoco": "from_mujoco", "roboticstoolbox": "from_roboticstoolbox"}.get(package)
        cure = f"; dynamis.{other} takes it" if other else ""
        raise InputError(f"give a path or a robot's name, got {type(source).__name__}{cure}")
    text = os.fspath(source)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(f"{text!r} is not a path or a robot's name")
    path = Path(text)
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError) as error:
        raise FormatError(f"{printable(text)} is not a path that can be opened: {error.__class__.__name__}") from None
    if path.suffix.lower() in (*SUFFIXES, ".zip") or os.sep in text:
        if not is_file and not is_folder and path.exists():
            raise FormatError(f"{printable(text)} is a device or a pipe, not a file; {EXPECTED}")
        if not is_file and not is_folder:
            raise FormatError(f"the file {printable(text)} does not exist; {EXPECTED}")
        return path, False
    known = library_path(text)
    if known is not None:
        return known, True
    if is_file or is_folder:
        return path, False
    if _is_module_name(text):
        return _path_of(_module(text)), False
    raise unknown_name("robot", text, library_names())


def _is_module_name(source: Any) -> bool:
    return isinstance(source, str) and re.fullmatch(r"(?:robot_descriptions\.)?\w+_description", source) is not None


def _module(name: str) -> types.ModuleType:
    """A module of robot_descriptions, which fetches its robot when it is imported for the first time."""
    name = name if "." in name else f"robot_descriptions.{name}"
    if importlib.util.find_spec("robot_descriptions") is None:
        raise MissingExtraError(f"{name} is a module of a package that is not installed: pip install robot_descriptions")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise InputError(f"robot_descriptions has no module {printable(name)}; its documentation lists them") from None
    except Exception as error:  # it fetches a repository
        raise InputError(f"robot_descriptions cannot provide {printable(name)}: {reason_of(error)}") from None


def _path_of(module: types.ModuleType) -> Path:
    for attribute in PATHS:
        path = getattr(module, attribute, None)
        if path is not None:
            return Path(path)
    raise InputError(f"the module {printable(module.__name__)} has none of {', '.join(PATHS)}; give the path of a robot file")


def _file(path: Path, name: str | None) -> Source:
    return Source(name or str(path), _content(path), path)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)  # the reader says what is too large; no need to hold more of it
    except OSError as error:
        raise FormatError(f"{printable(str(path))} cannot be read: {error.strerror}") from None


def _text_name(data: bytes) -> str:
    """What messages call a document that comes from no file."""
    kind = Source("", data).kind
    if kind != "xml":
        return "TOML text" if kind == "toml" else "USD content"
    return TEXTS.get(root_tag(data), "URDF text")


@contextlib.contextmanager
def _content_of(data: bytes, name: str) -> Iterator[Source]:
    """The robot in the bytes of a file: of an archive called ``name``, or of a document."""
    if data.startswith(ZIP):
        with _archive(io.BytesIO(data), name) as found:
            yield found
    elif Source("", data).kind == "toml" and not _TABLES.search(data):
        raise InputError(f"these {len(data)} bytes are not the content of a robot's file; a name or a path is given as text")
    else:
        yield Source(_text_name(data), data)


@contextlib.contextmanager
def _archive(archive: Path | io.BytesIO, name: str) -> Iterator[Source]:
    """The one robot of a ZIP archive, whose files exist until the end of the block."""
    with tempfile.TemporaryDirectory() as folder:
        _unpack(archive, name, Path(folder))
        inside = _only_robot(Path(folder), name)
        yield _file(inside, f"{name}/{inside.relative_to(folder).as_posix()}")


@contextlib.contextmanager
def _stream(stream: Any) -> Iterator[Source]:
    name = getattr(stream, "name", None)
    try:
        data = stream.read(MAX_BYTES + 1)
        if isinstance(data, bytes) and data.startswith(ZIP):
            data += stream.read(MAX_UNPACKED)
    except (OSError, ValueError) as error:
        raise FormatError(f"the open file {printable(name)} cannot be read: {reason_of(error)}") from None
    if not isinstance(data, str | bytes):
        raise InputError(f"read() of the open file returns {type(data).__name__}, expected str or bytes")
    path = Path(name) if isinstance(name, str) and Path(name).is_file() else None
    if isinstance(data, bytes) and data.startswith(ZIP):
        with _content_of(data, str(path) if path is not None and path.suffix == ".zip" else "archive.zip") as found:
            yield found
        return
    if isinstance(data, str):
        data = data.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
    yield Source(str(path) if path else "open file", data, path)


def _only_robot(folder: Path, shown: str) -> Path:
    """The one robot file in a folder; raises where there are none or several."""
    files = [path for path in _files(folder, shown) if _is_robot(path)]
    found = [path for path in files if SUFFIXES[path.suffix.lower()] != "usd"] or files  # USD files may be meshes
    if len(found) == 1:
        return found[0]
    names = [path.relative_to(folder).as_posix() for path in sorted(found)]
    some = ", ".join(map(printable, names[:MAX_FILES_LISTED])) + (", …" if len(names) > MAX_FILES_LISTED else "")
    what = "an archive" if folder != Path(shown) else "a folder"
    unpack = "unpack it and " if what == "an archive" else ""
    advice = f"{unpack}give one of its {len(names)} robots: {some}" if names else f"there is no robot in it; {EXPECTED}"
    raise FormatError(f"{printable(shown)} is {what}; {advice}")


def _files(folder: Path, shown: str) -> Iterator[Path]:
    count = 0
    for at, folders, files in os.walk(folder):
        depth = len(Path(at).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < MAX_DEPTH else []
        for name in sorted(files):
            count += 1
            if count > MAX_ENTRIES:
                raise FormatError(f"{printable(shown)} has more than {MAX_ENTRIES} files; give the robot's file itself")
            path = Path(at) / name
            if path.suffix.lower() in SUFFIXES and path.is_file() and not path.is_symlink():
                yield path


def _is_robot(path: Path) -> bool:
    if SUFFIXES[path.suffix.lower()] == "usd":
        return True
    data = _content(path)
    if path.suffix.lower() == ".toml":
        return _TABLES.search(data) is not None
    tag = root_tag(data)
    if tag == b"robot" and path.suffix.lower() == ".xacro":  # a file of macros has no name
        return re.search(rb"<robot\b[^>]*\sname\s*=", data) is not None
    return tag in (b"robot", b"mujoco", b"sdf")


def _unpack(path: Path | io.BytesIO, name: str, folder: Path) -> None:
    """The files of a ZIP archive, within limits of number and size; names that lead out of the folder are refused."""
    total = 0
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_ENTRIES:
                raise FormatError(f"{printable(name)} has more than {MAX_ENTRIES} entries; give the robot's file itself")
            for entry in entries:
                inside = PurePosixPath(entry.filename)
                parts = inside.parts
                if (
                    inside.is_absolute()
                    or ".." in parts
                    or "\\" in entry.filename
                    or "\0" in entry.filename
                    or ":" in entry.filename
                ):
                    raise FormatError(
                        f"{printable(name)}: the entry {printable(entry.filename)} leads out of the archive; remove it"
                    )
                if entry.is_dir() or (entry.external_attr >> 28) == 0o12:  # a link
                    continue
                target = folder.joinpath(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as source, target.open("wb") as out:
                    while block := source.read(1 << 20):
                        total += len(block)
                        if total > MAX_UNPACKED:
                            limit = f"{MAX_UNPACKED // 2**20} MiB"
                            raise FormatError(f"{printable(name)} unpacks to more than {limit}; give the robot's file itself")
                        out.write(block)
    except FormatError:
        raise
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, ValueError, UnicodeError) as error:
        raise FormatError(f"{printable(name)} is not a ZIP archive that can be unpacked: {reason_of(error)}") from None
    except Exception as error:  # zlib.error and lzma.LZMAError have no common class
        raise FormatError(f"{printable(name)} is a damaged ZIP archive: {reason_of(error)}") from None
