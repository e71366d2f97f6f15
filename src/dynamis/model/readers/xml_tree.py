"""XML as a plain tree with line numbers, and without anything that could make a file dangerous.

A document type declaration is refused, so there are no entities to expand and nothing external to fetch; size, depth
and number of elements are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from dynamis.errors import printable
from dynamis.model.diagnostics import format_error

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 64
MAX_ELEMENTS = 200_000


@dataclass(slots=True)
class Element:
    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]


def parse_xml(data: bytes, file: str) -> Element:
    """The root element of a document."""
    if len(data) > MAX_BYTES:
        found = f"the file has more than {MAX_BYTES} bytes"
        raise format_error(file, None, found, f"at most {MAX_BYTES}", "give a robot's file")
    if not data.strip(b" \t\r\n\0"):
        raise format_error(file, None, "the file is empty", "a robot", "write a robot into it, or give another file")
    parser = expat.ParserCreate()
    stack: list[Element] = []
    roots: list[Element] = []
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        line = parser.CurrentLineNumber
        if len(stack) >= MAX_DEPTH:
            raise format_error(file, line, "elements are nested too deep", f"{MAX_DEPTH} levels", "give a robot's file")
        if count > MAX_ELEMENTS:
            raise format_error(file, line, f"there are more than {MAX_ELEMENTS} elements", "fewer", "give a robot's file")
        element = Element(tag, attributes, line)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def end(_tag: str) -> None:
        stack.pop()

    def refuse_doctype(name: str, *_: object) -> None:
        found = f"a document type declaration <!DOCTYPE {printable(name)}>"
        allowed = "none: it can define entities that expand without end or read other files"
        raise format_error(file, parser.CurrentLineNumber, found, allowed, "remove it")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.EntityDeclHandler = refuse_doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, str(error))
        raise format_error(file, error.lineno, f"not well-formed XML: {reason}", "XML", _cure(reason)) from None
    except (ValueError, LookupError) as error:
        found = f"the encoding cannot be read ({error})"
        raise format_error(file, None, found, "UTF-8", "save the file as UTF-8") from None
    return roots[0]


def _cure(reason: str) -> str:
    if "no element found" in reason or "unclosed" in reason:
        return "the file ends too early, it is probably cut off: get it whole again"
    if "mismatched tag" in reason:
        return "an element is closed by another one's tag, or the file is cut off"
    if "invalid token" in reason or "encoding" in reason:
        return "a character is not allowed here, or the file is not in the encoding it declares: save it as UTF-8"
    if "junk after" in reason:
        return "there is more than one root element: keep one <robot> in a file"
    return "correct the markup at this line"
