"""A document as one HTML page whose formulas are MathML: any present-day browser shows them, without network or script."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

from dynamis.symbolic.derivation.document import Block, Document, Rows, Say, Show

_BEFORE_A_SIGN = r"<mo>&#x0003D;</mo>(?:<mrow />)?|<mtd[^>]*>(?:<mi />)?|<mo[^>]*>[(&#x0028;]+</mo>|<mrow>"
STYLE = """
:root { color-scheme: light dark; }
body { font: 17px/1.6 Charter, "Iowan Old Style", Georgia, serif; max-width: 62rem; margin: 0 auto; padding: 2rem 1.5rem 6rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 1rem 0 .5rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent);
     padding-top: 1.2rem; }
h2 .n { opacity: .5; margin-right: .6rem; }
p { margin: .7rem 0; max-width: 46rem; }
.abstract { font-size: 1.08rem; opacity: .8; }
nav { columns: 2; column-gap: 3rem; font-size: .95rem; margin: 1.6rem 0; }
nav a { display: block; color: inherit; text-decoration: none; padding: .1rem 0; }
nav a:hover { text-decoration: underline; }
.formula { overflow-x: auto; padding: .55rem 0 .55rem 1.5rem; margin: .5rem 0; }
math { font-size: 1.08em; }
.formula mtd { padding: .3em .55em; }
.formula.lines mtd { padding: .2em 0; }
table.t { border-collapse: collapse; margin: 1rem 0; font-size: .95rem; }
.t th, .t td { padding: .35rem .9rem; text-align: left;
               border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
.t th { font-weight: 600; }
.wide { overflow-x: auto; }
@media print { nav { display: none; } h2 { break-after: avoid; } .formula { break-inside: avoid; } }
"""


def render(document: Document) -> str:
    """The whole page."""
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(re.sub(r"[$]", "", document.title))}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>',
        f"<h1>{prose(document.title)}</h1>",
        f'<p class="abstract">{prose(document.abstract)}</p>',
        "<nav>",
        *(f'<a href="#s{k}">{k}&ensp;{prose(s.title)}</a>' for k, s in enumerate(document.sections, 1)),
        "</nav>",
    ]
    for k, section in enumerate(document.sections, 1):
        parts.append(f'<h2 id="s{k}"><span class="n">{k}</span>{prose(section.title)}</h2>')
        parts += [_block(block) for block in section.blocks]
    return "\n".join([*parts, "</body></html>", ""])


def _block(block: Block) -> str:
    if isinstance(block, Say):
        return f"<p>{prose(block.text)}</p>"
    if isinstance(block, Show):
        kind = "formula lines" if r"\begin{aligned}" in block.latex else "formula"
        return f'<div class="{kind}">{mathml(block.latex, display=True)}</div>'
    assert isinstance(block, Rows)
    head = "".join(f"<th>{prose(cell)}</th>" for cell in block.header)
    rows = "".join("<tr>" + "".join(f"<td>{prose(cell)}</td>" for cell in row) + "</tr>" for row in block.rows)
    return f'<div class="wide"><table class="t"><tr>{head}</tr>{rows}</table></div>'


def prose(text: str) -> str:
    """Text escaped, $…$ turned into MathML."""
    pieces = re.split(r"\$([^$]*)\$", text)
    return "".join(mathml(p) if k % 2 else html.escape(p, quote=False) for k, p in enumerate(pieces))


def mathml(latex: str, *, display: bool = False) -> str:
    """A formula as MathML."""
    # the converter does not know these; what they mean is kept
    plain = re.sub(r"\\big[lr]?", "", latex)
    plain = re.sub(r"\\(sin|cos) (?=[A-Za-z\\])", r"\\\1\\,", plain)
    plain = plain.replace(r"\tfrac", r"\frac").replace(r"\mathrel{+}=", r"\mathrel{+=}").replace("{aligned}", "{split}")
    made = str(convert(plain, display="block" if display else "inline"))
    # browsers align cells by style alone, and take a minus for a difference unless told that it is a sign
    made = re.sub(r'columnalign="(left|right)"', r'style="text-align: \1"', made)
    return re.sub(rf"({_BEFORE_A_SIGN})<mo>&#x02212;</mo>", r'\1<mo form="prefix">&#x02212;</mo>', made)
