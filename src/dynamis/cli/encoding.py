"""Output streams whose encoding lacks characters: each such character is written in readable ASCII instead."""

from __future__ import annotations

import codecs
import sys
import unicodedata

HANDLER = "dynamis-ascii"
# what decomposition does not give
ASCII_REPLACEMENTS = {
    "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "…": "...", "·": "*", "•": "*", "×": "x", "÷": "/", "±": "+/-",
    "∓": "-/+",
    "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "≡": "==", "∝": "~", "→": "->", "←": "<-", "↔": "<->", "⇒": "=>", "▶": ">",
    "◀": "<", "√": "sqrt", "∞": "inf", "∂": "d", "∇": "grad ", "∫": "int ", "∑": "sum ", "∏": "prod ", "∈": " in ", "°": "deg",
    "½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "µ": "u", "μ": "mu", "‘": "'", "’": "'", "“": '"', "”": '"', "′": "'",
    "″": "''", "⊤": "^T", "ᵀ": "^T", "†": "+", "‖": "||", "⟨": "<", "⟩": ">", "∘": " o ", "✓": "ok", "✗": "x", "ı": "i",
    "ß": "ss", "∧": "^", "⊗": "(x)", "�": "?",
}  # fmt: skip
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
MARKS = {"̂": "_hat", "̃": "_tilde", "̄": "_bar", "̇": "_dot", "̈": "_ddot", "⃗": "_vec"}  # over the letter before
BOXES = (0x2500, 0x259F)  # box drawing and block elements


def install_ascii_fallback() -> None:
    """Let standard output and error write what they cannot encode in ASCII, instead of ending with UnicodeEncodeError."""
    codecs.register_error(HANDLER, _replace)
    codecs.register(_codec)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        # click takes ASCII for a misconfigured stream and writes UTF-8 to it; under another name it does not
        plain = codecs.lookup(stream.encoding).name == "ascii"
        reconfigure(errors=HANDLER, **({"encoding": HANDLER} if plain else {}))


def _codec(name: str) -> codecs.CodecInfo | None:
    if name != HANDLER.replace("-", "_"):
        return None
    base = codecs.lookup("ascii")
    return codecs.CodecInfo(
        base.encode, base.decode, base.streamreader, base.streamwriter, base.incrementalencoder, base.incrementaldecoder,
        name=HANDLER,
    )  # fmt: skip


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(ascii_of, error.object[error.start : error.end])), error.end


def ascii_of(character: str) -> str:
    """A readable ASCII form of one character: τ is tau, ² is ^2, é is e; an unknown one is its escape."""
    if character in ASCII_REPLACEMENTS:
        return ASCII_REPLACEMENTS[character]
    if character in SUPERSCRIPTS:
        return f"^{SUPERSCRIPTS[character]}"
    if character in MARKS:
        return MARKS[character]
    if BOXES[0] <= ord(character) <= BOXES[1]:
        return "|" if character in "│┃║" else "-" if character in "─━═╴╶╸╺" else "+" if ord(character) < 0x2580 else "#"
    name = unicodedata.name(character, "")
    if name.startswith("GREEK "):
        return _greek(name)
    if unicodedata.category(character) == "Zs":
        return " "
    parts = unicodedata.normalize("NFKD", character)
    if parts != character:
        return "".join(part if part.isascii() else ascii_of(part) for part in parts if not unicodedata.combining(part))
    return "" if unicodedata.combining(character) else character.encode("unicode_escape", "backslashreplace").decode("ascii")


def _greek(name: str) -> str:
    """GREEK SMALL LETTER TAU is tau, GREEK CAPITAL LETTER LAMDA is Lambda."""
    words = name.partition(" WITH ")[0].split()
    letter = {"LAMDA": "LAMBDA", "FINAL": "SIGMA"}.get(words[-1], words[-1])
    return letter.capitalize() if "CAPITAL" in words else letter.lower()
