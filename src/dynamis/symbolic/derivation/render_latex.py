"""A document as a LaTeX article."""

from __future__ import annotations

from dynamis.symbolic.derivation.document import Block, Document, Rows, Say, Show, pieces

HEAD = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb}
\usepackage[margin=22mm]{geometry}
\usepackage{graphicx}
\usepackage[hidelinks]{hyperref}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\setcounter{MaxMatrixCols}{60}
% a formula as wide as the page at most
\newsavebox{\formula}
\newcommand{\fit}[1]{\savebox{\formula}{$\displaystyle #1$}%
  \ifdim\wd\formula>\linewidth\resizebox{\linewidth}{!}{\usebox{\formula}}\else\usebox{\formula}\fi}
"""


def render(document: Document) -> str:
    """The whole article, ready for pdflatex."""
    parts = [HEAD, rf"\title{{{_prose(document.title)}}}", r"\author{}\date{}", r"\begin{document}", r"\maketitle", ""]
    parts.append(_prose(document.abstract) + "\n")
    for section in document.sections:
        parts.append(rf"\section{{{_prose(section.title)}}}" + "\n")
        parts += [_block(block) for block in section.blocks]
    return "\n".join([*parts, r"\end{document}", ""])


def _block(block: Block) -> str:
    if isinstance(block, Say):
        return _prose(block.text) + "\n"
    if isinstance(block, Show):
        return "\\begin{center}\n\\fit{" + block.latex + "}\n\\end{center}\n"
    assert isinstance(block, Rows)
    columns = "l" * len(block.header)
    lines = [" & ".join(_prose(cell) for cell in row) + r" \\" for row in (block.header, *block.rows)]
    table = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline", r"\end{tabular}"]
    return "\\begin{center}\n\\renewcommand{\\arraystretch}{1.2}\n\\fit{\\text{" + "\n".join(table) + "}}\n\\end{center}\n"


_SIGNS = {
    "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "$": r"\$", "–": "--", "−": "$-$", "τ": r"$\tau$", "·": r"$\cdot$",
    "×": r"$\times$", "…": r"\ldots{}", "’": "'", "°": r"$^\circ$", "²": r"$^2$",
}  # fmt: skip


def _prose(text: str) -> str:
    """Text outside $…$ escaped, mathematics left as it is."""
    return "".join(f"${part}$" if mathematics else "".join(map(_letter, part)) for mathematics, part in pieces(text))


def _letter(c: str) -> str:
    if c in _SIGNS:
        return _SIGNS[c]
    # what this encoding of fonts cannot print is named rather than lost
    return c if ord(c) < 0x180 else rf"\texttt{{U+{ord(c):04X}}}"
