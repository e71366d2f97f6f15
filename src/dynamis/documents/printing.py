"""A report as PDF: the page, printed by a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from dynamis.errors import InputError, MissingExtraError
from dynamis.files.atomic_write import write_file

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
NAMED = "DYNAMIS_BROWSER"  # an environment variable with the path of the browser
PAPER = "@page { size: A4; }"  # the browser's own default is US Letter; a printed page follows the printer's dialog
VIRTUAL_TIME_BUDGET = 15_000  # ms of the page's own time


def find_browser() -> str:
    """The Chromium, Chrome or Edge of this machine."""
    named = os.environ.get(NAMED)
    found = shutil.which(named) if named else next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        where = f"{NAMED}={named} is no program" if named else "none was found"
        raise MissingExtraError(
            f"a PDF is printed by Chromium, Chrome or Edge, and {where}; install one or say where it is with {NAMED}=…, "
            "or open the .html report and print it"
        )
    return found


def print_pdf(page: str, target: Path) -> Path:
    """Print a page to a PDF file, written atomically."""
    browser = find_browser()
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page.replace("</head>", f"<style>{PAPER}</style></head>", 1), encoding="utf-8")
        # the browser refuses its sandbox to the superuser, as in a container
        alone = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        command = [
            browser,
            "--headless=new",
            *alone,
            "--disable-gpu",
            "--enable-unsafe-swiftshader",
            "--no-pdf-header-footer",
            "--hide-scrollbars",
            "--force-device-scale-factor=2",
            f"--user-data-dir={folder}/profile",
            f"--virtual-time-budget={VIRTUAL_TIME_BUDGET}",
            f"--print-to-pdf={made}",
            source.as_uri(),
        ]
        try:
            # the browser is the user's own, the arguments are ours
            done = subprocess.run(command, capture_output=True, text=True, timeout=180.0, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"{browser} did not print the report: {error}") from None
        if not made.exists():
            last = (done.stderr.strip().splitlines() or ["no error message"])[-1]
            raise InputError(f"{browser} did not print the report: {last}")
        return write_file(target, made.read_bytes())
