"""Finding one's way: links lead to their sections, the section in view is marked, and the robot stays in sight."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.reports.scene import scene_of
from dynamis.reports.subject import subject_of

TOP = "id => document.getElementById(id).getBoundingClientRect().top"
PLACES = """keys => [document.body.scrollHeight, ...keys.flatMap((key) => [key, key + "-title"].map(
  (id) => Math.round(document.getElementById(id).getBoundingClientRect().top + scrollY)))]"""
SCROLLED = """() => new Promise((done) => {
  let last = -1, same = 0;
  const look = () => { same = scrollY === last ? same + 1 : 0; last = scrollY; same > 2 ? done() : requestAnimationFrame(look); };
  look();
})"""


def everything_drawn(page):
    """Bring every figure near the window once."""
    for figure in page.locator("main figure").element_handles():
        figure.evaluate("f => f.scrollIntoView({ behavior: 'instant' })")
        page.wait_for_function("f => 'drawn' in f.dataset", arg=figure)


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_every_link_leads_to_its_section_before_and_after_figures_are_drawn(planar, opened, size):
    page = opened(planar[1]).page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(reduced_motion="reduce")  # no smooth scrolling to wait for
    links = page.locator("nav a").all()
    keys = [link.get_attribute("href")[1:] for link in links]
    before = page.evaluate(PLACES, keys)
    for key, link in zip(keys, links, strict=True):
        link.evaluate("a => a.click()")  # on a phone the strip of links may still be moving under a pointer
        page.evaluate(SCROLLED)
        page.wait_for_function("a => a.getAttribute('aria-current') === 'location'", arg=link.element_handle())
        assert 0 <= page.evaluate(TOP, key) <= 70, key
        assert 0 <= page.evaluate(TOP, f"{key}-title") <= 110, key
        assert link.get_attribute("aria-current") == "location"
        assert page.locator("nav a[aria-current]").count() == 1
    everything_drawn(page)
    assert page.evaluate(PLACES, keys) == before  # so that the links lead there as well
    page.close()


def test_an_address_with_a_section_opens_there(planar, browser):
    page = browser.new_page()
    page.goto(f"{planar[1].as_uri()}#motions")
    page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
    page.evaluate(SCROLLED)
    assert 0 <= page.evaluate(TOP, "motions") <= 70
    page.close()


def test_a_click_on_the_workspace_moves_the_robot_in_a_small_view_in_sight(arm_page, robots):
    report, robot = arm_page, robots["ur5e"]
    page = report.page
    stage = page.locator(".robot .stage")
    assert not stage.evaluate("e => e.classList.contains('docked')")
    report.visit("workspace")
    page.wait_for_function("() => document.querySelector('.robot .stage').classList.contains('docked')")
    box = stage.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1440
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 900
    # beside the sections, so that it covers none of them
    assert box["x"] + box["width"] <= page.locator("main").bounding_box()["x"]
    assert box["y"] >= page.evaluate("() => document.querySelector('nav ol').getBoundingClientRect().bottom")
    before = stage.screenshot()
    x, z = page.evaluate(
        "() => { const d = JSON.parse(document.getElementById('data-workspace').textContent)['figure-2'].views[0];"
        " return [0.5 * (d.x[0] + d.x[1]), 0.5 * (d.y[0] + d.y[1])]; }"
    )
    canvas = page.locator("#workspace canvas.map").nth(1)
    area = canvas.bounding_box()
    canvas.click(position={"x": 0.3 * area["width"], "y": 0.4 * area["height"]})
    q = np.array(page.evaluate("() => window.dynamisReport.panel.q"))
    tip = robot.pose(q)[:3, 3]
    assert abs(tip[1]) < 5e-3  # in the plane of the map
    assert tip[0] < x  # left of its middle
    assert tip[2] > z - 0.3
    page.wait_for_timeout(200)
    assert stage.screenshot() != before
    page.get_by_role("button", name="Close the small 3-D view").click()
    assert not stage.evaluate("e => e.classList.contains('docked')")


def test_on_a_narrow_window_the_small_view_opens_by_a_button_and_leaves_room_for_the_page(arm_page):
    report = arm_page
    page = report.page
    page.set_viewport_size({"width": 390, "height": 844})
    report.visit("workspace")
    button = page.get_by_role("button", name="3-D view", exact=True)
    button.wait_for()
    stage = page.locator(".robot .stage")
    assert not stage.evaluate("e => e.classList.contains('docked')")
    room = "() => document.documentElement.scrollHeight"
    before = page.evaluate(room)
    button.dispatch_event("click")  # a click of the browser's driver would scroll the page to the navigation first
    assert stage.evaluate("e => e.classList.contains('docked')")
    assert page.evaluate(room) >= before + stage.bounding_box()["height"] - 2
    page.get_by_role("button", name="Close the small 3-D view").dispatch_event("click")
    assert not stage.evaluate("e => e.classList.contains('docked')")
    # a table that is wider than the window says so
    scrolling = (
        "() => [...document.querySelectorAll('.wide')].map((e) => [e.scrollWidth > e.clientWidth + 1, 'scrolls' in e.dataset])"
    )
    found = page.evaluate(scrolling)
    assert any(wide for wide, _ in found)
    assert all(wide == told for wide, told in found)
    page.set_viewport_size({"width": 1440, "height": 900})


def test_the_camera_stays_above_the_floor(planar_page):
    page = planar_page.page
    page.evaluate("() => scrollTo(0, 0)")
    page.get_by_role("button", name="Reset view").click()
    lowest = page.evaluate(
        "() => { const v = window.dynamisReport.panel.view; for (let k = 0; k < 60; k++) v.turn(0, 0.1);"
        " const low = v.camera.position.dot({ x: v.model.up[0], y: v.model.up[1], z: v.model.up[2] });"
        " v.resetView(); return low - v.floor; }"
    )
    assert lowest > 0


@pytest.fixture(scope="module")
def phone(browser, arm):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(arm[1].as_uri())
    page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
    yield page
    context.close()


def test_a_phone_says_how_to_use_fingers_and_does_not_scroll_sideways(phone):
    caption = phone.locator("figure.robot figcaption")
    assert "one finger" in caption.inner_text()
    assert "right button" not in caption.inner_text()
    everything_drawn(phone)
    for details in phone.locator("details.data > summary").all():
        details.click()
    for width in (390, 320):
        phone.set_viewport_size({"width": width, "height": 844})
        phone.wait_for_timeout(100)
        assert phone.evaluate("() => [document.documentElement.scrollWidth, innerWidth]") == [width, width]


def test_tables_scroll_in_their_own_boxes_and_titles_do_not_widen_them(phone):
    wide = phone.evaluate(
        "() => [...document.querySelectorAll('.wide')].filter((box) => box.getBoundingClientRect().right > innerWidth + 0.5).length"
    )
    assert wide == 0
    assert phone.locator("table caption").count() == 0


def test_every_line_of_a_legend_has_a_sample_and_lines_differ_in_more_than_colour(arm_page):
    arm_page.visit("motions")
    looks = arm_page.page.evaluate(
        "() => [...document.querySelectorAll('.legend')].filter((l) => l.querySelector('button')).map((legend) =>"
        " [...legend.querySelectorAll('button')].map((b) => [b.querySelector('line').getAttribute('stroke'),"
        " b.querySelector('line').getAttribute('stroke-dasharray'), b.textContent.trim()]))"
    )
    assert looks
    for legend in looks:
        assert all(stroke and name for stroke, _, name in legend)
        assert len({dash for _, dash, _ in legend}) == len(legend)


def test_cells_without_a_value_are_explained(arm_page):
    arm_page.visit("workspace")
    page = arm_page.page
    assert "no sampled configuration" in page.locator("#workspace .key").first.inner_text()
    painted = page.evaluate(
        "() => { const c = document.querySelector('#workspace canvas.map'), s = devicePixelRatio;"
        " return [...c.getContext('2d').getImageData(62 * s, 16 * s, 1, 1).data.slice(0, 3)]; }"
    )
    named = page.evaluate("() => getComputedStyle(document.documentElement).getPropertyValue('--empty').trim()")
    assert painted == [int(named[k : k + 2], 16) for k in (1, 3, 5)]


FILLED = """async (scene) => {
  const { RobotView } = await import("dynamis/view3d");
  const place = Object.assign(document.createElement("div"), { style: "position: fixed; inset: 0 auto auto 0; width: 300px; height: 200px" });
  document.body.append(place);
  const view = new RobotView(place, scene, { frames: false });
  const pixels = (shown) => {
    view.show("links", shown);
    view.draw();
    const flat = new OffscreenCanvas(300, 200).getContext("2d", { willReadFrequently: true });
    flat.drawImage(view.canvas, 0, 0, 300, 200);
    return flat.getImageData(0, 0, 300, 200).data;
  };
  const [drawn, empty] = [pixels(true), pixels(false)];
  view.renderer.dispose();
  view.renderer.forceContextLoss();
  place.remove();
  return drawn.filter((x, k) => Math.abs(x - empty[k]) > 24).length / drawn.length;
}"""


@pytest.mark.parametrize("name", ["nine_body_tree", "rod_and_disc", "planar_prp", "go2"])
def test_the_view_of_an_unusual_robot_is_not_empty(name, planar_page):
    assert planar_page.page.evaluate(FILLED, scene_of(with_numbers_for(name))) > 0.01


def with_numbers_for(name):
    return subject_of(dy.load(name), None, None).robot
