"""Makes the screenshots of the documentation: python docs/tools/screenshots.py.

Writes a report and a view of a robot, opens them in the Chromium of this machine (Playwright drives it), and keeps what a
reader would see first as docs/assets/report.png and docs/assets/view.png.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[1] / "assets"
COLOURS = 256
READY = "html[data-ready]"  # a page says so when everything is drawn


def keep(picture: bytes, name: str) -> None:
    from PIL import Image

    small = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(ASSETS / name, optimize=True)
    sys.stdout.write(f"{name}: {(ASSETS / name).stat().st_size // 1024} kB\n")


def main() -> None:
    from playwright.sync_api import sync_playwright

    import dynamis as dy

    robot = dy.load("ur5e")
    chromium = next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        dy.report(robot, Path(folder) / "report.html")
        dy.view(robot).write(Path(folder) / "view.html")
        arguments = ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"]
        browser = p.chromium.launch(executable_path=chromium, args=arguments)
        for name, width, height in (("report", 1280, 860), ("view", 900, 460)):
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
            page.goto((Path(folder) / f"{name}.html").as_uri())
            page.wait_for_selector(READY, timeout=60_000)
            page.wait_for_timeout(1500)  # the first pictures of the scene
            keep(page.screenshot(), f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
