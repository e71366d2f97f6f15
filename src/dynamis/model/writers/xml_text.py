"""Names and numbers as text of an XML document."""

from __future__ import annotations

import re
from typing import Any

from dynamis.errors import ConversionError, printable

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_EXPRESSION = re.compile(r"\$(?=[{(])")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


def escaped(value: str) -> str:
    """A name as the value of an attribute. What looks like a xacro expression is written so that it is none."""
    if _FORBIDDEN.search(value):
        raise ConversionError(f"the name {printable(value)} has a character XML cannot hold; rename it")
    text = "".join(_ESCAPES.get(character, character) for character in value)
    return _EXPRESSION.sub("&#36;", text)


def number_text(value: Any) -> str:
    """A number with all its digits, and no more."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text
