"""Draw the packages of docs/architecture.md in layers: docs/images/architecture.svg. Run from the repository."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[1]
LAYERS = [
    ("on top", ["cli", "reports", "plotting"]),
    ("subjects", ["control", "identification", "task_space", "optimize", "sweeps"]),
    ("subjects", ["statics", "analysis", "trajectories", "collision", "simulation", "kinematics", "classroom"]),
    ("robot", ["robot", "symbolic", "interop"]),
    ("core", ["algorithms", "model", "spatial", "scalar", "compiler"]),
    ("basics", ["errors", "files", "version", "tolerances", "display", "drawing", "typesetting", "documents"]),
]
WIDTH, HEIGHT, LEFT, GAP, BOX = 960, 74, 100, 12, 50
COLOURS = ["#5b7fb8", "#4d9a8b", "#4d9a8b", "#c08a3e", "#8a6bb0", "#7b8794"]


def contents() -> dict[str, str]:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    return {
        name: what.replace("`", "").split(",")[0].split(":")[0]
        for name, what in re.findall(r"^\| `(\w+)` \| ([^|]+) \|", text, flags=re.M)
    }


def main() -> None:
    told = contents()
    missing = set(told) ^ {name for _, names in LAYERS for name in names}
    if missing:
        raise SystemExit(f"layers and table differ: {', '.join(sorted(missing))}")
    height = HEIGHT * len(LAYERS) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" role="img">',
        "<title>The packages in layers; imports lead downwards, or sideways as the table lists</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
    ]
    before = ""
    for row, (label, names) in enumerate(LAYERS):
        y = row * HEIGHT + 16
        width = (WIDTH - LEFT - GAP * len(names)) / len(names)
        if label != before:
            lines.append(f'<text x="12" y="{y + BOX / 2 + 5:.0f}" font-size="15" fill="#52606d">{label}</text>')
        before = label
        for k, name in enumerate(names):
            x = LEFT + k * (width + GAP)
            short = told[name] if len(told[name]) * 5.6 < width - 8 else ""
            lines.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BOX}" rx="6" fill="{COLOURS[row]}"/>')
            middle = x + width / 2
            lines.append(
                f'<text x="{middle:.1f}" y="{y + (22 if short else 31)}" font-size="15" font-weight="600" text-anchor="middle" '
                f'fill="#ffffff">{name}</text>'
            )
            if short:
                lines.append(
                    f'<text x="{middle:.1f}" y="{y + 40}" font-size="11" text-anchor="middle" fill="#ffffff">{short}</text>'
                )
    lines.append("</svg>")
    (DOCS / "images" / "architecture.svg").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
