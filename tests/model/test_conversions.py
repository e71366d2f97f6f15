from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from random_trees import random_inertia, random_pose

import dynamis as dy
from dynamis.model.denavit_hartenberg import to_dh
from dynamis.model.description import Limits, Mimic, Shape
from dynamis.model.library import library_names
from dynamis.model.writers.losses import losses
from dynamis.spatial import about_axis, from_rpy

ARMS = ["ur5e", "panda", "kuka_iiwa14", "stanford", "puma560", "scara"]
FORMS = ["urdf", "toml link", "toml dh", "toml mdh", "toml poe"]


@pytest.fixture
def through(tmp_path, quiet_load):
    """The robot after being written and read again in each of these forms."""

    def convert(robot, *forms):
        for k, form in enumerate(forms):
            suffix, _, kind = form.partition(" ")
            path = tmp_path / f"robot{k}.{suffix}"
            robot.write(path, kind or "link")
            robot = quiet_load(path)
        return robot

    return convert


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ARMS)
def test_every_form_of_a_library_arm_has_the_same_dynamics_and_tool(name, form, through, same_dynamics):
    robot = dy.load(name)
    again = through(robot, form)
    same_dynamics(robot, again)
    assert again.name == robot.name
    for key, values in robot.limits.items():
        assert np.array_equal(values, again.limits[key]), key


@pytest.mark.parametrize("name", ARMS)
def test_a_robot_goes_through_all_forms_and_back(name, through, same_dynamics):
    robot = dy.load(name)
    same_dynamics(robot, through(robot, "toml dh", "toml poe", "urdf", "toml mdh", "toml link"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["ur5e", "scara", "stanford"])
def test_converting_to_the_same_form_twice_changes_nothing(name, form, through, same_dynamics):
    robot = dy.load(name)
    same_dynamics(robot, through(robot, form, form))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ARMS)
def test_a_clean_robot_is_written_as_a_clean_file(name, form, tmp_path):
    suffix, _, kind = form.partition(" ")
    known = {p.code for p in dy.check(name)}
    dy.load(name).write(tmp_path / f"robot.{suffix}", kind or "link")
    assert {p.code for p in dy.check(tmp_path / f"robot.{suffix}")} <= known


def special_arm(rng, relation):
    """A serial arm whose next axis stands to the last one as named."""
    d = dy.Description("special").add_link("base")
    for k in range(5):
        kind = str(rng.choice(["revolute", "prismatic", "continuous"]))
        place = dy.Pose(np.eye(3), rng.uniform(-1.0, 1.0, 3))
        axis = np.array([0.0, 0.0, 1.0])
        which = (
            relation if relation != "mixed" else str(rng.choice(["parallel", "antiparallel", "intersecting", "skew", "same"]))
        )
        if which == "antiparallel":
            axis = -axis
        elif which == "intersecting":
            place, axis = dy.Pose(np.eye(3), np.array([0, 0, rng.uniform(-1, 1)])), rng.standard_normal(3)
        elif which == "perpendicular":
            place, axis = dy.Pose(from_rpy([np.pi / 2, 0, 0]), np.round(rng.uniform(-1, 1, 3))), axis
        elif which == "skew":
            place, axis = random_pose(rng), rng.standard_normal(3)
        elif which == "same":
            place = dy.Pose(np.eye(3), np.array([0, 0, rng.uniform(-1, 1)]))
        elif which == "nearly parallel":
            axis = np.array([1e-7, 0.0, 1.0])
        d.add_link(f"l{k}", "base" if k == 0 else f"l{k - 1}", kind, joint_name=f"j{k}", origin=place, axis=axis,
                   inertia=random_inertia(rng))  # fmt: skip
    return dy.Robot(d.add_link("tool", "l4", origin=random_pose(rng)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("relation", ["parallel", "antiparallel", "intersecting", "perpendicular", "skew", "same", "mixed"])
def test_axes_in_every_relation_keep_their_dynamics_in_every_form(relation, form, through, same_dynamics):
    for seed in (0,) if relation != "mixed" else range(3):
        robot = special_arm(np.random.default_rng(seed), relation)
        again = through(robot, form)
        same_dynamics(robot, again)
        assert [again.description.joint(f"j{k}").type for k in range(5)] == [
            robot.description.joint(f"j{k}").type for k in range(5)
        ]


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("angle", [1e-8, 1e-7, 1e-4, 1e-3])
@pytest.mark.filterwarnings("ignore:nearly")
def test_axes_that_are_nearly_but_not_quite_parallel_are_refused_rather_than_garbled(convention, angle):
    bar = dy.solids.box(0.1, 0.2, 0.3, mass=1.0)
    d = dy.Description("nearly").add_link("base").add_link("a", "base", "revolute", inertia=bar)
    tilted = dy.Pose(about_axis(np.array([1.0, 0.0, 0.0]), angle), np.array([0.4, 0.3, 0.1]))
    d.add_link("b", "a", "revolute", inertia=bar, origin=tilted)
    try:
        again = dy.Robot(to_dh(d, convention)[0])
    except dy.ConversionError as error:
        assert "nearly" in str(error)
        assert angle < 1e-3
    else:
        assert angle > 1e-4
        q = np.array([0.3, 0.4])
        assert again.mass_matrix(q) == pytest.approx(dy.Robot(d).mass_matrix(q), rel=1e-8)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_the_table_of_a_dh_robot_is_the_table_it_was_written_with(save, quiet_load, convention):
    rng = np.random.default_rng(3)
    form = "dh" if convention == "standard" else "mdh"
    rows = [dict(zip(("a", "alpha", "d", "theta"), rng.uniform(0.2, 1.0, 4).round(3), strict=True)) for _ in range(4)]
    text = "".join(f"[[{form}]]\nmass = 1\n" + "".join(f"{k} = {v}\n" for k, v in row.items()) for row in rows)
    _, table = to_dh(quiet_load(save(text, "robot.toml")).description, convention)
    inner = slice(1, 3)  # the first and the last row depend on where the base and the tool are put
    for row, found in list(zip(rows, table, strict=True))[inner]:
        assert (found.a, found.alpha) == pytest.approx((row["a"], row["alpha"]))
    # the frames of these links are those of the table: the links keep their names
    assert [found.link for found in table][inner] == (["link2", "link3"])


def couple(d):
    d.joint("j0").type = d.joint("j1").type = "revolute"
    d.joint("j1").mimic = Mimic("j0", 2.0, 0.1)


REFUSED = {
    "tree": ("baxter", None, ["dh", "mdh"], "branches at its base, to 'right_upper_shoulder'"),
    "mimic": (None, couple, ["dh", "mdh"], "follow"),
    "helical": (None, lambda d: [setattr(d.joint("j1"), "type", "helical"), setattr(d.joint("j1"), "pitch", 0.1)], ["dh", "mdh", "urdf"], "helical"),
    "spherical": (None, lambda d: setattr(d.joint("j1"), "type", "spherical"), ["dh", "mdh", "poe", "urdf"], "spherical"),
    "symbols": ("planar_2r", None, ["dh", "mdh", "urdf"], r"without values, .*m_1.*numbers only: give them with robot\.replace\(parameters=.*'m_1': …"),
    "nothing moves": (None, lambda d: [setattr(j, "type", "fixed") for j in d.joints], ["dh", "mdh"], "no moving joint"),
}  # fmt: skip


@pytest.mark.parametrize(("case", "form"), [(case, form) for case in REFUSED for form in REFUSED[case][2]])
def test_what_a_form_cannot_hold_is_refused_in_words_and_nothing_is_written(case, form, tmp_path):
    name, edit, _, word = REFUSED[case]
    if name:
        robot = dy.load(name)
    else:
        d = special_arm(np.random.default_rng(1), "skew").description
        edit(d)
        robot = dy.Robot(d)
    path = tmp_path / ("x.urdf" if form == "urdf" else "x.toml")
    with pytest.raises(dy.ConversionError, match=word):
        robot.write(path, "link" if form == "urdf" else form)
    assert not path.exists()


@pytest.mark.parametrize("name", library_names())
def test_every_form_of_a_library_robot_keeps_its_tip(name, through):
    robot = dy.load(name)
    for form in FORMS:
        try:
            again = through(robot, form)
        except dy.ConversionError:  # a tree has no table, a symbol no URDF
            assert form != "toml link"
        else:
            assert again.model.tip == robot.model.tip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_every_form_of_a_random_arm_keeps_its_tip_among_several_frames(seed, form, through):
    rng = np.random.default_rng(seed)
    d = special_arm(rng, "mixed").description
    d.add_link("flange", "l4", origin=random_pose(rng))
    d.add_link("tool0", "flange", origin=random_pose(rng))
    d.add_link("camera", "l4", origin=random_pose(rng))
    d.add_link("lens", "camera", origin=random_pose(rng))
    robot = dy.Robot(d)
    again = through(robot, form)
    q = robot.random(rng)
    assert again.model.tip == robot.model.tip == "tool0"
    assert again.pose(q) == pytest.approx(robot.pose(q), abs=1e-9)


def test_the_shapes_of_a_robot_survive_a_denavit_hartenberg_table(through):
    robot = special_arm(np.random.default_rng(0), "skew")
    d = robot.description
    d.link("l2").shapes.append(Shape("visual", "box", (1.0, 2.0, 3.0), dy.Pose.identity()))
    assert through(dy.Robot(d), "toml dh").description.link("l2").shapes[0].size == (1.0, 2.0, 3.0)


@pytest.mark.filterwarnings("ignore::dynamis.ModelWarning")
@pytest.mark.parametrize("suffix", [".sdf", ".mjcf", ".usda", ".toml", ".urdf"])
def test_limits_that_are_read_as_none_are_written_as_none(suffix, tmp_path, request):
    if suffix == ".mjcf":
        pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")
    if suffix == ".usda" and importlib.util.find_spec("pxr") is None:
        pytest.skip("OpenUSD is not installed: pip install 'dynamis[usd]'")
    d = dy.Description("a").add_link("b")
    for name, limits in (("zero", Limits(0.0, 0.0, 0.0, 0.0)), ("large", Limits(-1e16, 1e16, 1e16, 1e17))):
        d.add_link(name, d.links[-1].name, "revolute", inertia=dy.solids.sphere(0.5, mass=1.0), limits=limits)
    robot = dy.Robot(d)
    assert not np.isfinite(list(robot.limits.values())).any()
    robot.write(tmp_path / f"a{suffix}")
    text = (tmp_path / f"a{suffix}").read_text()
    assert "e+16" not in text
    assert not any(word in text for word in ("velocity>0", "range=", "actuatorfrcrange", "upperLimit", "limits ="))
    assert not np.isfinite(list(dy.load(tmp_path / f"a{suffix}").limits.values())).any()
    if suffix == ".sdf":
        assert not [loss for loss in losses(d, ".mjcf") if "limits" in loss]
