"""Worlds and includes of SDF files: which model is the robot, where it stands, and what holds it."""

import numpy as np
import pytest

import dynamis as dy


def link(name, height=0.0):
    return f'<link name="{name}"><pose>0 0 {height} 0 0 0</pose><inertial><mass>1</mass></inertial></link>'


def joint(name, parent, child, kind="revolute"):
    axis = "" if kind == "fixed" else "<axis><xyz>0 1 0</xyz></axis>"
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{axis}</joint>'


def sdf(content, version="1.9"):
    return f'<sdf version="{version}">{content}</sdf>'


def world(content):
    return sdf(f'<world name="w">{content}</world>')


def include(model, content="", attributes=""):
    return f"<include {attributes}><uri>model://{model}</uri>{content}</include>"


def pose(numbers, frame):
    return f'<pose relative_to="{frame}">{numbers} 0 0 0</pose>'


ARM = link("b") + joint("w", "world", "b", "fixed") + link("l", 1.0) + joint("j", "b", "l")
TIP = '<frame name="tip" attached_to="l"><pose>0 0 0.5 0 0 0</pose></frame>'
HAND = link("palm", 0.1) + link("f", 0.2) + joint("fj", "palm", "f") + '<frame name="mount"><pose>0 0 0.05 0 0 0</pose></frame>'
GROUND = '<model name="ground"><static>true</static><pose>5 0 0 0 0 0</pose>' + link("g", 0.5) + "</model>"
MERGE = 'merge="true"'


@pytest.fixture
def written(tmp_path):
    """A function that writes a file beside the models arm, hand and lamp, and returns its path."""
    models = {"arm": f'<model name="arm">{ARM}{TIP}</model>', "hand": f'<model name="hand">{HAND}</model>'}
    for name, text in {**models, "lamp": '<light name="lamp" type="point"/>'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.sdf").write_text(sdf(text))

    def write(text):
        (tmp_path / "file.sdf").write_text(text)
        return tmp_path / "file.sdf"

    return write


@pytest.mark.parametrize("scenery", ["", GROUND, include("lamp"), include("hand", "<static>true</static>")])
def test_an_included_model_is_a_model_of_the_world(written, scenery):
    robot = dy.load(written(world(scenery + include("arm"))))
    assert (robot.name, robot.link_names) == ("arm", ("b", "l", "tip"))


def test_several_models_that_are_not_static_are_refused_with_their_names(written):
    path = written(world(include("arm") + include("hand", "<name>grip</name>") + GROUND))
    with pytest.raises(
        dy.FormatError, match=r"2 models: 'arm', 'grip'; .*To repair: write <static>true</static> into the others"
    ):
        dy.load(path)
    with pytest.raises(dy.FormatError, match=r"2 static models: 'ground', 'other'; .*To repair: remove <static>"):
        dy.load(world(GROUND + GROUND.replace('"ground"', '"other"')))
    with pytest.raises(dy.ModelError, match="two elements are called 'ground'"):
        dy.load(written(world(GROUND + include("arm", "<name>ground</name>"))))


def test_an_include_that_cannot_be_followed_has_a_warning_or_is_an_error_without_another_robot(written):
    path = written(world(include("plane") + include("arm")))
    with pytest.warns(dy.ModelWarning, match=r"1 include without a model that can be read: 'model://plane'; .*robot is 'arm'"):
        assert dy.load(path).name == "arm"
    for static in ("", GROUND):
        with pytest.raises(dy.FormatError, match=r"it includes 'model://plane': the model 'plane/model\.sdf' was not found"):
            dy.load(written(world(include("plane") + static)))
    assert dy.load(written(world(include("plane", "<static>true</static>") + include("arm")))).name == "arm"


@pytest.mark.parametrize(("content", "place"), [
    (include("arm", "<pose>1 2 3 0 0 0</pose>"), [1, 2, 3]),
    (GROUND + include("arm", pose("0 0 0.1", "ground::g")), [5, 0, 0.6]),
    ('<frame name="spot"><pose>0 7 0 0 0 0</pose></frame>' + include("arm", pose("0 0 0.1", "spot")), [0, 7, 0.1]),
    (include("arm", "<pose>0 0 2 0 0 0</pose><placement_frame>tip</placement_frame>"), [0, 0, 0.5]),
])  # fmt: skip
def test_a_model_stands_where_its_pose_in_the_world_says(written, content, place):
    robot = dy.load(written(world(content)))
    np.testing.assert_allclose(robot.pose([0.0], "b")[:3, 3], place, atol=1e-12)


def test_joints_of_the_world_hold_the_robot(written):
    robot = dy.load(written(world(GROUND + include("hand") + joint("hinge", "ground::g", "hand::palm"))))
    assert set(robot.joint_names) == {"fj", "hinge"}
    held = dy.load(written(world(include("hand") + joint("hold", "world", "hand::palm", "fixed"))))
    assert held.joint_names == ("fj",)


def test_a_nested_model_that_is_fixed_to_the_world_holds_the_robot(written):
    nested = include("arm", "<pose>1 0 0 0 0 0</pose>")
    robot = dy.load(written(sdf(f'<model name="cell"><pose>0 3 0 0 0 0</pose>{nested}</model>')))
    np.testing.assert_allclose(robot.pose([0.0], "arm::b")[:3, 3], [1, 3, 0])
    for hold in ("", joint("h", "world", "table", "fixed")):
        text = link("table", 0.2) + nested + joint("t", "table", "arm::b", "fixed") + hold
        robot = dy.load(written(sdf(f'<model name="cell">{text}</model>')))
        assert not robot.description.closures
        np.testing.assert_allclose(robot.pose([0.0], "arm::b")[:3, 3], [1, 0, 0])
        np.testing.assert_allclose(robot.pose([0.0], "table")[:3, 3], [0, 0, 0.2])


@pytest.mark.parametrize(("placement", "height"), [("", 2.6), ("<placement_frame>mount</placement_frame>", 2.55)])
def test_a_merged_model_becomes_part_of_the_one_around_it(written, placement, height):
    hand = include("hand", pose("0 0 1", "tip") + placement, MERGE)
    text = ARM + TIP + hand + joint("grip", "l", "palm", "fixed") + '<frame name="x" attached_to="mount"/>'
    robot = dy.load(written(sdf(f'<model name="m">{text}</model>')))
    assert set(robot.link_names) == {"b", "l", "palm", "f", "mount", "tip", "x"}
    np.testing.assert_allclose(robot.pose([0.0, 0.0], "palm")[:3, 3], [0, 0, height])
    np.testing.assert_allclose(robot.pose([0.0, 0.0], "x")[:3, 3], [0, 0, height - 0.05])
    taken = written(sdf(f'<model name="m">{link("palm")}{include("hand", "", MERGE)}</model>'))
    with pytest.raises(dy.ModelError, match="two elements are called 'palm'"):
        dy.load(taken)


def test_model_config_names_the_file_of_a_model_whose_version_counts(written, tmp_path):
    path = written(world(include("old")))
    (tmp_path / "old").mkdir()
    names = '<sdf version="1.5">five.sdf</sdf><sdf version="1.4">four.sdf</sdf>'
    (tmp_path / "old" / "model.config").write_text(f"<model>{names}</model>")
    turned = ARM.replace("0 0 1.0 0 0 0", "0 0 1 0 0 1.5707963267948966")
    in_model = turned.replace("<axis>", "<axis><use_parent_model_frame>1</use_parent_model_frame>")
    (tmp_path / "old" / "five.sdf").write_text(sdf(f'<model name="arm">{in_model}</model>', "1.5"))
    joint = next(j for j in dy.load(path).description.joints if j.name == "j")
    np.testing.assert_allclose(joint.axis, [1, 0, 0], atol=1e-12)


def test_a_wrong_pose_names_its_element_once():
    links = link("b", "x") + link("l").replace("<pose>", '<pose relative_to="b">')
    (problem,) = dy.check(sdf(f'<model name="m">{links}{joint("j", "b", "l")}</model>')).errors
    assert problem.where == "link 'b'"
    assert "met" not in problem.found


def test_a_model_that_merges_another_may_be_merged(written, tmp_path):
    (tmp_path / "two").mkdir()
    inner = include("hand", "<pose>0 0 0.5 0 0 0</pose>", MERGE) + link("extra", 0.7) + joint("e", "f", "extra")
    inner = inner.replace("<axis><xyz>", '<axis><xyz expressed_in="__model__">')
    (tmp_path / "two" / "model.sdf").write_text(sdf(f'<model name="two">{inner}</model>'))
    outer = include("two", "<pose>1 0 0 0 0 1.5707963267948966</pose>", MERGE)
    text = link("root") + joint("w", "world", "root", "fixed") + outer + joint("h", "root", "palm", "fixed")
    robot = dy.load(written(sdf(f'<model name="m">{text}</model>')))
    assert set(robot.link_names) == {"root", "palm", "f", "extra", "mount"}
    np.testing.assert_allclose(robot.pose([0.0, 0.0], "palm")[:3, 3], [1, 0, 0.6], atol=1e-12)
    np.testing.assert_allclose(robot.jacobian([0.0, 0.0], "extra")[3:, -1], [-1, 0, 0], atol=1e-12)


def test_a_joint_placed_in_the_world_is_there_in_a_model_that_stands_elsewhere():
    hinge = joint("w", "world", "b").replace("<parent>", pose("0 0 0.5", "world") + "<parent>")
    robot = dy.load(sdf(f'<model name="m"><pose>0 0 2 0 0 0</pose>{link("b", 1.0)}{hinge}</model>'))
    np.testing.assert_allclose(robot.pose([np.pi], "b")[:3, 3], [0, 0, -2.0], atol=1e-12)


@pytest.mark.parametrize(("text", "message"), [
    (sdf(f'<world name="w">{GROUND}</world><model name="m">{ARM}</model>'), "a <world> and a <model> beside it"),
    (world(include("arm/model.urdf")), "includes 'model://arm/model.urdf', which is not SDF; .*dynamis convert"),
    (world(include("lamp")), "there is no <model>"),
    (world(include("arm", "<pose relative_to='arm'/>")), "a frame is defined by itself"),
])  # fmt: skip
def test_what_is_no_one_robot_is_refused_with_its_cure(written, text, message):
    with pytest.raises(dy.ModelError, match=message):
        dy.load(written(text))


def test_a_static_model_that_is_the_only_one_has_a_warning(written):
    with pytest.warns(dy.ModelWarning, match="<static> is true: nothing moves the model in SDF"):
        assert dy.load(written(world(include("arm", "<static>true</static>")))).n == 1
