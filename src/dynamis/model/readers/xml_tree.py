"""XML as a plain tree with line numbers, and without anything that could make a file dangerous.

A document type declaration is refused, so there are no entities to expand and nothing external to fetch; size, depth
and number of elements are bounded. The document keeps its bytes, so that the place of each value is known: for the line
of a message, and for edits that leave everything else as it was.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from xml.parsers import expat

from dynamis.errors import FormatError, printable
from dynamis.model.diagnostics import format_error

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 64
MAX_ELEMENTS = 200_000

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLANKS = b" \t\r\n"
_TAG_NAME = re.compile(rb"<[^\s/>]+")
_ATTRIBUTE = re.compile(rb"""\s+([^\s=>]+)\s*=\s*("[^"]*"|'[^']*')""")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class Line(int):
    """A line of a file other than the one that is read: of a file it includes."""

    file: str

    def __new__(cls, number: int, file: str) -> Line:
        made = super().__new__(cls, number)
        made.file = file
        return made

    def __reduce__(self) -> tuple[type[Line], tuple[int, str]]:
        return Line, (int(self), self.file)


@dataclass(slots=True)
class Element:
    """``start`` is the place of its ``<`` in the document, ``end`` that of its closing tag (its own place if it has none)."""

    tag: str
    attributes: dict[str, str]
    line: int
    start: int = 0
    end: int = 0
    children: list[Element] = field(default_factory=list)
    text: str = ""  # what stands between its tags, where the parser was asked for it

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]


@dataclass
class Document:
    """``data`` are the bytes that places refer to: those of the file, but UTF-8 where the file is UTF-16.

    ``blanks`` says that there is white space before the XML declaration, which other XML parsers refuse.
    """

    root: Element
    data: bytes
    blanks: bool

    def line(self, element: Element, key: str | None = None) -> int:
        """The line of an attribute's value, or of the element where it has no such attribute."""
        head = self.data.find(b">", element.start)
        if key is None or not _LINE_END.search(self.data, element.start, head):
            return element.line
        place = self.places(element).get(key)
        return element.line + (len(_LINE_END.findall(self.data, element.start, place[0])) if place is not None else 0)

    def places(self, element: Element) -> dict[str, tuple[int, int]]:
        """Where the value of each attribute begins and ends, between its quotes."""
        name = _TAG_NAME.match(self.data, element.start)
        found: dict[str, tuple[int, int]] = {}
        at = name.end() if name else element.start
        while attribute := _ATTRIBUTE.match(self.data, at):
            found[attribute[1].decode("utf-8", "replace")] = (attribute.start(2) + 1, attribute.end(2) - 1)
            at = attribute.end()
        return found

    def head_end(self, element: Element) -> int:
        """Where the last attribute of an element ends (its tag's name, if it has none)."""
        places = self.places(element)
        name = _TAG_NAME.match(self.data, element.start)
        return max(end for _, end in places.values()) + 1 if places else name.end() if name else element.start


def name_lines(element: Element, file: str) -> None:
    """Let the lines of an element and its descendants name their file."""
    element.line = Line(element.line, file)
    for child in element.children:
        name_lines(child, file)


class Made(Document):
    """A tree that was computed: its elements have lines, but no places in the bytes."""

    def __init__(self, root: Element) -> None:
        super().__init__(root, b"", False)

    def line(self, element: Element, _key: str | None = None) -> int:
        return element.line

    def places(self, _element: Element) -> dict[str, tuple[int, int]]:
        return {}


def parse_xml(
    data: bytes, file: str, encoding: str | None = None, *, text: bool = False, max_depth: int = MAX_DEPTH
) -> Document:
    """The document in these bytes; ``encoding`` overrules the one it declares. ``text`` keeps the text of elements."""
    if len(data) > MAX_BYTES:
        found = f"the file has more than {MAX_BYTES} bytes"
        raise format_error(file, None, found, f"at most {MAX_BYTES}", "give a robot's file")
    if not data.strip(_BLANKS + b"\0"):
        raise format_error(file, 1, "the file is empty", "a robot", "write a robot into it, or give another file")
    if data.startswith(_UTF_16) and encoding is None:
        data, encoding = _transcoded(data, file), "utf-8"
    begin = len(data) - len(data.lstrip(_BLANKS))
    skipped = begin if data[begin : begin + 5] == b"<?xml" else 0
    return Document(_Parser(data, skipped, file, encoding, text, max_depth).root(), data, skipped > 0)


def _transcoded(data: bytes, file: str) -> bytes:
    try:
        return data.decode("utf-16").encode()
    except UnicodeDecodeError as error:
        found = f"it begins as UTF-16, but byte {error.start} is not"
        raise format_error(file, None, found, "UTF-8 or UTF-16", "save the file as UTF-8") from None


class _Parser:
    """One run of expat over ``data``, of which the first ``skipped`` bytes are white space."""

    def __init__(self, data: bytes, skipped: int, file: str, encoding: str | None, text: bool, max_depth: int) -> None:
        self.data, self.skipped, self.file, self.max_depth = data, skipped, file, max_depth
        self.lines_before = len(_LINE_END.findall(data, 0, skipped))
        self.expat = expat.ParserCreate(encoding)
        self.expat.StartElementHandler = self.begin
        self.expat.EndElementHandler = self.finish
        self.expat.StartDoctypeDeclHandler = self.refuse_doctype
        self.expat.EntityDeclHandler = self.refuse_doctype
        if text:
            self.expat.buffer_text = True
            self.expat.CharacterDataHandler = self.characters
        self.stack: list[Element] = []
        self.roots: list[Element] = []
        self.count = 0

    def root(self) -> Element:
        try:
            self.expat.Parse(self.data[self.skipped :], True)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, str(error))
            raise _not_well_formed(self.data, self.file, error.lineno + self.lines_before, reason) from None
        except (ValueError, LookupError) as error:
            found = f"the encoding cannot be read ({error})"
            raise format_error(self.file, 1, found, "UTF-8", "save the file as UTF-8") from None
        return self.roots[0]

    @property
    def line(self) -> int:
        return self.expat.CurrentLineNumber + self.lines_before

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.stack) >= self.max_depth:
            found, allowed = "elements are nested too deep", f"{self.max_depth} levels"
            raise format_error(self.file, self.line, found, allowed, "give a robot's file")
        if self.count > MAX_ELEMENTS:
            found = f"there are more than {MAX_ELEMENTS} elements"
            raise format_error(self.file, self.line, found, "fewer", "give a robot's file")
        place = self.expat.CurrentByteIndex + self.skipped
        element = Element(tag, attributes, self.line, place, place)
        (self.stack[-1].children if self.stack else self.roots).append(element)
        self.stack.append(element)

    def characters(self, text: str) -> None:
        self.stack[-1].text += text

    def finish(self, _tag: str) -> None:
        self.stack.pop().end = self.expat.CurrentByteIndex + self.skipped

    def refuse_doctype(self, name: str, *_: object) -> None:
        found = f"a document type declaration <!DOCTYPE {printable(name)}>"
        allowed = "none: it can define entities that expand without end or read other files"
        raise format_error(self.file, self.line, found, allowed, "remove it")


def _not_well_formed(data: bytes, file: str, line: int, reason: str) -> FormatError:
    """The error for bytes expat refuses, with the cause where the bytes show it."""
    declaration = data.find(b"<?xml")
    before = data[: max(declaration, 0)].removeprefix(codecs.BOM_UTF8).strip(_BLANKS)
    if before and b"<" not in before:
        text = printable(before.decode("utf-8", "replace"), 40)
        return format_error(file, 1, f"there is text before <?xml: {text}", "<?xml at the beginning", "remove that text")
    if b"<" not in data and b"\0" not in data:
        text = printable(data.strip(_BLANKS)[:40].decode("utf-8", "replace"))
        return format_error(file, 1, f"the file contains no element, only text: {text}", "XML", "get the file again")
    if b"\0" in data:
        place = data.index(b"\0")
        if data.count(b"\0") > len(data) // 3:
            found = "every other byte is NUL: the text seems to be UTF-16 or UTF-32 without a byte order mark"
            return format_error(file, 1, found, "UTF-8", "save the file as UTF-8")
        found = f"byte {place} is NUL (0x00), which text does not contain"
        cure = "remove the byte; if there are many, the file is damaged or not UTF-8: get it again and save it as UTF-8"
        return format_error(file, len(_LINE_END.findall(data, 0, place)) + 1, found, "XML text", cure)
    return format_error(file, line, f"not well-formed XML: {reason}", "XML", _cure(reason))


def _cure(reason: str) -> str:
    if "no element found" in reason or "unclosed" in reason:
        return "the file ends too early, it is probably truncated: obtain a complete copy"
    if "mismatched tag" in reason:
        return "an element is closed by another one's tag, or the file is cut off"
    if "invalid token" in reason or "encoding" in reason:
        return "a character is not allowed here, or the file is not in the encoding it declares: save it as UTF-8"
    if "junk after" in reason:
        return "there is more than one root element: keep one <robot> in a file"
    return "correct the markup at this line"
