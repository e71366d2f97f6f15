"""Rendering of a report as one HTML page: offline, light and dark, accessible and printable."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

from dynamis.files.atomic_write import write_file
from dynamis.identification.validation.report_contents import ReportContents, ReportFigure, Section, Table
from dynamis.identification.validation.report_style import STYLE
from dynamis.identification.validation.verdict import GRADES, Verdict

SEVERITY = ("ok", "doubt", "defect", "fatal")
NUMBER = re.compile(r"[-−+±]?(\d[\d.,  ]*(e[-+−]?\d+)?|inf|nan|∞)\s*[%×]?|–|")
LONG = 60  # characters beyond which a cell may wrap
# no requests and no scripts, whatever names in files contain
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_report(contents: ReportContents, path: str | os.PathLike[str]) -> Path:
    """Write the report as one self-contained HTML file, and return its path."""
    return write_file(Path(path), render(contents).encode())


def render(contents: ReportContents) -> str:
    """Return the whole page. All text is escaped; only the figures' SVG is inserted as is."""
    sections = [*contents.sections]
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f'<title>{_text(contents.title)}</title><meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<style>{STYLE}</style></head><body><a class="skip" href="#verdict">Skip to the verdict</a>',
        f'<header><h1>{_text(contents.title)}</h1><p class="subtitle">{_text(contents.subtitle)}</p></header><main>',
        _verdict(contents.verdict),
        _facts(contents),
        '<nav aria-label="Contents">',
        *(f'<a href="#s{k}">{_text(section.title)}</a>' for k, section in enumerate(sections, 1)),
        '<a href="#glossary">Glossary</a>' if contents.glossary else "",
        "</nav>",
        _notes(contents),
        *(_section(k, section) for k, section in enumerate(sections, 1)),
        _glossary(contents),
        "</main></body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _text(value: object) -> str:
    """Return escaped text without control characters, which HTML does not allow."""
    return html.escape("".join(c if c.isprintable() or c in "\n\t" else "�" for c in str(value)), quote=True)


def _verdict(verdict: Verdict) -> str:
    worst = GRADES.index(verdict.grade)
    findings = sorted(verdict.findings, key=lambda f: -f.severity)
    tags = ["noted" if f.topic == "coloured" and not f.severity else SEVERITY[f.severity] for f in findings]
    items = "".join(
        f'<li class="s{f.severity}"><b>{tag}</b>{_text(f.sentence)}</li>' for tag, f in zip(tags, findings, strict=True)
    )
    grade = verdict.grade[:1].upper() + verdict.grade[1:]
    return f'<section class="verdict s{worst}" id="verdict"><h2>Verdict: {grade}</h2><ul>{items}</ul></section>'


def _facts(contents: ReportContents) -> str:
    if not contents.facts:
        return ""
    return (
        '<dl class="facts">'
        + "".join(f"<div><dt>{_text(a)}</dt><dd>{_text(b)}</dd></div>" for a, b in contents.facts)
        + "</dl>"
    )


def _notes(contents: ReportContents) -> str:
    if not contents.notes:
        return ""
    return "<h2>Notes on the data</h2><ul>" + "".join(f"<li>{_text(note)}</li>" for note in contents.notes) + "</ul>"


def _section(number: int, section: Section) -> str:
    body = [f"<p>{_text(sentence)}</p>" for sentence in section.sentences]
    tables = [_table(table) for table in section.tables]
    if section.folded and tables:
        count = sum(len(table.rows) for table in section.tables)
        tables = [f"<details><summary>Show {count} rows</summary>", *tables, "</details>"]
    body += tables
    body += [_figure(figure) for figure in section.figures]
    if section.code:
        body.append(f'<pre tabindex="0"><code>{_text(section.code)}</code></pre>')
    return (
        f'<section aria-labelledby="s{number}"><h2 id="s{number}">{_text(section.title)}</h2>' + "\n".join(body) + "</section>"
    )


def _table(table: Table) -> str:
    columns = list(zip(*table.rows, strict=True)) if table.rows else [()] * len(table.header)
    numeric = [bool(cells) and all(NUMBER.fullmatch(str(cell)) for cell in cells) for cells in columns]
    long = [any(len(str(cell)) > LONG for cell in cells) for cells in columns]
    flags = [name.lower() == "flags" for name in table.header]
    head = "".join(
        f'<th scope="col"{" class=number" if number else ""}>{_text(name)}</th>'
        for name, number in zip(table.header, numeric, strict=True)
    )
    rows = []
    for row in table.rows:
        cells = []
        for k, cell in enumerate(row):
            kind = ' class="number"' if numeric[k] else ' class="long"' if long[k] else ""
            tag, scope = ("th", ' scope="row"') if k == 0 else ("td", "")
            cells.append(f"<{tag}{scope}{kind}>{_flags(cell) if flags[k] else _text(cell)}</{tag}>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    note = f'<p class="note">{_text(table.note)}</p>' if table.note else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{_text(table.title)}"><table>'
        f"<caption>{_text(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _flags(cell: str) -> str:
    return " ".join(f'<span class="flag">{_text(flag.strip())}</span>' for flag in cell.split(";") if flag.strip())


def _figure(figure: ReportFigure) -> str:
    return f"<figure><h3>{_text(figure.title)}</h3>{figure.svg}<figcaption>{_text(figure.alt)}</figcaption></figure>"


def _glossary(contents: ReportContents) -> str:
    if not contents.glossary:
        return ""
    entries = "".join(f"<dt>{_text(word)}</dt><dd>{_text(meaning)}</dd>" for word, meaning in contents.glossary)
    return f'<h2 id="glossary">Glossary</h2><dl class="glossary">{entries}</dl>'
