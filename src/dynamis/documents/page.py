"""A document as a self-contained HTML page, with formulas typeset by an embedded KaTeX."""

from __future__ import annotations

from typing import Any

from dynamis import typesetting
from dynamis.display import scroll_shadow
from dynamis.documents.blocks import HeatMap, Player, Plot, Text, pieces
from dynamis.documents.html_blocks import Blocks, escaped, prose

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
.formula .katex-display { margin: 0; } .formula .katex-display > .katex { text-align: left; }
.katex { font-size: 1.1em; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .95rem; }
th, td { padding: .35rem .9rem; text-align: left; border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
th { font-weight: 600; } tbody th { font-weight: inherit; }
.wide { overflow-x: auto; }
@page { size: A4; margin: 12mm 15mm; }
@media print {
  :root { color-scheme: light; }
  body { font-size: 9.5pt; line-height: 1.32; max-width: none; padding: 0; }
  nav { display: none; }
  h1 { font-size: 16pt; margin: 0 0 .3rem; } .abstract { font-size: 9.5pt; }
  h2 { font-size: 11.5pt; margin: .7rem 0 .2rem; padding-top: .4rem; break-after: avoid; }
  p { max-width: none; margin: .3rem 0; orphans: 2; widows: 2; }
  /* short formulas stand side by side */
  .formula { display: inline-block; vertical-align: middle; overflow: visible; padding: .12rem 1.2rem .12rem 1rem;
             margin: .1rem 0; max-width: 100%; break-inside: avoid; }
  .katex { font-size: 1.04em; }
  /* a formula is at most as wide as the page */
  .formula .katex { font-size: min(1.04em, calc(163mm / var(--width, 1))); }
  table { margin: .4rem 0; font-size: 9pt; } th, td { padding: .1rem .6rem; } tr { break-inside: avoid; }
}
"""


def render(document: Text) -> str:
    """The whole page."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{typesetting.POLICY}">',
        f"<title>{escaped(''.join(part for _, part in pieces(document.title)))}</title>",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{typesetting.katex_style()}{STYLE}{scroll_shadow('.formula, .wide', 'Canvas')}</style></head><body>",
        f"<h1>{prose(document.title)}</h1>",
        f'<p class="abstract">{prose(document.abstract)}</p>',
        "<nav>",
        *(f'<a href="#s{k}">{k}&ensp;{prose(s.title)}</a>' for k, s in enumerate(document.sections, 1)),
        "</nav>",
    ]
    for k, section in enumerate(document.sections, 1):
        parts.append(f'<h2 id="s{k}"><span class="n">{k}</span>{prose(section.title)}</h2>')
        parts += _Article().blocks(section.blocks)
    return "\n".join([*parts, typesetting.katex_scripts(), "</body></html>", ""])


class _Article(Blocks):
    """Blocks of a page without the scripts that draw figures: their captions stand for them."""

    def figure(self, block: Plot | HeatMap | Player) -> str:
        return f"<p>{self.prose(block.summary)}</p>"

    def robot(self, scene: dict[str, Any]) -> str:  # noqa: ARG002 - as that of the report
        return ""
