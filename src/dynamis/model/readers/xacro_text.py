"""Text of xacro files: properties, expressions, arguments and the names of files."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dynamis.errors import FormatError, InputError, MissingExtraError, printable
from dynamis.model.diagnostics import Report, format_error
from dynamis.model.packages import find_file
from dynamis.model.readers.xacro_expressions import (
    MAX_SIZE,
    SYMBOLS,
    Budget,
    ExpressionError,
    Functions,
    bounded,
    evaluate,
    size,
)
from dynamis.model.readers.xml_tree import Element

MAX_NESTING = 120  # levels of elements, macros, includes and properties together
MAX_FILES = 500
MAX_YAML = 256 * 2**10  # bytes
UNITS = {"radians": 1.0, "degrees": 0.017453292519943295, "meters": 1.0, "millimeters": 0.001, "foot": 0.3048, "inches": 0.0254}
_PIECE = re.compile(r"\$\$+[{(]|\$\{[^}]*\}|\$\([^)]*\)|[^$]+|\$")


class Scope(Mapping[str, Any]):
    """Names and their values, then those of the parent; ``raw`` are texts that are evaluated when they are first used."""

    def __init__(self, parent: Scope | None) -> None:
        self.parent = parent
        self.values_here: dict[str, Any] = {}
        self.raw: dict[str, tuple[str, Element]] = {}
        self.expansion: Text | None = parent.expansion if parent is not None else None

    def __getitem__(self, name: str) -> Any:
        if name in self.raw and self.expansion is not None:
            self.values_here[name] = self.expansion.property_value(self, name)
        if name in self.values_here:
            return self.values_here[name]
        if self.parent is None:
            raise KeyError(name)
        return self.parent[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values_here or name in self.raw or (self.parent is not None and name in self.parent)

    def __iter__(self) -> Iterator[str]:
        yield from (*self.values_here, *self.raw)

    def __len__(self) -> int:
        return len(self.values_here) + len(self.raw)

    def set(self, name: str, value: Any) -> None:
        self.raw.pop(name, None)
        self.values_here[name] = value

    def remove(self, name: str) -> None:
        scope: Scope | None = self
        while scope is not None:
            scope.raw.pop(name, None)
            scope.values_here.pop(name, None)
            scope = scope.parent


class Text:
    """The evaluation of text in one document and the files it includes."""

    def __init__(self, file: str, folder: Path | None, arguments: Mapping[str, Any], report: Report) -> None:
        self.file, self.folder, self.report = file, folder, report
        self.files: list[tuple[str, Path | None]] = [(file, folder)]
        self.arguments = {str(k): _written(v) for k, v in arguments.items()}
        self.declared: set[str] = set()
        self.budget, self.made, self.read, self.nesting = Budget(), 0, 0, 0
        self.pending: list[str] = []
        self.at: Element | None = None
        own = {"load_yaml": self.load_yaml, "arg": self.argument, "dotify": lambda x: x, "tokenize": _tokenize,
               "fatal": _fatal, "warning": self.remark, "error": self.remark, "message": self.remark}  # fmt: skip
        self.symbols = {"xacro": Functions(own), "load_yaml": self.load_yaml}

    def fault(self, element: Element, found: str, cure: str, allowed: str = "xacro") -> FormatError:
        return format_error(self.file, element.line, found, allowed, cure)

    def evaluated(self, element: Element, text: str, scope: Scope) -> Any:
        """The value of text with expressions; a single expression keeps its type."""
        self.at = element
        try:
            return self.value(text, scope)
        except ExpressionError as error:
            raise self.fault(element, f"in {printable(text)}: {error}", error.cure, "an expression of xacro") from None

    def value(self, text: str, scope: Scope) -> Any:
        if "$" not in text:
            return text
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise ExpressionError("expressions are nested too deep", "write them in parts")
        if size(text) > MAX_SIZE:
            raise ExpressionError(f"a text with expressions has more than {MAX_SIZE} characters", "shorten it")
        parts: list[Any] = []
        for piece in _PIECE.findall(text):
            if piece.startswith("$$"):
                parts.append(piece[1:])
            elif piece.startswith("${") and piece.endswith("}"):
                inner = str(self.value(piece[2:-1], scope))
                parts.append(evaluate(inner, lambda name: self.look_up(name, scope), self.budget))
            elif piece.startswith("$(") and piece.endswith(")"):
                parts.append(self.substituted(str(self.value(piece[2:-1], scope)), scope))
            else:
                parts.append(piece)
        self.nesting -= 1
        joined = parts[0] if len(parts) == 1 else "".join(map(str, parts)).replace("file://package://", "package://")
        return bounded(joined, self.budget)

    def look_up(self, name: str, scope: Scope) -> Any:
        if name in scope:
            value = scope[name]
            if not isinstance(value, Element):
                return value
        if name in self.symbols and name not in scope:
            return self.symbols[name]
        raise KeyError(name)

    def property_value(self, scope: Scope, name: str) -> Any:
        text, element = scope.raw[name]
        if name in self.pending:
            raise ExpressionError(f"the property {printable(name)} is defined by itself", "give it a value")
        self.pending.append(name)
        try:
            value = literal(self.value(text, scope))
        except ExpressionError as error:
            raise self.fault(element, f"in {printable(text)}: {error}", error.cure, "an expression of xacro") from None
        finally:
            self.pending.pop()
        scope.raw.pop(name, None)
        return value

    def substituted(self, text: str, scope: Scope) -> Any:
        """The value of $(…)."""
        command, _, rest = text.strip().partition(" ")
        rest = rest.strip()
        if command == "arg" and rest:
            return self.argument(rest)
        if command == "find" and re.fullmatch(r"[\w.-]+", rest):
            return f"package://{rest}"
        if command == "dirname" and not rest:
            return "."  # names of files are relative to the file they stand in
        if command == "eval" and rest:
            symbols = {"true": True, "false": False, "arg": self.argument, "find": lambda name: f"package://{name}"}

            def names(name: str) -> Any:
                if name in symbols:
                    return symbols[name]
                if name in self.arguments:
                    return self.argument(name)
                return self.look_up(name, scope)

            return str(evaluate(rest, names, self.budget))
        if command == "optenv":
            name, _, default = rest.partition(" ")
            where = self.at.line if self.at is not None else None
            self.report.note(
                "environment", "file", f"$(optenv {printable(name)[1:-1]}) is not looked up in the environment",
                "declare it with <xacro:arg> and give its value", f"its default is used: {printable(default)}", where,
            )  # fmt: skip
            return default.strip()
        if command == "env":
            raise ExpressionError(
                f"{printable(f'$({text})')} reads the environment, which files may not do", "declare it with <xacro:arg>"
            )
        raise ExpressionError(f"{printable(f'$({text})')} is not known", "use $(arg NAME), $(find PACKAGE) or $(dirname)")

    def argument(self, name: Any) -> str:
        if name not in self.arguments:
            raise ExpressionError(
                f"the argument {printable(name)} has no value",
                f"give xacro_args={{{printable(name)}: …}}, --arg NAME:=VALUE, or a default in <xacro:arg>",
            )
        self.declared.add(str(name))
        return self.arguments[str(name)]

    def remark(self, *words: Any) -> str:
        text = " ".join(map(str, words))
        self.report.note("xacro", "file", f"the file says: {printable(text, 400)}", "", "", self.at.line if self.at else None)
        return ""

    def resolved(self, name: str) -> Path:
        """The file that a name in the file being read means."""
        name = re.sub(r"^(?:file://)?(?:package://\./)?(?:\./)*", "", name)
        folder = self.files[-1][1]
        if any(sign in name for sign in "*?["):
            raise ExpressionError("patterns are not followed", "name each file")
        if name.startswith("package://") or folder is None:
            return find_file(name, self.folder, "file")
        try:
            return find_file(name, folder, "file")
        except InputError:
            if self.folder is not None and (folder / name).resolve().is_relative_to(self.folder.resolve()):
                return find_file(str((folder / name).resolve().relative_to(self.folder.resolve())), self.folder, "file")
            raise

    def content(self, path: Path, e: Element | None = None, most: int = 16 * 2**20) -> bytes:
        self.read += 1
        if self.read > MAX_FILES:
            raise self.fault(
                e or Element("", {}, 1), f"more than {MAX_FILES} files are included", "include fewer", "fewer files"
            )
        with path.open("rb") as stream:
            return stream.read(most + 1)

    def load_yaml(self, name: Any) -> Any:
        try:
            yaml = importlib.import_module("yaml")
        except ImportError:
            raise MissingExtraError(
                "PyYAML reads the YAML files of xacro and is not installed: pip install 'dynamis[xacro]'"
            ) from None
        try:
            path = self.resolved(str(name))
        except InputError as error:
            cure = "keep it in the robot's folder or in a package that ROS_PACKAGE_PATH declares"
            raise ExpressionError(str(error), cure) from None
        data = self.content(path, self.at, MAX_YAML)
        if len(data) > MAX_YAML:
            raise ExpressionError(f"the YAML file {printable(str(name))} has more than {MAX_YAML} bytes", "give a smaller one")

        class Loader(yaml.SafeLoader):  # type: ignore[misc,name-defined]
            pass

        for unit, factor in UNITS.items():
            Loader.add_constructor(f"!{unit}", lambda loader, node, k=factor: k * float(
                evaluate(loader.construct_scalar(node), lambda name: SYMBOLS[name], self.budget)))  # fmt: skip
        self.budget.spend(len(data))
        try:
            return bounded(yaml.load(data, Loader), self.budget)
        except (yaml.YAMLError, RecursionError, ValueError, TypeError, AttributeError, UnicodeError) as error:
            raise ExpressionError(
                f"{printable(str(name))} is no YAML file ({printable(str(error), 200)[1:-1]})", "correct it"
            ) from None


def literal(value: Any) -> Any:
    """Text that says a number or a truth value, as such; quotes around text are removed."""
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if "_" in value or len(value) > 400:
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return {"true": True, "True": True, "false": False, "False": False}.get(value, value)


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tokenize(text: Any, separators: Any = ",; ", skip_empty: Any = True) -> list[str]:
    words = re.split(f"[{re.escape(str(separators))}]", str(text))
    return [word for word in words if word] if skip_empty else words


def _fatal(*words: Any) -> str:
    raise ExpressionError(f"the file says: {printable(' '.join(map(str, words)), 400)}", "give other arguments")
