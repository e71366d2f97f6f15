"""A document as a LaTeX article."""

from __future__ import annotations

from dynamis.documents.blocks import Block, Code, Facts, Findings, Folded, Formula, Plain, Say, Table, Text, pieces

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


def render(document: Text) -> str:
    """The whole article, ready for pdflatex."""
    parts = [HEAD, rf"\title{{{_prose(document.title)}}}", r"\author{}\date{}", r"\begin{document}", r"\maketitle", ""]
    parts.append(_prose(document.abstract) + "\n")
    for section in document.sections:
        parts.append(rf"\section{{{_prose(section.title)}}}" + "\n")
        parts += [_block(block) for block in section.blocks]
    return "\n".join([*parts, r"\end{document}", ""])


def _block(block: Block) -> str:
    match block:
        case Say(text):
            return _prose(text) + "\n"
        case Formula(latex):
            return "\\begin{center}\n\\fit{" + latex + "}\n\\end{center}\n"
        case Table():
            return _table(block)
        case Facts(pairs):
            return _table(Table("", ("", ""), pairs))
        case Findings(items):
            lines = [rf"\item[{_prose(mark)}] {_prose(sentence)}" for mark, _, sentence in items]
            return "\n".join([r"\begin{description}", *lines, r"\end{description}", ""])
        case Code(source):
            return "\n\n".join(rf"\texttt{{{_prose(Plain(line))}}}" for line in source.splitlines() if line.strip()) + "\n"
        case Folded(title, inner):
            return rf"\subsection*{{{_prose(title)}}}" + "\n" + "\n".join(map(_block, inner))
    return _prose(block.summary) + "\n" if hasattr(block, "summary") else ""  # figures are not drawn


def _table(table: Table) -> str:
    columns = "l" * len(table.header)
    lines = [" & ".join(_prose(cell) for cell in row) + r" \\" for row in (table.header, *table.rows)]
    whole = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline", r"\end{tabular}"]
    return "\\begin{center}\n\\renewcommand{\\arraystretch}{1.2}\n\\fit{\\text{" + "\n".join(whole) + "}}\n\\end{center}\n"


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
