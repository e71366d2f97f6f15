"""A report as one HTML page: self-contained, in light and dark colours, usable by keyboard and touch, printable."""

from __future__ import annotations

from collections.abc import Sequence

from dynamis.documents import bundle
from dynamis.documents.blocks import Player, Robot3D, Section
from dynamis.documents.html_blocks import Blocks, escaped
from dynamis.typesetting import POLICY
from dynamis.version import __version__


def render(name: str, subtitle: str, contents: Sequence[Section], footer: str) -> str:
    """The whole page: its name, a line below it, sections, and a sentence at the end."""
    page = Blocks()
    sections = [page.section(section) for section in contents]
    failed = {section.key for section in contents if section.failed}
    items = "".join(
        f'<li><a href="#{s.key}"{" data-failed" if s.key in failed else ""}>{escaped(s.title)}</a></li>' for s in contents
    )
    return _document(
        f"{name}: report",
        page,
        '<body><a class="skip" href="#content">Skip to the content</a><div class="page">',
        f"<header><div><h1>{escaped(name)}</h1><p>{escaped(subtitle)} · report by Dynamis {__version__}</p></div>",
        '<button type="button" id="theme" hidden>Theme</button></header>',
        f'<nav aria-label="Sections"><ol>{items}</ol></nav><main id="content">',
        *sections,
        f"</main><footer><p>{escaped(footer)}</p></footer></div>",
    )


def render_view(name: str, block: Robot3D | Player) -> str:
    """A page with nothing but one view, which fills it."""
    page = Blocks()
    body = page.view(block)
    return _document(
        name,
        page,
        '<body class="bare"><main>',
        body,
        '</main><button type="button" id="theme" hidden>Theme</button>',
    )


def _document(title: str, page: Blocks, *body: str) -> str:
    """A page around its body, with the data, styles and modules that its components need."""
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escaped(title)}</title><style>{bundle.style(page.components)}</style></head>",
        *body,
        *(
            f'<script type="application/json" id="data-{key}">{bundle.json_for_page(x)}</script>'
            for key, x in page.data.items()
        ),
        f'<script type="importmap">{bundle.import_map(page.components)}</script>',
        f'<script type="module">{bundle.main_module()}</script></body></html>',
    ]
    return "\n".join(parts) + "\n"
