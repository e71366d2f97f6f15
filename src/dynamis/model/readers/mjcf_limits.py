"""What an MJCF model may ask of MuJoCo's compiler: files of its own folder, and bounded numbers of elements, pixels and steps.

The document and all it includes or attaches are parsed here first, by the strict parser of the other formats. MuJoCo itself
follows any path, multiplies nested <replicate> without bound, and allocates what an attribute says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import NoReturn

from dynamis.errors import printable, reason_of
from dynamis.model.diagnostics import format_error
from dynamis.model.packages import MAX_MESH_BYTES
from dynamis.model.readers.xml_tree import MAX_BYTES, Element, Line, parse_xml

MAX_ELEMENTS = 10_000  # with copies; MuJoCo's time grows with the square
MAX_BODIES = 2_000
MAX_DEPTH = 256  # of elements in one file
MAX_FILES = 100  # that a model includes
MAX_ATTACHED = 16  # models inside each other
MAX_CELLS = 2**27  # pixels, heights and samples
MAX_STEPS = 100_000  # of the simulation by which the compiler finds the lengths of actuators
KEYFRAME = 10  # elements that a keyframe counts for: it has all positions
# attributes with which a few bytes take much memory or time, and their largest values
LIMITS = {
    ("replicate", "count"): MAX_ELEMENTS, ("flexcomp", "count"): MAX_BODIES, ("composite", "count"): MAX_BODIES,
    ("flexcomp", "cellcount"): 10, ("flex", "cellcount"): 10, ("mesh", "params"): 200,
    ("texture", "width"): 2**15, ("texture", "height"): 6 * 2**15, ("hfield", "nrow"): 2**15, ("hfield", "ncol"): 2**15,
    ("size", "nkey"): 1000, ("size", "nuserdata"): 10**6, ("size", "njmax"): 10**6, ("size", "nconmax"): 10**6,
    ("size", "nstack"): 10**8, ("size", "memory"): 2**30, ("numeric", "size"): 10**6, ("user", "dim"): 10**6,
    ("contact", "num"): 10**4, ("option", "sdf_initpoints"): 10**5,
    **{("size", f"nuser_{x}"): 1000 for x in ("actuator", "body", "cam", "geom", "jnt", "sensor", "site", "tendon")},
    **{("option", f"{x}iterations"): 10**5 for x in ("", "ls_", "noslip_", "sdf_", "ccd_")},
}  # fmt: skip
SAMPLES = {"actdim": 10**5, "nsample": 10**6}  # of actuators and sensors
IN_DEFAULTS = 1000  # of these in <default>, which many elements take
TRUSTED = "of a model you trust, give dynamis.from_mujoco a mujoco.MjModel"
_PNG = b"\x89PNG\r\n\x1a\n"
_UNITS = {"K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40, "P": 2.0**50, "E": 2.0**60}


def check_mjcf(data: bytes, file: str, folder: Path | None) -> list[Element]:
    """Refuse a model that leads out of ``folder`` or asks too much; ``folder`` is that of the file, None for text.

    Returned are its elements, in the order of the document and what it includes.
    """
    model = _Model(folder, {})
    model.read(data, _Place(file, folder))
    model.check()
    return [e if place.file == file else replace(e, line=Line(e.line, place.file)) for e, place in model.elements]


@dataclass(frozen=True)
class _Place:
    """Where elements stand: their file, and the number of copies that are made of them."""

    file: str
    folder: Path | None
    copies: int = 1
    in_default: bool = False


@dataclass
class _Model:
    """A document with its includes.

    ``folder`` is that of the outermost document, ``known`` the attached models that were read, by their files, and ``above``
    the files of the models that attach this one.
    """

    folder: Path | None
    known: dict[Path, _Model]
    above: tuple[Path, ...] = ()
    elements: list[tuple[Element, _Place]] = field(default_factory=list)
    included: set[Path] = field(default_factory=set)
    attached: list[_Model] = field(default_factory=list)
    count: int = 0
    bodies: int = 0
    cells: int = 0

    def read(self, data: bytes, place: _Place) -> None:
        """Collect the elements of a file, and of those it includes."""
        root = parse_xml(data, place.file, "utf-8", max_depth=MAX_DEPTH).root  # MuJoCo reads UTF-8, whatever is declared
        if root.tag not in ("mujoco", "mujocoinclude"):
            found = f"the root element <{printable(root.tag)[1:-1]}>"
            _refuse(root, place, found, "<mujoco>", "include and attach MJCF files only")
        stack = [(root, place)]
        while stack:
            e, place = stack.pop()
            inner = self._enter(e, place)
            stack += [(child, inner) for child in reversed(e.children)]

    def _enter(self, e: Element, place: _Place) -> _Place:
        """Count an element; the place of its children is returned."""
        self.elements.append((e, place))
        self._check_numbers(e, place)
        self._count(e, place, KEYFRAME if e.tag == "key" else 1, e.tag == "body")
        inner = replace(place, in_default=True) if e.tag == "default" else place
        if e.tag == "include":
            self._include(e, place)
        elif e.tag == "replicate":
            inner = replace(place, copies=place.copies * max(1, _product(e, place, "count")))
        elif e.tag in ("flexcomp", "composite"):
            self._count(e, place, _product(e, place, "count"), True)
        elif e.tag == "size":
            self._count(e, place, KEYFRAME * max(0, _product(e, place, "nkey", "0")), False)
        return inner

    def _count(self, e: Element, place: _Place, number: int, are_bodies: bool) -> None:
        self.count += number * place.copies
        self.bodies += number * place.copies * are_bodies
        for total, limit, what in ((self.count, MAX_ELEMENTS, "elements"), (self.bodies, MAX_BODIES, "bodies")):
            if total > limit:
                found = f"with this <{printable(e.tag)[1:-1]}> the model has more than {limit} {what}, counting copies"
                _refuse(e, place, found, f"at most {limit}", f"remove {what} or copies; {TRUSTED}")

    def _include(self, e: Element, place: _Place) -> None:
        name = e.attributes.get("file", "")
        found = [path for path in self._paths(e, place, "file", name) if path.is_file()]
        if not found:
            _refuse(e, place, f"the included file {printable(name)} does not exist", "a file", "correct its name")
        for path in found:
            if path in self.included or len(self.included) >= MAX_FILES:
                what = f"{printable(name)} is included a second time, or more than {MAX_FILES} files are included"
                _refuse(e, place, what, "each file once", "remove this include; <attach> makes copies")
            self.included.add(path)
            self.read(_content(e, place, path), replace(place, file=str(path), folder=path.parent))

    def check(self) -> None:
        """Check files and sizes once all elements are known, and attached models."""
        compilers = [(e, place) for e, place in self.elements if e.tag == "compiler"]
        stripped = [e.attributes["strippath"] for e, _ in compilers if "strippath" in e.attributes]
        strip = bool(stripped) and all(value == "true" for value in stripped)
        folders = {key: self._asset_folders(compilers, key) for key in ("meshdir", "texturedir")}
        defaults = [(e, place) for e, place in self.elements if place.in_default and e.tag == "texture"]
        sides = {key: max([_product(e, p, key, "0") for e, p in defaults], default=0) for key in ("width", "height")}
        for e, place in self.elements:
            if not place.in_default:
                self._add_cells(e, place, sides)
            for key, name in e.attributes.items():
                if key.startswith("file") and e.tag != "include" and name:
                    base = re.split(r"[/\\]", name)[-1] if strip else name
                    self._check_asset(e, place, key, base, folders["texturedir" if e.tag == "texture" else "meshdir"])
        for e, place in self.elements:
            if e.tag == "attach":
                for model in self.attached:  # any of them
                    self._count(e, place, model.count, False)
                    self._count(e, place, model.bodies, True)

    def _asset_folders(self, compilers: list[tuple[Element, _Place]], key: str) -> tuple[str, ...]:
        """The folders that a document names for assets of a kind; MuJoCo takes the last."""
        found = {e.attributes[x]: (e, p, x) for e, p in compilers for x in (key, "assetdir") if e.attributes.get(x)}
        for name, (e, place, x) in found.items():
            self._paths(e, place, x, name)
        return tuple(found) or ("",)

    def _check_asset(self, e: Element, place: _Place, key: str, name: str, folders: tuple[str, ...]) -> None:
        for folder in (*folders, "") if e.tag == "model" else folders:
            for path in self._paths(e, place, key, f"{folder}/{name}" if folder else name):
                if not path.is_file():
                    continue  # MuJoCo says so
                if path.stat().st_size > MAX_MESH_BYTES:
                    _refuse(e, place, f"{printable(name)} is too large", f"{MAX_MESH_BYTES // 2**20} MiB", "simplify it")
                if e.tag == "model":
                    self._attach(e, place, path)
                elif e.tag in ("texture", "hfield") and (head := _head(path)).startswith(_PNG):
                    self._add(e, place, int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big"))

    def _attach(self, e: Element, place: _Place, path: Path) -> None:
        if path in self.above or len(self.above) >= MAX_ATTACHED:
            found = f"{printable(path.name)} contains itself, or models are nested more than {MAX_ATTACHED} deep"
            _refuse(e, place, found, "models that do not contain themselves", "remove this element")
        model = self.known.get(path)
        if model is None:
            model = _Model(self.folder, self.known, (*self.above, path))
            model.read(_content(e, place, path), _Place(str(path), path.parent))
            model.check()
            self.known[path] = model
        self._add(e, place, model.cells)
        self.attached.append(model)

    def _add_cells(self, e: Element, place: _Place, sides: dict[str, int]) -> None:
        """Add pixels of textures, heights of height fields, samples of actuators and sensors."""
        if e.tag == "texture":
            width, height = (_product(e, place, key, str(sides[key])) for key in ("width", "height"))
            self._add(e, place, width * max(height, 6 * width if e.attributes.get("type", "cube") != "2d" else 0))
        elif e.tag == "hfield":
            self._add(e, place, _product(e, place, "nrow", "0") * _product(e, place, "ncol", "0"))
        else:
            keys = [key for key in (*SAMPLES, "num", "dim") if key in SAMPLES or (e.tag, key) in LIMITS]
            self._add(e, place, sum(_product(e, place, key, "0") for key in keys if key in e.attributes))

    def _add(self, e: Element, place: _Place, cells: int) -> None:
        self.cells += max(0, cells)
        if self.cells > MAX_CELLS:
            found = f"with this <{printable(e.tag)[1:-1]}> the model has more than {MAX_CELLS} pixels, heights and samples"
            _refuse(e, place, found, f"at most {MAX_CELLS}", f"give smaller images or sizes; {TRUSTED}")

    def _paths(self, e: Element, place: _Place, key: str, name: str) -> list[Path]:
        """Where a name may lead: from the model's folder and from that of the including file; not out of these."""
        cure = f"keep the file in the model's folder and name it relative to that; {TRUSTED}"
        if self.folder is None or place.folder is None:
            found = f"{key}={printable(name)} is relative to a file, and this model is given as text"
            _refuse(e, place, found, "text without other files", "load the model's file")
        if "\0" in name or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]", name):
            _refuse(e, place, f"{key}={printable(name)} is not a relative path", "a file of the model's folder", cure)
        name = name.replace("\\", "/")
        try:
            top = self.folder.resolve()
            # assets often lie in a folder beside that of the models; farther than that nothing is followed
            top = top.parent if name.startswith("../") and top.parent.parent != top.parent else top
            paths = list(dict.fromkeys((folder / name).resolve() for folder in (self.folder, place.folder)))
        except (OSError, RuntimeError, ValueError) as error:
            _refuse(e, place, f"{key}={printable(name)} cannot be followed: {reason_of(error)}", "a file", cure)
        if any(not path.is_relative_to(top) for path in paths):
            _refuse(e, place, f"{key}={printable(name)} leads out of {top}", "a file of the model's folder", cure)
        return paths

    def _check_numbers(self, e: Element, place: _Place) -> None:
        for key, text in e.attributes.items():
            limit = LIMITS.get((e.tag, key), SAMPLES.get(key))
            if limit is None:
                continue
            limit = min(limit, IN_DEFAULTS) if key in SAMPLES and place.in_default else limit
            if not all(abs(value) <= limit for value in _values(e, place, key, text)):
                _refuse(e, place, f"{key}={printable(text, 40)}", f"at most {limit}", f"give a smaller number; {TRUSTED}")
        if e.tag == "lengthrange":
            times = {"inttotal": "10", "timestep": "0.01"} | e.attributes
            total, step = (sum(_values(e, place, key, times[key])) for key in ("inttotal", "timestep"))
            if not 0.0 <= total <= MAX_STEPS * step:
                found = f"a simulation of {total:g} s in steps of {step:g} s"
                _refuse(e, place, found, f"at most {MAX_STEPS} steps", "give a shorter inttotal or a longer timestep")


def _values(e: Element, place: _Place, key: str, text: str) -> list[float]:
    """The numbers of an attribute; sizes of memory may have a unit."""
    try:
        unit = _UNITS.get(text.strip()[-1:].upper(), 1.0) if key == "memory" else 1.0
        return [float(word) * unit for word in (text.strip()[:-1] if unit > 1.0 else text).split()]
    except ValueError:
        _refuse(e, place, f"{key}={printable(text, 40)}", "numbers", "give numbers")


def _product(e: Element, place: _Place, key: str, absent: str = "1") -> int:
    """The product of the numbers of an attribute, which are within their limits."""
    return prod(int(value) for value in _values(e, place, key, e.attributes.get(key, absent)))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(24)
    except OSError:
        return b""


def _content(e: Element, place: _Place, path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        _refuse(e, place, f"{printable(str(path))} cannot be read: {error.strerror}", "a file", "make it readable")


def _refuse(e: Element, place: _Place, found: str, allowed: str, cure: str) -> NoReturn:
    raise format_error(place.file, e.line, found, allowed, cure)
