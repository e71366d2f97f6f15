"""A robot and a motion inside a notebook: a page that holds everything, in a frame that can reach nothing else."""

import html
import re

import numpy as np
import pytest
from processes import wait_until
from small_machines import pendulum

import dynamis as dy
from dynamis.reports.staging import stage_of

ALLOWED = ("file:", "data:", "blob:", "about:")
PATIENCE = 240_000  # ms


@pytest.fixture(scope="module")
def ur5e():
    return dy.load("ur5e")


@pytest.fixture(scope="module")
def motion():
    return dy.simulate(dy.load("planar_2r_melchiorri"), 0.5, points=31)


def test_a_view_is_a_frame_with_its_page_inside(ur5e):
    view = dy.view(ur5e, height=500)
    shown = view._repr_html_()
    assert shown.startswith('<iframe title="UR5e" sandbox="allow-scripts"')
    assert "height: 500px" in shown
    assert html.unescape(re.search('srcdoc="(.*)"', shown, re.DOTALL)[1]) == view.html()
    assert "UR5e" in repr(view)


def test_a_robot_is_shown_at_a_given_configuration(ur5e):
    q = np.array([0.3, -1.2, 1.5, -0.4, 0.8, 0.1])
    assert dy.view(ur5e, q).block.scene["pose"] == q.tolist()
    assert '"pose": [0.3, -1.2, 1.5, -0.4, 0.8, 0.1]' in re.sub(r"\s*([:,])\s*", r"\1 ", dy.view(ur5e, q).html())
    assert dy.view(ur5e).block.scene["pose"] != q.tolist()
    with pytest.warns(dy.ReachWarning, match="q is in radians") as caught:
        dy.view(ur5e, [0, -90, 90, 0, 0, 0])
    assert caught[0].filename == __file__


def test_what_cannot_be_shown_says_why(ur5e, motion, tmp_path):
    with pytest.raises(dy.InputError, match=r"has symbolic parameters without values \(.*m_1.*parameters="):
        dy.view(dy.load("planar_2r"))
    with pytest.raises(dy.InputError, match="takes a robot or a simulated motion, got str"):
        dy.view("ur5e")
    with pytest.raises(dy.InputError, match=r"q has shape \(3,\)"):
        dy.view(ur5e, [1.0, 2.0, 3.0])
    with pytest.raises(dy.InputError, match=r"dy.view\(motion.robot, motion.q\[k\]\)"):
        dy.view(motion, ur5e.home())
    with pytest.raises(dy.InputError, match="height=10 must be"):
        dy.view(ur5e, height=10)
    with pytest.raises(dy.InputError, match=r"name the page \.html"):
        dy.view(motion).write(tmp_path / "motion.png")


def test_names_from_files_stay_names():
    d = pendulum().description
    d.name = '"><script>alert(1)</script>'
    shown = dy.view(dy.Robot(d))._repr_html_()
    assert "<script>" not in shown
    assert "<script>alert(1)" not in html.unescape(re.search('srcdoc="(.*)"', shown, re.DOTALL)[1])


def test_both_come_alive_inside_another_page(ur5e, motion, browser, tmp_path):
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<body>{dy.view(ur5e)._repr_html_()}{dy.view(motion)._repr_html_()}</body>", encoding="utf-8")
    page = browser.new_page(viewport={"width": 960, "height": 1080})
    wrong, requests = [], []
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(notebook.as_uri())
    robot, player = (page.frame_locator("iframe").nth(k) for k in range(2))
    slider = robot.locator("input[type=range]").first
    page.set_default_timeout(PATIENCE)
    before = robot.locator("output.reading").inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    wait_until(lambda: robot.locator("output.reading").inner_text() != before, "the slider does not move the robot")
    player.get_by_role("button", name="Play").click()
    wait_until(lambda: player.locator(".transport output").inner_text() == "0.50 s", "the motion does not come to its end")
    player.get_by_role("button", name="Play").wait_for()  # again, once the motion has ended
    assert wrong == []
    assert [url for url in requests if not url.startswith(ALLOWED)] == []
    page.close()


@pytest.mark.parametrize("name", ["ur5e", "panda", "puma560", "stanford", "planar_2r_melchiorri", "g1"])
def test_the_pose_of_the_picture_is_within_the_limits_and_above_the_floor(name):
    robot = dy.load(name)
    stage = stage_of(robot)
    q = np.array(stage["pose"])
    low, high = robot.limits["lower"], robot.limits["upper"]
    places = [c.q_index for c in robot.model.coordinates]
    assert (q[places] >= low - 1e-9).all()
    assert (q[places] <= high + 1e-9).all()
    heights = [robot.pose(q, frame)[:3, 3] @ stage["up"] for frame in robot.link_names]
    assert min(heights) >= stage["floor"] - 1e-6 * stage["reach"]


def test_nothing_of_a_view_is_cut_off_in_a_cell(ur5e, browser, tmp_path):
    """Beside the picture every slider of a six-axis arm is in sight; in a narrow cell the picture keeps its share."""
    notebook = tmp_path / "cell.html"
    notebook.write_text(f"<body style='margin: 0'>{dy.view(ur5e)._repr_html_()}</body>", encoding="utf-8")
    page = browser.new_page()
    page.goto(notebook.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("output.reading").inner_text(timeout=60_000)
    for width in (1150, 560):
        page.set_viewport_size({"width": width, "height": 700})
        page.wait_for_timeout(200)
        tall, wide = page.frames[1].evaluate(
            "[document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]"
        )
        assert (tall, wide) == (0, 0)
        box = inside.locator(".stage canvas").bounding_box()
        assert box["width"] >= 0.6 * width
        assert box["height"] >= 220
        panel, last = (inside.locator(x).bounding_box() for x in (".panel", ".buttons button:last-child"))
        assert last["x"] + last["width"] <= panel["x"] + panel["width"] + 0.5
        if width > 1000:
            slider = inside.locator("input[type=range]").last.bounding_box()
            assert slider["y"] + slider["height"] <= panel["y"] + panel["height"] + 0.5
    page.close()


def test_the_camera_follows_a_motion_that_goes_far(browser, tmp_path):
    robot = dy.load("scara", base="floating")
    q, v = robot.neutral(), np.eye(robot.n)[0]
    path = dy.view(dy.simulate(robot, 4.0, q, v, friction="none", points=11)).write(tmp_path / "fall.html")
    page = browser.new_page(viewport={"width": 700, "height": 480})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached", timeout=PATIENCE)
    page.wait_for_function("() => window.dynamisReport.players.get('motion').view", timeout=PATIENCE)
    distances = page.evaluate("""() => {
      const player = window.dynamisReport.players.get("motion"), { view } = player;
      return [0, 2, 4].map((time) => {
        player.seek(time);
        return view.camera.position.distanceTo(view.centre) / view.model.reach;
      });
    }""")
    page.close()
    assert np.ptp(distances) < 1e-6  # it falls by 78 m, many times its reach
    assert max(distances) < 10.0


@pytest.mark.parametrize(("width", "height"), [(390, 844), (320, 568), (1400, 900)])
def test_the_controls_of_an_animation_are_in_sight_and_the_speed_is_beside_its_name(motion, browser, tmp_path, width, height):
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(dy.view(motion).write(tmp_path / "motion.html").as_uri())
    controls = page.locator(".transport button, .transport input, .transport label, .transport select")
    for box in (control.bounding_box() for control in controls.all()):
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height
    name, speed = (page.locator(f".pace {tag}").bounding_box() for tag in ("label", "select"))
    assert abs(name["y"] + name["height"] / 2 - speed["y"] - speed["height"] / 2) < 2.0
    assert speed["x"] > name["x"]
    page.close()
