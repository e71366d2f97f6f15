"""Rendering of a report as one HTML page: offline, light and dark, accessible and printable."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

from dynamis.display import scroll_shadow
from dynamis.documents.blocks import Table
from dynamis.files.atomic_write import write_file
from dynamis.identification.validation.report_contents import ReportContents, ReportFigure, Section
from dynamis.identification.validation.verdict import GRADES, Verdict

SEVERITY = ("ok", "doubt", "defect", "fatal")
NUMBER = re.compile(r"[-−+±]?(\d[\d.,  ]*(e[-+−]?\d+)?|inf|nan|∞)\s*[%×]?|–|")
LONG = 60  # characters beyond which a cell may wrap
SHADOW = scroll_shadow(".wide, figure", "var(--page)")
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
        f'<style>{STYLE}{SHADOW}</style></head><body><a class="skip" href="#verdict">Skip to the verdict</a>',
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


STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #22303c; --quiet: #5a6874; --grid: #e3e7eb; --faint: #d7dde3;
  --card: #f5f7f9; --motion: #2b5c8a; --force: #b5402f; --structure: #7a7a7a; --good: #2f7440; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --page: #14181c; --ink: #e4e9ed; --quiet: #9fabb5; --grid: #2a3138;
  --faint: #323b44; --card: #1c2228; --motion: #6fb1ea; --force: #f0806c;
  --structure: #a0a6ab; --good: #76c58a; --warn: #e6b450; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 Charter, "Iowan Old Style", Georgia, serif; color: var(--ink); background: var(--page);
  max-width: 74rem; margin: 0 auto; padding: 2rem 1.5rem 5rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: .5rem 0 .2rem; }
h2 { font-size: 1.35rem; margin: 2.8rem 0 .6rem; border-top: 1px solid var(--grid); padding-top: 1.3rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, li { max-width: 52rem; margin: .5rem 0; }
a { color: var(--motion); }
:focus-visible { outline: 3px solid var(--motion); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; }
.subtitle, .note, figcaption { color: var(--quiet); }
nav { columns: 3 14rem; column-gap: 2.5rem; font-size: .95rem; margin: 1.4rem 0; }
nav a { display: block; text-decoration: none; padding: .12rem 0; } nav a:hover { text-decoration: underline; }
.verdict { background: var(--card); border-left: .5rem solid var(--tone); border-radius: .3rem;
  padding: 1rem 1.4rem; margin: 1.4rem 0; }
.verdict h2 { border: 0; padding: 0; margin: 0 0 .4rem; font-size: 1.5rem; color: var(--tone); }
.verdict ul { padding: 0; margin: 0; list-style: none; }
.verdict li { padding-left: 6.2rem; position: relative; max-width: 60rem; }
.verdict li b { position: absolute; left: 0; font: 600 .78rem/2 system-ui, sans-serif; color: var(--own); }
.s0 { --tone: var(--good); --own: var(--good); } .s1 { --tone: var(--warn); --own: var(--warn); }
.s2, .s3 { --tone: var(--force); --own: var(--force); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .8rem;
  margin: 1.2rem 0; padding: 0; }
.facts div { background: var(--card); border-radius: .3rem; padding: .6rem .9rem; }
.facts dt { color: var(--quiet); font-size: .85rem; } .facts dd { margin: 0; font-size: 1.25rem; }
.wide { overflow-x: auto; margin: .6rem 0 1rem; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .28rem .5rem; text-align: left; border-bottom: 1px solid var(--grid); vertical-align: top;
  white-space: nowrap; }
td:last-child { white-space: normal; }
td.long { white-space: normal; min-width: 18rem; max-width: 44rem; overflow-wrap: anywhere; }
thead th { white-space: normal; font-weight: 600; color: var(--quiet); position: sticky; top: 0; background: var(--page); }
tbody th { font-weight: 400; } .number { text-align: right; }
tbody tr:hover { background: var(--card); }
.flag { display: inline-block; border: 1px solid currentColor; border-radius: .7rem; padding: 0 .5rem;
  font-size: .78rem; color: var(--warn); }
figure { margin: 1.2rem 0 1.8rem; overflow-x: auto; }
figure svg { width: 100%; min-width: 44rem; height: auto; max-height: 62rem; } figcaption { position: sticky; left: 0; }
/* narrower than the smallest figure */
@media screen and (max-width: 47rem) { figure::before { content: "Scroll sideways for the whole figure →"; display: block;
  position: sticky; left: 0; width: max-content; color: var(--motion); font-size: .8rem; } }
figure h3 { position: sticky; left: 0; width: max-content; max-width: 100%; }
svg text { fill: var(--ink); font-family: "DejaVu Sans", Verdana, sans-serif !important; }
details { margin: .8rem 0; } summary { cursor: pointer; font-weight: 600; }
pre { background: var(--card); padding: .8rem 1rem; border-radius: .3rem; overflow-x: auto; font-size: .85rem; }
dl.glossary dt { font-weight: 600; margin-top: .7rem; } dl.glossary dd { margin: 0; max-width: 52rem; }
@media print { :root { --page: #ffffff; --ink: #000000; --quiet: #444444; --grid: #cccccc; --card: #ffffff; }
  body { font-size: 10pt; max-width: none; padding: 0; } nav, .skip { display: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
  figure svg { min-width: 0; }
  h2, h3, caption { break-after: avoid; } figure, tr, .verdict { break-inside: avoid; } .wide { overflow: visible; }
  th, td { padding: .15rem .4rem; white-space: normal; } thead { display: table-header-group; } thead th { position: static; } }
"""
