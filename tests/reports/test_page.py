"""The page in a browser: it is drawn, answers to pointer and keyboard, and asks nothing of the network."""

import re

import numpy as np
import pytest
from browsers import find_browser_or_skip
from processes import wait_until

WINDOW = {"width": 1440, "height": 900}
ALLOWED = ("file:", "data:", "blob:")
TIP = "() => { const p = window.dynamisReport.panel; const X = p.view.frames().get(p.scene.tip); return [X[3], X[7], X[11]]; }"


def test_the_keyboard_goes_through_the_page_in_order(planar, opened):
    page = opened(planar[1]).page
    seen = []
    for _ in range(16):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "() => { const e = document.activeElement; return e.className || e.id || e.tagName + ' ' + e.textContent; }"
            )
        )
    assert seen[0] == "skip"
    assert seen[1] == "theme"
    assert seen[2] == "A Robot"
    assert "CANVAS " in seen
    assert seen.index("CANVAS ") < seen.index("BUTTON Home")
    page.close()


def test_no_error_and_no_request_beyond_the_file(planar, planar_page):
    report = planar_page
    for section in planar[0].sections:
        report.visit(section.key)
    report.page.wait_for_timeout(300)
    assert report.wrong == []
    assert [url for url in report.requests if not url.startswith(ALLOWED)] == []


@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "ur5e"])
def test_the_pages_kinematics_are_the_robots(name, robots, planar_page, arm_page):
    robot = robots[name]
    report = planar_page if name == "planar_2r_melchiorri" else arm_page
    for q in robot.random(3, 4):
        report.page.evaluate("q => window.dynamisReport.panel.set(q)", q.tolist())
        frames = report.page.evaluate("() => [...window.dynamisReport.panel.view.frames()]")
        assert [frame for frame, _ in frames] == list(robot.link_names)
        for frame, pose in frames:
            assert np.allclose(np.reshape(pose, (3, 4)), robot.pose(q, frame)[:3], atol=1e-9)


def test_a_slider_moves_the_robot(arm_page, robots):
    page, robot = arm_page.page, robots["ur5e"]
    page.get_by_role("button", name="Home").click()
    before = page.evaluate(TIP)
    slider = page.locator("input[type=range][data-q='1']")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    q = robot.neutral()
    q[1] = float(slider.input_value())
    assert q[1] < -0.1
    assert not np.allclose(page.evaluate(TIP), before, atol=1e-3)
    assert np.allclose(page.evaluate(TIP), robot.pose(q)[:3, 3], atol=1e-6)
    assert f"{q[1]:.3f}".replace("-", "−") in page.locator(".slider output").nth(1).inner_text()
    page.get_by_role("button", name="Home").click()
    assert np.allclose(page.evaluate(TIP), before, atol=1e-9)


def test_the_view_draws_and_turns_by_keyboard(planar_page):
    page = planar_page.page
    canvas = page.locator(".robot canvas")
    canvas.scroll_into_view_if_needed()
    still = canvas.screenshot()
    canvas.focus()
    page.keyboard.press("ArrowLeft")
    wait_until(lambda: canvas.screenshot() != still, "the view is not turned")
    turned = canvas.screenshot()
    page.get_by_label("Inertia ellipsoids").check()
    wait_until(lambda: canvas.screenshot() != turned, "no ellipsoids are drawn")


def test_plots_maps_and_formulas_are_drawn(planar_page):
    report = planar_page
    assert report.page.locator("#equations .formula .katex").count() >= 3
    assert report.page.locator(".katex-error").count() == 0
    report.visit("eigenvalues")
    assert report.page.locator("#eigenvalues .uplot canvas").count() == 1
    report.visit("maps")
    assert report.page.locator("#maps canvas").count() == 2
    # more than one colour was painted
    colours = report.page.evaluate(
        "() => { const c = document.querySelector('#maps canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        " return new Set(Array.from({ length: d.length / 4 }, (_, k) => d.slice(4 * k, 4 * k + 3).join())).size; }"
    )
    assert colours > 50


@pytest.mark.parametrize("ends", [(-3.14159, 3.14159), (-1.2, 0.9), (0.0, 0.0149), (-2.72, -0.838), (0.1, 220000.0)])
def test_an_axis_has_three_ticks_or_more_in_the_narrowest_figure(ends, planar_page):
    script = "async ([low, high]) => (await import('dynamis/heatmap')).ticks(low, high, 1)"
    made = planar_page.page.evaluate(script, list(ends))
    assert 3 <= len(made) <= 6
    assert all(ends[0] <= x <= ends[1] for x in made)


def test_the_derivation_is_typeset_when_it_is_opened(planar_page):
    page = planar_page.page
    fold = page.locator("#equations details.fold").first
    assert fold.locator(".katex").count() == 0
    fold.locator("summary").first.click()
    inner = fold.locator("details.fold").nth(1)
    inner.locator("summary").first.click()
    inner.locator(".katex").first.wait_for(state="attached")


def test_a_motion_plays_pauses_and_moves_the_plots(planar_page):
    report = planar_page
    report.visit("motions")
    page, player = report.page, report.page.locator("figure.player").first
    player.get_by_label("Speed").select_option("0.25")  # so that it does not end before it is paused
    player.get_by_role("button", name="Play").click()
    page.wait_for_function("() => window.dynamisReport.players.get('fall').time > 0.1")
    player.get_by_role("button", name="Pause").click()
    time = page.evaluate("() => window.dynamisReport.players.get('fall').time")
    page.wait_for_timeout(200)
    assert page.evaluate("() => window.dynamisReport.players.get('fall').time") == time
    assert page.locator("#motions .legend .value").first.inner_text() not in ("", "–")


def test_a_click_on_a_map_puts_the_robot_there(planar_page):
    report = planar_page
    report.visit("maps")
    canvas = report.page.locator("#maps canvas").first
    box = canvas.bounding_box()
    canvas.click(position={"x": 0.3 * box["width"], "y": 0.3 * box["height"]})
    q = report.page.evaluate("() => window.dynamisReport.panel.q")
    assert all(abs(x) > 0.1 for x in q)
    assert "N m" in report.page.locator("#maps .reading").first.inner_text()


def test_the_data_of_a_figure_can_be_read_as_a_table(planar_page):
    report = planar_page
    report.visit("eigenvalues")
    report.page.locator("#eigenvalues details.data summary").click()
    rows = report.page.locator("#eigenvalues details.data tbody tr")
    rows.first.wait_for()  # they are made when the table is opened
    assert rows.count() == 121
    assert report.page.locator("#eigenvalues details.data a[download]").get_attribute("href").startswith("blob:")


def test_night_and_day(planar_page):
    page = planar_page.page
    page.emulate_media(color_scheme="dark")
    background = "() => getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(16, 20, 24)"
    theme = page.locator("#theme")
    theme.click()
    assert theme.inner_text() == "Theme: light"
    assert page.evaluate(background) == "rgb(246, 247, 249)"
    theme.click()
    theme.click()
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "ur5e"])
def test_no_horizontal_scrolling(name, planar_page, arm_page):
    page = (planar_page if name == "planar_2r_melchiorri" else arm_page).page
    for width in (320, 390, 1024, 1100, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("() => document.documentElement.scrollWidth === document.documentElement.clientWidth")
    page.set_viewport_size(WINDOW)


def test_nothing_went_wrong_in_all_this(planar_page, arm_page):
    assert planar_page.wrong == arm_page.wrong == []


def test_a_report_is_printed(tmp_path):
    from dynamis.reports.report import contents_of

    find_browser_or_skip()
    path = contents_of("planar_2r_melchiorri", sections=["parameters"]).write(tmp_path / "arm.pdf")
    printed = path.read_bytes()
    assert printed.startswith(b"%PDF")
    assert re.search(rb"/MediaBox \[0 0 59[45]", printed)  # A4: 210 mm are 595 points


def test_on_paper_figures_stand_in_two_columns_without_instructions_for_the_screen(planar_page):
    page = planar_page.page
    # printing does not wait for the fonts of brackets and sums in folded formulas
    page.wait_for_function(
        "() => [...document.fonts].length > 5 && [...document.fonts].every(face => face.status === 'loaded')", timeout=30_000
    )
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    widths = page.evaluate("[...document.querySelectorAll('.figures figure')].map(x => x.clientWidth)")
    assert widths
    assert max(widths) < 340
    assert page.evaluate("[...document.querySelectorAll('.uplot')].every(x => x.clientWidth <= 340)")
    # formulas in folds too: none is cut off
    wider = "[...document.querySelectorAll('.formula')].filter(x => x.scrollWidth > x.clientWidth + 1).length"
    assert page.evaluate("document.querySelectorAll('details .formula').length") > 10
    assert page.evaluate(wider) == 0
    assert page.evaluate("document.querySelectorAll('.for-screen').length") > 0
    assert page.evaluate("[...document.querySelectorAll('.for-screen')].every(x => getComputedStyle(x).display === 'none')")
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_without_webgl_the_page_does_not_say_how_to_turn_the_view(planar, browser):
    page = browser.new_page(viewport=WINDOW)
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null;")
    page.goto(planar[1].as_uri())
    page.wait_for_selector("text=The 3-D view needs WebGL", state="attached")
    assert page.locator("text=rotate the view").count() == 0
    page.close()
