"""Reports that are written once for all tests, and the page in a browser."""

import shutil
from pathlib import Path

import pytest

import dynamis as dy
from dynamis.reports.report import contents_of

HOW_TO = "needs Playwright and a Chromium: pip install playwright, and chromium from the system's packages"
FLAGS = ["--no-sandbox", "--enable-unsafe-swiftshader"]
PATIENCE = 240_000  # ms: only what never happens takes so long, also on a machine with much other work


def written(name, folder, **options):
    contents = contents_of(name, seconds=60.0, **options)
    return contents, contents.write(folder / f"{name}.html")


@pytest.fixture(scope="session")
def planar(tmp_path_factory):
    """(contents, page) of the arm with two links."""
    return written("planar_2r_melchiorri", tmp_path_factory.mktemp("reports"))


@pytest.fixture(scope="session")
def arm(tmp_path_factory):
    """(contents, page) of an arm with six joints."""
    return written("ur5e", tmp_path_factory.mktemp("reports"), without=["speed", "parameters", "check"])


@pytest.fixture(scope="session")
def robots():
    return {name: dy.load(name) for name in ("planar_2r_melchiorri", "ur5e")}


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason=HOW_TO)
    program = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(HOW_TO)
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


class Opened:
    """A report in a browser, with what went wrong and what was asked for."""

    def __init__(self, page, path: Path):
        self.page, self.wrong, self.requests = page, [], []
        page.set_default_timeout(PATIENCE)
        page.on(
            "console",
            lambda m: self.wrong.append(m.text) if m.type in ("error", "warning") and "GPU stall" not in m.text else None,
        )
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached", timeout=PATIENCE)

    def visit(self, section):
        """Scroll to a section and wait until its figures are drawn."""
        self.page.evaluate("id => document.getElementById(id).scrollIntoView({ behavior: 'instant' })", section)
        self.page.wait_for_function(
            "id => [...document.querySelectorAll(`#${id} figure`)].slice(0, 2).every((figure) => 'drawn' in figure.dataset)",
            arg=section,
        )


@pytest.fixture(scope="session")
def opened(browser):
    """opened(path) → the report in a page of its own."""

    def open_(path):
        return Opened(browser.new_page(viewport={"width": 1440, "height": 900}), path)

    return open_


@pytest.fixture(scope="session")
def planar_page(planar, opened):
    """The report of the arm with two links, opened once: opening is what takes long."""
    return opened(planar[1])


@pytest.fixture(scope="session")
def arm_page(arm, opened):
    return opened(arm[1])
