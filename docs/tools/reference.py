"""The reference, written when the site is built: a line ``::: dynamis.load`` becomes that name's signature and docstring.

``::: dynamis.Robot`` lists a class with its public members, ``::: dynamis.solids`` a module with its functions, and
``::: command line`` every command with its options. A class that is not a public name itself, because users only receive it,
is listed with the first function of the page that returns it.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

DIRECTIVE = re.compile(r"^::: (.+)$", flags=re.M)
WIDTH = 96


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001 (given by mkdocs)
    shown: set[type] = set()
    return DIRECTIVE.sub(lambda match: entry(match[1].strip(), shown), markdown)


def names(markdown: str) -> set[str]:
    """All names a page has an entry for."""
    found = set()
    for match in DIRECTIVE.findall(markdown):
        name = match.strip()
        module = name != "command line" and isinstance(_found(name), types.ModuleType)
        found |= {name, *(f"{name}.{part}" for part in listed(name))} if module else {name}
    return found


def entry(name: str, shown: set[type] | None = None) -> str:
    """The Markdown of one name; ``shown`` are the classes of results that the page already has."""
    return "\n\n".join(_command_line() if name == "command line" else _lines(name, set() if shown is None else shown))


def _lines(name: str, shown: set[type]) -> Iterator[str]:
    value = _found(name)
    if isinstance(value, types.ModuleType):
        for part in listed(name):
            yield from _with_results(f"{name}.{part}", getattr(value, part), shown)
    else:
        yield from _with_results(name, value, shown)


def _with_results(name: str, value: Any, shown: set[type]) -> Iterator[str]:
    yield from _lines_of(name, value)
    functions = [function for _, _, function in _members(value)] if inspect.isclass(value) else [value]
    for function in functions:
        for result in results(function):
            if result not in shown:
                yield from _result(result, shown)


def _result(result: type, shown: set[type]) -> Iterator[str]:
    """The entry of a class of results, and of those of the same package that it consists of."""
    shown.add(result)
    yield from _lines_of(f"{result.__module__}.{result.__qualname__}", result)
    package = result.__module__.split(".")[1]
    for part in _classes([getattr(result, "__annotations__", {})], sys.modules[result.__module__]):
        if part not in shown and part.__module__.split(".")[1] == package:
            yield from _result(part, shown)


def results(function: Any) -> list[type]:
    """The classes that a function returns and that are not public names, also inside tuples and lists."""
    annotation = getattr(function, "__annotations__", {}).get("return", "")
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    return [] if module is None else _classes([annotation], module)


def _classes(annotations: list[Any], module: types.ModuleType) -> list[type]:
    """The classes of Dynamis in annotations of a module that are not public names."""
    words = re.findall(r"\w+", " ".join(map(str, annotations)))
    found = dict.fromkeys(vars(module).get(word) or _imported(word, module) for word in words)
    return [x for x in found if inspect.isclass(x) and x.__module__.startswith("dynamis.") and not _is_public(x)]


def _imported(name: str, module: types.ModuleType) -> Any:
    """A class that a module imports for type checkers only."""
    source = inspect.getsource(module) if module.__name__.startswith("dynamis") else ""
    match = re.search(rf"^    from (dynamis\.\S+) import [^\n]*\b{name}\b", source, flags=re.M)
    return getattr(importlib.import_module(match[1]), name, None) if match else None


@functools.cache
def _public() -> frozenset[int]:
    package = importlib.import_module("dynamis")
    values = [getattr(package, name) for name in package.__all__]
    parts = [getattr(x, name) for x in values if isinstance(x, types.ModuleType) for name in getattr(x, "__all__", ())]
    return frozenset(map(id, [*values, *parts]))


def _is_public(value: Any) -> bool:
    return id(value) in _public()


def listed(name: str) -> list[str]:
    """The public names of a module, but those that the package has under the same name: these have a place of their own."""
    module, package = _found(name), _found("dynamis")
    own = getattr(module, "__all__", None)
    if own is None:
        own = [k for k, x in vars(module).items() if inspect.isfunction(x) and x.__module__ == module.__name__]
    return [k for k in own if not k.startswith("_") and getattr(package, k, None) is not getattr(module, k)]


def _found(name: str) -> Any:
    value: Any = importlib.import_module("dynamis")
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    if isinstance(value, types.ModuleType) and callable(value):  # a package called like the function in it
        short = name.rpartition(".")[2]
        value = getattr(importlib.import_module(f"{value.__name__}.{short}"), short)
    return value


def _lines_of(name: str, value: Any) -> Iterator[str]:
    owner, _, short = name.rpartition(".")
    yield f'## <span class="owner">{owner}.</span>{short} {{ #{name} data-toc-label="{short}" }}'
    if inspect.isclass(value) and not issubclass(value, BaseException):
        yield from _class(name, short, value)
    elif callable(value) and not inspect.isclass(value):
        yield _signature(short, value)
        yield docstring(value)
    else:
        yield docstring(value) if inspect.isclass(value) else _code(f"{short} = {_short(value)}")


def _class(name: str, short: str, value: type) -> Iterator[str]:
    yield _signature(short, value)
    yield docstring(value)
    for member, kind, function in _members(value):
        yield f'### {member} {{ #{name}.{member} data-toc-label="{member}" }}'
        if kind == "property":
            returned = getattr(function, "__annotations__", {}).get("return", "")
            yield _code(f"{member}: {returned}" if returned else member)
        else:
            yield _signature(member, function, drop_self=kind == "method")
        yield docstring(function)
    yield from _inherited(value)


def _members(value: type) -> Iterator[tuple[str, str, Any]]:
    """Public methods and properties with a docstring of a class and of its parts, in the order they are written."""
    parts = [base for base in value.__mro__[1:] if _is_part(base)]
    for member, found in (item for one in (value, *parts) for item in vars(one).items()):
        held = getattr(found, "__wrapped__", found)  # a method that is called directly
        if isinstance(held, property):
            kind, function = "property", held.fget
        elif isinstance(held, functools.cached_property):
            kind, function = "property", held.func
        elif isinstance(held, (classmethod, staticmethod)):
            kind, function = ("method" if isinstance(held, classmethod) else "static"), held.__func__
        elif inspect.isfunction(held):
            kind, function = "method", held
        else:
            continue
        if not member.startswith("_") and inspect.getdoc(function):
            yield member, kind, function


def _is_part(base: type) -> bool:
    """Whether a base class is not a public name of its package, but part of the class that inherits from it."""
    package = sys.modules.get(base.__module__.rpartition(".")[0])
    public = getattr(package, "__all__", ())
    return base.__module__.startswith("dynamis.") and bool(public) and base.__name__ not in public


def _inherited(value: type) -> Iterator[str]:
    seen = {member for member, *_ in _members(value)}
    for base in value.__mro__[1:]:
        if base.__module__.startswith("dynamis") and not _is_part(base):
            more = [member for member, *_ in _members(base) if member not in seen]
            seen |= set(more)
            if more:
                yield f"From `{base.__name__}`: " + ", ".join(f"`{member}`" for member in more) + "."


def _signature(name: str, value: Any, drop_self: bool = False) -> str:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return _code(f"{name}(…)")
    known = [p for p in signature.parameters.values() if not p.name.startswith("_")]
    parameters = [p.replace(default=_Shown(p.default)) if p.default is not p.empty else p for p in known]
    if drop_self:
        parameters = parameters[1:]  # self, or the class
    silent = inspect.isclass(value) or signature.return_annotation in (signature.empty, "None")
    arrow = "" if silent else f" -> {signature.return_annotation}"
    flat = _unquoted(f"{name}{signature.replace(parameters=parameters, return_annotation=signature.empty)}{arrow}")
    if len(flat) <= WIDTH:
        return _code(flat)
    lines, star = [], False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not star:
            lines.append("    *,")
            star = True
        star = star or p.kind is p.VAR_POSITIONAL
        lines.append(_unquoted(f"    {p},"))
    return _code("\n".join([f"{name}(", *lines, f"){arrow}"]))


def _unquoted(text: str) -> str:
    """Annotations that are kept as text, without their quotes."""
    return re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r"\1", text).replace("'", "")


class _Shown:
    """A default value as it is written, short."""

    def __init__(self, value: Any) -> None:
        self.text = "…" if value is dataclasses.MISSING or "factory" in repr(value) else _short(value)

    def __repr__(self) -> str:
        return self.text


def _short(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__name__
    if isinstance(value, tuple):
        return "(" + ", ".join(_short(x) for x in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_short(k)}: {_short(x)}" for k, x in value.items()) + "}"
    text = re.sub(r"\s+", " ", repr(value))
    return text if len(text) < 50 and " at 0x" not in text else "…"


def _code(text: str) -> str:
    return f"```{{ .python .signature }}\n{text}\n```"


def docstring(value: Any) -> str:
    """A docstring as Markdown: doctests and indented formulas are code, everything else is plain text."""
    text = inspect.getdoc(value) or ""
    if inspect.isclass(value) and text.startswith(f"{value.__name__}("):
        return ""  # what a dataclass writes by itself
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        first = block.splitlines()[0] if block.strip() else ""
        if first.lstrip().startswith(">>>"):
            blocks.append(f"```pycon\n{inspect.cleandoc(block)}\n```")
        elif first.startswith("    "):
            blocks.append(f"```text\n{inspect.cleandoc(block)}\n```")
        elif re.match(r"[-*] ", first):
            blocks.append("\n".join(_plain(line) for line in block.splitlines()))
        else:
            blocks.append(_plain(block))
    return "\n\n".join(blocks)


def _plain(text: str) -> str:
    """Text whose stars, underscores and brackets are meant as such; what stands between backticks stays code."""
    parts = re.split(r"(``[^`]+``|`[^`]+`)", text)
    return "".join(part if k % 2 else re.sub(r"(?<!^)([*_\[\]<>|#$\\])", r"\\\1", part) for k, part in enumerate(parts))


def _command_line() -> Iterator[str]:
    import click

    from dynamis.cli.commands import cli

    context = click.Context(cli, info_name="dynamis", help_option_names=["-h", "--help"])
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        yield f"## dynamis {name} {{ #dynamis-{name} }}"
        yield f"```text\n{command.get_help(below)}\n```"
