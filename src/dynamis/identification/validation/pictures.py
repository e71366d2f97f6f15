"""The figures of a report, each with a text description."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.documents.blocks import Picture
from dynamis.documents.page import escaped
from dynamis.drawing import FAINT, FORCE, GOOD, INK, MOTION, STRUCTURE, Panels
from dynamis.identification.validation.held_out import Validation
from dynamis.identification.validation.plots import (
    JOINTS,
    plot_excitation,
    plot_friction,
    plot_parameters,
    plot_residuals,
    plot_torques,
    plot_validation,
)
from dynamis.identification.validation.statistics import Statistics

if TYPE_CHECKING:
    from dynamis.identification.equations import Equations


def pictures(s: Statistics, rows: Equations, prior: Any, validation: Validation | None, held: Any = None) -> dict[str, Picture]:
    """Return the figures by name, as far as the data allow."""
    worst = max(s.joints, key=lambda j: j.percent)
    outside = int(np.sum((s.interval[:, 0] > prior) | (s.interval[:, 1] < prior)))
    drawn: dict[str, tuple[str, str, Any]] = {
        "residuals": (
            "Distribution and autocorrelation of the residuals",
            f"Histograms of the residuals with the normal density, and their autocorrelation; {_coloured(s)} of "
            f"{len(s.joints)} joints exceed the band of white noise.",
            plot_residuals(s, rows),
        ),
        "friction": (
            "Friction against velocity",
            "For each joint the friction of the model over the velocity, and dots with the residual added. At v = 0 Coulomb "
            "friction changes sign; the line is a ramp there, not a step, where the friction terms are low-pass filtered like "
            "the measured torques (its value then depends on earlier velocities too), or where the model replaces sign(v) by "
            "tanh(v / v₀) (option smooth).",
            plot_friction(rows, s.coef),
        ),
        "parameters": (
            "Estimates and intervals with the prior model",
            f"Each base parameter with its interval, divided by the larger of estimate and prior; for {outside} of "
            f"{len(s.names)} the prior is outside, and {len(s.uncertain)} intervals contain zero.",
            plot_parameters(s, prior),
        ),
        "excitation": (
            "Excitation",
            f"Singular values of the scaled equations (condition number {s.excitation.scaled_condition:.3g}), and the weakest "
            f"parameters; {len(s.excitation.weak)} are nearly collinear with others.",
            plot_excitation(s.excitation),
        ),
    }
    told = rows.X @ s.coef
    if validation is not None and len(validation.predicted) == len(rows) and np.isfinite(validation.predicted).all():
        text = "Measured torque of each joint, its prediction while held out, and the difference."
        drawn["torques"] = ("Measured and predicted torque", text, plot_torques(rows, validation.predicted, held=held))
    else:
        text = f"Measured torque of each joint, that of the fit, and the difference; it is largest for {worst.joint}."
        drawn["fit"] = ("Measured and fitted torque", text, plot_torques(rows, told, held=held))
    if validation is not None:
        overall = f"overall {validation.train:.3g} fitted and {validation.held_out:.3g} held out"
        text = f"Residual in percent of the torque, by joint; {overall}."
        drawn["validation"] = ("Residual by joint", text, plot_validation(validation))
    return {
        name: Picture(title, alt, inline_svg(panels, alt, k)) for k, (name, (title, alt, panels)) in enumerate(drawn.items())
    }


def _coloured(s: Statistics) -> int:
    return sum(j.whiteness is not None and not j.whiteness.white for j in s.joints)


# map plot colours to CSS variables of the page, which depend on the theme
THEME = {
    INK: "var(--ink)", "#000000": "var(--ink)", "#ffffff": "var(--card)", "#e6e6e6": "var(--grid)", FAINT: "var(--empty)",
    MOTION: "var(--accent)", FORCE: "var(--bad)", GOOD: "var(--good)",
    STRUCTURE: "color-mix(in srgb, var(--ink) 58%, var(--card))",
    **{colour: f"var(--series-{k})" for k, colour in enumerate(JOINTS, 1)},
}  # fmt: skip


def inline_svg(panels: Panels, alt: str, number: int = 0) -> str:
    """Return a figure as an ``<svg>`` element; ``alt`` is its description, ``number`` makes its ids unique."""
    from matplotlib import rc_context

    target = io.StringIO()
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": f"figure {number}", "path.simplify_threshold": 0.5}
    with rc_context(settings), warnings.catch_warnings():
        # glyphs missing in the layout font are rendered by the browser
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        panels.figure.savefig(target, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = target.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"', "", text)  # implied in HTML
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\1f{number}-", text)
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), text)  # 0.01 pt resolution
    for colour, name in THEME.items():
        text = re.sub(re.escape(colour), name, text, flags=re.IGNORECASE)
    head = re.sub(r'(width|height)="[^"]*"\s*', "", text[: text.index(">")], count=2)
    return f'{head} role="img" aria-label="{escaped(alt)}"{text[text.index(">") :]}'.strip()
