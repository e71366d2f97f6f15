"""KaTeX, with its fonts inside, for pages that typeset formulas without a network.

Formulas stand in a page as escaped LaTeX in elements of class ``math`` (and ``display``); the script replaces them.
"""

from __future__ import annotations

import functools
from pathlib import Path
from urllib.parse import quote

MODULE, STYLE = "katex/katex.esm.min.js", "katex/katex.inline.min.css"
# nothing is fetched, whatever a name from a file contains; the modules of a page are data: addresses
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "base-uri 'none'; form-action 'none'"
)
# all that would end or alter a data: address is written as %XX; quotation marks are the business of JSON
PLAIN = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_SCRIPT = """import katex from "katex";
for (const node of document.querySelectorAll(".math")) {
  const options = { displayMode: node.classList.contains("display"), throwOnError: false, strict: "ignore", trust: false };
  katex.render(node.textContent, node, options);
  // how many times as wide as its letters are high: a style sheet can fit it to the page by that
  const drawn = node.querySelector(".katex");
  if (drawn === null) continue;
  const box = drawn.querySelector(".katex-html");
  box.style.display = "inline-block";
  const width = box.getBoundingClientRect().width;
  box.style.display = "";
  node.style.setProperty("--width", (width / parseFloat(getComputedStyle(drawn).fontSize)).toFixed(3));
}"""


@functools.cache
def katex_module() -> str:
    """The KaTeX library, an ECMAScript module."""
    return (Path(__file__).parent / MODULE).read_text(encoding="utf-8")


@functools.cache
def katex_style() -> str:
    """The style sheet of KaTeX, with its fonts as data: addresses."""
    return (Path(__file__).parent / STYLE).read_text(encoding="utf-8")


def module_address(text: str) -> str:
    """A module as a data: address that an import map can hold."""
    return "data:text/javascript;charset=utf-8," + quote(text, safe=PLAIN)


@functools.cache
def katex_scripts() -> str:
    """The script elements that typeset a page when it is opened."""
    import json

    imports = json.dumps({"imports": {"katex": module_address(katex_module())}}).replace("<", "\\u003c")
    return f'<script type="importmap">{imports}</script>\n<script type="module">{_SCRIPT}</script>'
