"""Makes the pictures of the documentation: python docs/tools/pictures.py [PAGE …].

A page that shows ``images/NAME.png`` writes ``NAME.png`` in its own code. Its code is run in an empty folder, and the
pictures are reduced to as many colours as a drawing needs.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
PICTURE = re.compile(r"!\[[^\]]*\]\(images/([\w-]+\.png)\)")
BLOCK = re.compile(r"```python\n(.*?)```", flags=re.S)
WIDTH = 1300  # pixels: twice what a column of text has room for
COLOURS = 128


def make(page: Path) -> list[Path]:
    """Run the code of a page and keep the pictures that it shows."""
    from PIL import Image

    text = page.read_text(encoding="utf-8")
    kept = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        names: dict[str, object] = {}
        for block in BLOCK.findall(text):
            exec(compile(block, str(page), "exec"), names)  # noqa: S102 (the project's own pages)
        for name in PICTURE.findall(text):
            target = page.parent / "images" / name
            target.parent.mkdir(exist_ok=True)
            picture = Image.open(name).convert("RGB")
            if picture.width > WIDTH:
                picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
            # maximum coverage keeps the colours of thin lines, which a median cut merges
            reduced = picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            reduced.save(target, optimize=True)
            kept.append(target)
    return kept


def main() -> None:
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or sorted(DOCS.rglob("*.md"))
    for page in chosen:
        if PICTURE.search(page.read_text(encoding="utf-8")):
            for picture in make(page):
                sys.stdout.write(f"{os.path.relpath(picture)}: {picture.stat().st_size // 1024} kB\n")


if __name__ == "__main__":
    main()
