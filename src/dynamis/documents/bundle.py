"""The page's modules and the libraries they use in one file: an import map of ``data:`` addresses.

Modules name each other by the names of the map ("dynamis/plot", "uplot"), so that a page that is served can map the same names
to files.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from pathlib import Path

from dynamis import typesetting

HERE = Path(__file__).parent
VENDOR = {
    "three": "three/three.module.min.js",
    "three/OrbitControls": "three/OrbitControls.min.js",
    "uplot": "uplot/uplot.esm.min.js",
}
LIBRARIES = (*VENDOR, "katex")
# what a component of the page needs of the page's own modules and of the libraries
NEEDS = {
    "robot": ("sliders", "player", "dock", "view3d", "robot_parts", "kinematics", "elements", "three", "three/OrbitControls"),
    "plot": ("plot", "elements", "uplot"),
    "heatmap": ("heatmap", "elements"),
    "math": ("equation", "katex"),
}


def import_map(components: Iterable[str]) -> str:
    """The import map for these components, as JSON that can stand in a script element."""
    names = sorted({"elements", "navigation", "theme", *(name for component in components for name in NEEDS[component])})
    imports = {name if name in LIBRARIES else f"dynamis/{name}": _address(name) for name in names}
    return json_for_page({"imports": imports})


def style(components: Iterable[str]) -> str:
    """The style sheets for these components; the page's own comes last."""
    styles = {"katex": typesetting.katex_style(), "uplot": _read("vendor/uplot/uplot.min.css")}
    used = [sheet for name, sheet in styles.items() if any(name in NEEDS[component] for component in components)]
    return "\n".join([*used, _read("assets/style.css")])


def main_module() -> str:
    """The module that starts the page."""
    return _read("assets/main.js").replace("</", "<\\/")


def json_for_page(value: object) -> str:
    """JSON that can stand inside a script element, whatever texts are in it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


@functools.cache
def _address(name: str) -> str:
    if name == "katex":
        return typesetting.module_address(typesetting.katex_module())
    return typesetting.module_address(_read(f"vendor/{VENDOR[name]}" if name in VENDOR else f"assets/{name}.js"))


@functools.cache
def _read(path: str) -> str:
    return (HERE / path).read_text(encoding="utf-8")
