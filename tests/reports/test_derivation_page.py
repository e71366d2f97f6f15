"""A derivation in a real browser: every formula is typeset, and printed it fits its pages."""

import pytest

import dynamis as dy


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    path = dy.load("planar_2r").closed_form().derivation().write(tmp_path_factory.mktemp("derivation") / "planar.html")
    page = browser.new_page()
    page.goto(path.as_uri())
    yield page
    page.close()


@pytest.fixture
def page(opened):
    opened.emulate_media(media="null")
    opened.set_viewport_size({"width": 1280, "height": 720})
    return opened


def test_every_formula_is_typeset_without_an_error(page):
    assert page.locator(".math").count() == page.locator(".math .katex").count() > 100
    assert page.locator(".katex-error").count() == 0


def test_no_formula_is_wider_than_the_printed_page(page):
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 680, "height": 900})  # 180 mm, an A4 page within its margins
    wider = "[...document.querySelectorAll('.formula')].filter(x => x.scrollWidth > x.clientWidth + 1).length"
    assert page.evaluate(wider) == 0


def test_on_a_narrow_window_a_shadow_shows_that_a_formula_goes_on(page):
    page.set_viewport_size({"width": 390, "height": 844})
    wide = "[...document.querySelectorAll('.formula')].filter(x => x.scrollWidth > x.clientWidth + 1)"
    assert page.evaluate(f"{wide}.length") > 0
    shown = page.evaluate(
        f"(() => {{ const s = getComputedStyle({wide}[0]); return [s.backgroundImage, s.backgroundAttachment]; }})()"
    )
    assert shown[0].count("linear-gradient") == 4
    assert shown[1] == "local, local, scroll, scroll"


def test_a_planar_arm_has_its_derivation_on_five_pages(page):
    printed = page.pdf(prefer_css_page_size=True)
    assert printed.count(b"/Type /Page\n") <= 5
