"""Xacro: macros, properties, conditions and includes of an XML document, expanded to a tree with the lines of the sources.

The language is that of the ROS package xacro, except that expressions are evaluated by `xacro_expressions`, files are read from
the robot's folder and from packages only, the environment is not read, and depth, number of elements and steps are bounded.
``$(find NAME)`` becomes ``package://NAME``, which is followed by the rules for meshes.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynamis.errors import InputError, printable, unknown_name
from dynamis.model.diagnostics import Report
from dynamis.model.readers.xacro_expressions import MAX_SIZE, ExpressionError
from dynamis.model.readers.xacro_text import MAX_NESTING, Scope, Text, literal
from dynamis.model.readers.xml_tree import MAX_ELEMENTS, Element, Made, name_lines, parse_xml

_PARAMETER = re.compile(
    r"""\s*([^\s:=]+?)\s*:?=\s*(\^\|?)?(\$\{.*?\}|\$\(.*?\)|(?:'[^']*'|"[^"]*"|[^\s'"])+|)(?:\s+|$)(.*)""", re.S
)


def has_macros(data: bytes, file: str) -> bool:
    """Whether a document contains xacro elements, outside of comments."""
    if b"<xacro:" not in (data.replace(b"\0", b"") if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else data):
        return False
    stack = [parse_xml(data, file).root]
    while stack:
        element = stack.pop()
        if element.tag.startswith("xacro:"):
            return True
        stack.extend(element.children)
    return False


def expand_xacro(data: bytes, file: str, folder: Path | None, arguments: Mapping[str, Any], report: Report) -> Made:
    """The expanded document; ``folder`` is that of the file, None for text, and ``arguments`` its arguments by name."""
    expansion = _Expansion(file, folder, arguments, report)
    document = parse_xml(data, file, text=True)
    root = document.root
    top = Scope(None)
    made = expansion.attributes(root, top)
    made.children = expansion.children(root, Scope(None), top, 1)
    made.text = expansion.text(root, top)
    unused = sorted(set(expansion.arguments) - expansion.declared)
    if unused:
        error = unknown_name("xacro argument", unused[0], expansion.declared)
        raise InputError(f"{printable(file)}: {error}")
    return Made(made)


@dataclass
class Macro:
    body: Element
    parameters: list[str] = field(default_factory=list)
    defaults: dict[str, tuple[bool, str | None]] = field(default_factory=dict)  # whether it is forwarded, and its text


class _Expansion(Text):
    def attributes(self, element: Element, scope: Scope) -> Element:
        """A copy of an element, without its children, with its attributes evaluated."""
        self.made += 1
        if self.made > MAX_ELEMENTS:
            raise self.fault(element, f"it expands to more than {MAX_ELEMENTS} elements", "make it smaller", "fewer")
        kept = {
            key: str(self.evaluated(element, value, scope))
            for key, value in element.attributes.items()
            if not key.startswith("xacro:") and key != "xmlns:xacro"
        }
        return Element(element.tag, kept, element.line)

    def text(self, element: Element, scope: Scope) -> str:
        """The evaluated text of an element: after its children, which may define what it uses."""
        return str(self.evaluated(element, element.text, scope)) if element.text.strip() else ""

    def children(
        self, element: Element, macros: Scope, scope: Scope, depth: int, owner: Element | None = None
    ) -> list[Element]:
        """The expanded children; ``owner`` is the element that <xacro:attribute> sets attributes of."""
        if depth > MAX_NESTING:
            cure = "a macro calls itself, or a file includes itself, without end"
            raise self.fault(
                element, f"elements, macros and includes are nested more than {MAX_NESTING} deep", cure, "fewer levels"
            )
        scope.expansion = self
        result: list[Element] = []
        for child in element.children:
            try:
                # a call looks names up through every scope around it
                self.budget.spend(1 + len(child.attributes) + (10 * depth if child.tag.startswith("xacro:") else 0))
            except ExpressionError as error:
                raise self.fault(child, str(error), error.cure, "fewer steps") from None
            result += self.child(child, macros, scope, depth + 1, owner)
        return result

    def child(self, e: Element, macros: Scope, scope: Scope, depth: int, owner: Element | None) -> list[Element]:
        match e.tag:
            case "xacro:property":
                self.define_property(e, scope)
            case "xacro:macro":
                self.define_macro(e, macros)
            case "xacro:arg":
                name = self.required(e, "name")
                self.declared.add(name)
                if name not in self.arguments:
                    self.arguments[name] = str(self.evaluated(e, self.required(e, "default"), scope))
            case "xacro:include":
                return self.include(e, macros, scope, depth)
            case "xacro:if" | "xacro:unless":
                if self.condition(e, self.required(e, "value"), scope) == (e.tag == "xacro:if"):
                    return self.children(e, macros, scope, depth, owner)
            case "xacro:insert_block":
                name = self.required(e, "name")
                for block in (scope.get("**" + name), scope.get("*" + name)):
                    if isinstance(block, Element):
                        whole = block is scope.get("*" + name)
                        inner = block if not whole else Element("", {}, e.line, children=[block])
                        return self.children(inner, macros, scope, depth, owner)
                raise self.fault(e, f"there is no block {printable(name)}", "give the macro a parameter with this name and a *")
            case "xacro:attribute":
                if owner is not None:
                    name = str(self.evaluated(e, self.required(e, "name"), scope))
                    owner.attributes[name] = str(self.evaluated(e, self.required(e, "value"), scope))
            case "xacro:element":
                name = str(self.evaluated(e, self.required(e, "xacro:name"), scope))
                return self.child(
                    Element(name, e.attributes, e.line, children=e.children, text=e.text), macros, scope, depth, owner
                )
            case "xacro:call":
                name = str(self.evaluated(e, self.required(e, "macro"), scope))
                rest = {key: value for key, value in e.attributes.items() if key != "macro"}
                return self.call(Element(f"xacro:{name}", rest, e.line, children=e.children), macros, scope, depth)
            case _ if e.tag.startswith("xacro:"):
                return self.call(e, macros, scope, depth)
            case _:
                made = self.attributes(e, scope)
                made.children = self.children(e, macros, scope, depth, made)
                made.text = self.text(e, scope)
                return [made]
        return []

    def required(self, element: Element, key: str) -> str:
        if key not in element.attributes:
            raise self.fault(element, f"<{element.tag}> has no {key}=…", f"add the attribute {key}", f"{key}=…")
        return element.attributes[key]

    def condition(self, element: Element, text: str, scope: Scope) -> bool:
        value = self.evaluated(element, text, scope)
        if isinstance(value, str):
            known = {"true": True, "True": True, "false": False, "False": False}
            if value not in known and not re.fullmatch(r"\s*[-+]?\d{1,9}\s*", value):
                raise self.fault(
                    element, f"the condition {printable(text)} is {printable(value)}", "give true or false", "true or false"
                )
            return known[value] if value in known else bool(int(value))
        return bool(value)

    def define_property(self, e: Element, scope: Scope) -> None:
        name = str(self.evaluated(e, self.required(e, "name"), scope))
        if not name.isidentifier() or name.startswith("__"):
            raise self.fault(e, f"the property name {printable(name)}", "use letters, digits and _", "an identifier")
        if self.condition(e, e.attributes.get("remove", "false"), scope):
            scope.remove(name)
            return
        value = e.attributes.get("value")
        if value is None and "default" in e.attributes:
            if name in scope:
                return
            value = e.attributes["default"]
        target, where = scope, e.attributes.get("scope")
        lazy = where not in ("global", "parent") and self.condition(e, e.attributes.get("lazy_eval", "true"), scope)
        if where == "parent":
            target = scope.parent or scope
        while where == "global" and target.parent is not None:
            target = target.parent
        if value is None:
            target.set("**" + name, e)
        elif lazy and "$" in value:
            target.values_here.pop(name, None)
            target.raw[name] = (value, e)
        else:
            target.set(name, literal(self.evaluated(e, value, scope)))

    def define_macro(self, e: Element, macros: Scope) -> None:
        name = self.required(e, "name").removeprefix("xacro:")
        macro, rest = Macro(e), e.attributes.get("params", "")
        if len(rest) > MAX_SIZE:
            raise self.fault(e, "the list of parameters is too long", "give fewer parameters")
        while rest.strip():
            found = _PARAMETER.match(rest)
            if found:
                parameter, forward, default, rest = found.groups()
                macro.defaults[parameter] = (bool(forward), default or None)
            else:
                parameter, _, rest = rest.strip().partition(" ")
            macro.parameters.append(parameter)
        macros.set(name, macro)

    def call(self, e: Element, macros: Scope, scope: Scope, depth: int) -> list[Element]:
        name = e.tag.removeprefix("xacro:")
        macro, inner = macros.get(name), scope
        inner_macros = macros
        if macro is None and "." in name:
            *spaces, last = name.split(".")
            for space in spaces:
                below, names = inner_macros.get(space), inner.get(space)
                if not isinstance(below, Scope) or not isinstance(names, Scope):
                    raise self.fault(e, f"there is no name space {printable(space)}", "include the file with ns=…")
                inner_macros, inner = below, names
            macro = inner_macros.get(last)
        if not isinstance(macro, Macro):
            known = {m for s in _chain(macros) for m, value in s.values_here.items() if isinstance(value, Macro)}
            message = str(unknown_name("macro", name, known))
            raise self.fault(e, message, "define the macro, or include the file that does", "a macro")
        local = Scope(inner)
        missing = list(macro.parameters)
        for key, text in e.attributes.items():
            if key not in missing:
                raise self.fault(
                    e, f"the macro has no parameter {printable(key)}", f"its parameters are: {', '.join(macro.parameters)}"
                )
            missing.remove(key)
            local.set(key, literal(self.evaluated(e, text, scope)))
        blocks = self.children(e, macros, scope, depth)
        for parameter in [p for p in missing if p.startswith("*")]:
            if not blocks:
                raise self.fault(e, f"the block {printable(parameter)} is missing", "give an element for it")
            local.set(parameter, blocks.pop(0))
            missing.remove(parameter)
        if blocks:
            raise self.fault(e, f"the block <{printable(blocks[0].tag)[1:-1]}> is not used by the macro", "remove it")
        for parameter in missing:
            forward, default = macro.defaults.get(parameter, (False, None))
            if forward and parameter in scope:
                local.set(parameter, scope[parameter])
            elif default is not None:
                local.set(parameter, literal(self.evaluated(e, default, scope)))
            else:
                raise self.fault(
                    e, f"the parameter {printable(parameter)} has no value", f"give {printable(parameter)[1:-1]}=…"
                )
        return self.children(macro.body, Scope(inner_macros), local, depth)

    def include(self, e: Element, macros: Scope, scope: Scope, depth: int) -> list[Element]:
        name = str(self.evaluated(e, self.required(e, "filename"), scope))
        try:
            path = self.resolved(name)
        except (InputError, ExpressionError) as error:
            if self.condition(e, e.attributes.get("optional", "false"), scope):
                self.report.note(
                    "include", "file", f"the optional file {printable(name)} is not included", "", str(error), e.line
                )
                return []
            cure = "keep it in the robot's folder or in a package that ROS_PACKAGE_PATH declares"
            raise self.fault(
                e, f"it includes {printable(name)}: {error}", cure, "a file of the robot's folder or of a package"
            ) from None
        shown = str(path)
        root = parse_xml(self.content(path, e), shown, text=True).root
        name_lines(root, shown)
        space = e.attributes.get("ns")
        if space is not None:
            space = str(self.evaluated(e, space, scope))
            inner_macros, inner = Scope(macros), Scope(scope)
            macros.set(space, inner_macros)
            scope.set(space, inner)
            macros, scope = inner_macros, inner
        self.files.append((shown, path.parent))
        try:
            return self.children(root, macros, scope, depth)
        finally:
            self.files.pop()


def _chain(scope: Scope | None) -> Iterator[Scope]:
    while scope is not None:
        yield scope
        scope = scope.parent
