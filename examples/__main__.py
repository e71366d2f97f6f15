"""Run all examples: ``python examples [FOLDER]`` writes their figures to docs/gallery or another folder."""

import runpy
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

HERE = Path(__file__).resolve().parent
COLOURS = 128  # sufficient for plots, at a third of the file size


def main() -> None:
    gallery = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "gallery"
    gallery.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        sys.argv[1:] = [folder]
        for script in sorted(HERE.glob("[0-9]*.py")):
            print(f"\n{script.stem}")
            began = time.perf_counter()
            runpy.run_path(str(script), run_name="__main__")
            print(f"took {time.perf_counter() - began:.1f} s")
        for picture in sorted(Path(folder).glob("*.png")):
            # maximum coverage keeps the colours of thin lines, which a median cut merges
            method = Image.Quantize.MAXCOVERAGE
            small = Image.open(picture).convert("RGB").quantize(COLOURS, method=method, dither=Image.Dither.NONE)
            small.save(gallery / picture.name, optimize=True)


main()
