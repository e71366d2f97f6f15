"""Collisions and distances: against formulas for simple shapes, and the gradient against differences of the distance."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.description import Mimic, Shape
from dynamis.spatial import Pose

pytest.importorskip("coal", reason="coal is not installed: pip install 'dynamis[collision]'")
pytestmark = pytest.mark.usefixtures("without_compilation")
Obstacle, Scene = dy.collision.Obstacle, dy.collision.Scene


def sliding(shape):
    """A link of this shape that slides along x, y and z of the world."""
    d = dy.Description("slider").add_link("base").add_link("a", "base", "prismatic", axis=(1, 0, 0))
    d.add_link("b", "a", "prismatic", axis=(0, 1, 0)).add_link("c", "b", "prismatic", axis=(0, 0, 1))
    for link in d.links[1:]:
        link.mass_properties = dy.Description().add_link("x", inertia=dy.solids.sphere(0.1, mass=1)).links[0].mass_properties
    d.links[-1].shapes = [shape]
    return dy.Robot(d)


def sphere(radius):
    return Shape("collision", "sphere", (radius,), Pose.identity())


def chain(shapes, joint="revolute"):
    """Links with these shapes, 1 m apart along x."""
    d = dy.Description("chain").add_link("link0")
    d.links[0].shapes = [shapes[0]] if shapes[0] else []
    for k, shape in enumerate(shapes[1:], 1):
        d.add_link(f"link{k}", f"link{k - 1}", joint, origin=Pose.translation([1.0, 0.0, 0.0]),
                   inertia=dy.solids.sphere(0.1, mass=1))  # fmt: skip
        d.links[k].shapes = [shape] if shape else []
    return dy.Robot(d)


def test_two_balls_are_as_far_apart_as_their_centres_less_their_radii():
    scene = Scene(sliding(sphere(0.2)), obstacles={"ball": Obstacle("sphere", 0.3, (1.0, 2.0, 2.0))})
    assert scene.pairs == (("c", "ball"),)
    assert scene.distance([0.0, 0.0, 0.0]) == pytest.approx(3.0 - 0.5, abs=1e-15)
    near = scene.nearest([0.0, 0.0, 0.0])[0]
    way = np.array([1.0, 2.0, 2.0]) / 3.0
    np.testing.assert_allclose(near.points, [0.2 * way, 2.7 * way], atol=1e-15)
    np.testing.assert_allclose(near.normal, way, atol=1e-15)
    np.testing.assert_allclose(scene.distance_gradient([0.0, 0.0, 0.0]), -way, atol=1e-14)
    inside = [0.9, 2.0, 2.0]
    assert scene.distance(inside) == pytest.approx(0.1 - 0.5, abs=1e-15)  # so far they must be moved to come apart
    np.testing.assert_allclose(scene.distance_gradient(inside), [-1.0, 0.0, 0.0], atol=1e-14)


def test_a_ball_beside_above_and_at_the_edge_of_a_box():
    scene = Scene(sliding(sphere(0.1)), obstacles={"box": Obstacle("box", (2.0, 2.0, 2.0))})
    found = scene.distance([[3.0, 0.5, 0.0], [0.3, 0.2, 1.7], [2.0, 0.0, 2.0], [2.0, 2.0, 2.0], [0.0, 0.0, 0.8]])
    np.testing.assert_allclose(found, [1.9, 0.6, np.sqrt(2) - 0.1, np.sqrt(3) - 0.1, -0.3], atol=1e-9)


def round_cone(p, low, high, length):
    """The distance of a point from the hull of two balls on z: the least over the balls between them."""
    s = np.linspace(0.0, 1.0, 200_001)
    axis = np.hypot(np.hypot(p[0], p[1]), p[2] - length * (s - 0.5))
    return (axis - ((1 - s) * low + s * high)).min()


@pytest.mark.parametrize("size", [(0.3, 0.1, 0.8), (0.1, 0.25, 0.5), (0.2, 0.2, 0.4), (0.5, 0.1, 0.3)])
def test_a_tapered_capsule_is_the_hull_of_two_balls(size):
    scene = Scene(sliding(sphere(0.05)), obstacles={"cone": Obstacle("tapered_capsule", size)})
    q = np.random.default_rng(0).uniform(0.4, 1.0, (12, 3)) * np.random.default_rng(1).choice([-1, 1], (12, 3))
    expected = [round_cone(p, *size) - 0.05 for p in q]
    np.testing.assert_allclose(scene.distance(q), expected, atol=2e-9)


def test_shapes_are_within_the_ball_that_bounds_them():
    shapes = [("box", (0.3, 0.2, 0.1)), ("rounded_box", (0.3, 0.2, 0.1, 0.04)), ("tapered_capsule", (0.2, 0.1, 0.5)),
              ("ellipsoid", (0.1, 0.2, 0.3)), ("cylinder", (0.1, 0.4)), ("capsule", (0.1, 0.4))]  # fmt: skip
    q = np.random.default_rng(2).uniform(-0.5, 0.5, (20, 3))
    for kind, size in shapes:
        scene = Scene(sliding(Shape("collision", kind, size, Pose.identity())), obstacles={"x": Obstacle(kind, size)})
        smallest, every = scene.distance(q), scene.distances(q)
        np.testing.assert_array_equal(smallest, every.min(axis=1))
        assert all(placed.bound.min() <= d + 1e-12 for placed, d in zip(scene._states(q), smallest, strict=True))


def test_a_half_space_and_a_mesh_are_obstacles(tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="meshes are made by trimesh")
    trimesh.creation.box((2.0, 2.0, 2.0)).export(tmp_path / "box.stl")
    plate = trimesh.Trimesh([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    plate.export(tmp_path / "plate.stl")
    robot = sliding(sphere(0.1))
    tilted = np.eye(4)
    tilted[:3, :3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]  # z along x of the world
    for obstacle, expected in [
        (Obstacle("half_space", (), (0.0, 0.0, 0.5)), 1.4),
        (Obstacle("half_space", (), tilted), 2.9),
        (Obstacle("mesh", mesh=str(tmp_path / "box.stl")), np.sqrt(5) - 0.1),
        (Obstacle("mesh", (1.0, 1.0, 0.5), mesh=str(tmp_path / "box.stl")), 2.4),
    ]:
        scene = Scene(robot, obstacles={"x": obstacle})
        assert scene.distance([3.0, 0.0, 2.0]) == pytest.approx(expected, abs=1e-9), obstacle
    flat = Scene(robot, obstacles={"x": Obstacle("mesh", mesh=str(tmp_path / "plate.stl"))})
    assert flat.distance([0.0, 0.0, 2.0]) == pytest.approx(1.9, abs=1e-3)


def test_links_of_one_body_adjacent_ones_and_those_always_in_collision_are_not_checked():
    small, large = sphere(0.1), sphere(1.2)
    scene = Scene(chain([small, small, None, small, small]))
    # link1 and link3 are adjacent, because link2 between them has no geometry
    assert scene.pairs == (("link0", "link3"), ("link0", "link4"), ("link1", "link4"))
    assert scene.missing == {"link2": "no shape"}
    assert scene.excluded[("link1", "link3")] == "adjacent"
    always = Scene(chain([large, small, large]))
    assert always.pairs == ()
    assert always.excluded[("link0", "link2")] == "in collision in 200 of 200 random postures"
    assert always.distance([0.0, 0.0]) == np.inf
    assert not always.in_collision([0.0, 0.0])
    assert not always.distance_gradient([0.0, 0.0]).any()
    fewer = Scene(chain([small, small, None, small, small]), exclude=[("link4", "link0")])
    assert fewer.pairs == (("link0", "link3"), ("link1", "link4"))
    with pytest.raises(dy.NameLookupError, match="no link or obstacle named 'link9'"):
        Scene(chain([small, small, small]), exclude=[("link0", "link9")])
    spinning = Scene(dy.load("ur5e"))  # a cylinder about the axis of the joint between them
    assert spinning.excluded[("wrist_1_link", "wrist_3_link")] == "always 0.0184 m apart"
    tool = chain([small, small, small])
    rigid = Scene(tool.attach(chain([small, small]).reduced(lock={"link1_joint": 0.0}), at="link2", prefix="tool_"))
    assert rigid.excluded[("tool_link0", "tool_link1")] == "fixed to each other"
    assert ("link0", "tool_link1") in rigid.pairs


def test_a_carried_part_moves_with_its_link_and_meets_other_links_and_obstacles():
    robot = chain([sphere(0.1), sphere(0.1), sphere(0.1), sphere(0.1)])
    part = Obstacle("sphere", 0.2, (0.0, 0.5, 0.0), frame="link3")
    wall = Obstacle("half_space", (), np.array([[0, 0, -1, 4.0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1.0]]))  # x > 4
    scene = Scene(robot, obstacles={"part": part, "wall": wall}, exclude=[("link2", "part")])
    assert {("link0", "part"), ("link1", "part"), ("part", "wall"), ("link3", "wall")} <= set(scene.pairs)
    assert not {("link3", "part"), ("link2", "part"), ("link0", "wall")} & set(scene.pairs)
    q = np.array([0.0, 0.0, -0.5 * np.pi])  # the part is then at x = 3.5
    distances = dict(zip(scene.pairs, scene.distances(q), strict=True))
    assert distances[("part", "wall")] == pytest.approx(0.3, abs=1e-9)
    assert distances[("link1", "part")] == pytest.approx(2.2, abs=1e-9)
    step = 1e-6
    k = scene.pairs.index(("part", "wall"))
    slopes = [(scene.distances(q + step * e) - scene.distances(q - step * e))[k] / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(scene.distance_gradients(q)[k], slopes, atol=1e-6)
    with pytest.raises(dy.NameLookupError, match="no frame named 'link9'"):
        Scene(robot, obstacles={"part": Obstacle("sphere", 0.2, frame="link9")})


def test_the_margin_makes_collisions_of_what_is_near():
    robot = sliding(sphere(0.2))
    obstacles = {"ball": Obstacle("sphere", 0.3, (1.0, 0.0, 0.0))}
    q = [[0.0, 0.0, 0.0], [0.45, 0.0, 0.0], [0.6, 0.0, 0.0]]
    assert Scene(robot, obstacles=obstacles).in_collision(q).tolist() == [False, False, True]
    wide = Scene(robot, obstacles=obstacles, margin=0.1)
    assert wide.in_collision(q).tolist() == [False, True, True]
    np.testing.assert_allclose(wide.distance(q), [0.5, 0.05, -0.1], atol=1e-12)
    assert wide.with_obstacles(None).distance(q).tolist() == [np.inf] * 3
    h, dh = wide.barrier(within=0.5)
    np.testing.assert_allclose(h(np.array(q[1]))[0], -0.05, atol=1e-12)
    np.testing.assert_allclose(dh(np.array(q[1]))[0], [-1.0, 0.0, 0.0], atol=1e-12)
    assert wide.barrier(within=0.1)[0](np.array(q[0])).shape == (0,)


@pytest.mark.parametrize(("name", "base"), [("ur5e", "fixed"), ("go2", "floating")])
def test_the_gradient_is_that_of_finite_differences(name, base):
    robot = dy.load(name, base=base)
    floor = {"floor": Obstacle("half_space", (), (0.0, 0.0, -0.5))} if base == "floating" else {}
    scene, step = Scene(robot, obstacles=floor), 1e-5  # rounding of the distances gives 1e-5
    for q in robot.random(3, 3 if base == "fixed" else 1):
        shifted = [robot.integrate(q, sign * step * e) for e in np.eye(robot.n) for sign in (-1.0, 1.0)]
        low, high = scene.distances(np.array(shifted)).reshape(robot.n, 2, -1).transpose(1, 2, 0)
        centre, gradients = scene.distances(q), scene.distance_gradients(q)
        for pair in np.argsort(centre)[:12]:
            forward, backward = (high[pair] - centre[pair]) / step, (centre[pair] - low[pair]) / step
            smooth = np.abs(forward - backward) < 1e-2  # where the nearest points do not jump
            assert smooth.any()
            accuracy = 1e-3 if centre[pair] < 0 else 2e-5
            np.testing.assert_allclose(gradients[pair][smooth], (0.5 * (forward + backward))[smooth], atol=accuracy)
        np.testing.assert_array_equal(scene.distance_gradient(q), gradients[np.argmin(centre)])
        near = centre < 0.1
        np.testing.assert_array_equal(scene.distance_gradients(q, within=0.1), np.where(near[:, None], gradients, 0.0))
        np.testing.assert_array_equal(scene.distances(q, within=0.1), np.where(near, centre, 0.1))


def test_the_gradient_counts_a_joint_and_those_that_follow_it():
    d = chain([sphere(0.1)] * 5).description
    d.joints[2].mimic = Mimic(d.joints[0].name, -0.5, 0.2)
    robot = dy.Robot(d)
    scene, q, step = Scene(robot), np.array([0.4, -0.9, 0.7]), 1e-6
    assert robot.n == 3
    slopes = [(scene.distances(q + step * e) - scene.distances(q - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(scene.distance_gradients(q), np.transpose(slopes), atol=1e-8)


def test_wrong_arguments_are_refused_with_what_is_expected(tmp_path):
    robot = dy.load("ur5e")
    scene = Scene(robot)
    for make, text in [
        (lambda: Obstacle("cube", (1, 1, 1)), "choose box"),
        (lambda: Obstacle("box", (1, 1)), r"\(x, y, z\) in m"),
        (lambda: Obstacle("sphere", -1.0), "radius = -1 is not a length"),
        (lambda: Obstacle("sphere", 1.0, mesh="a.stl"), "no mesh="),
        (lambda: Obstacle("box", (1, 1, 1), np.ones((4, 4))), "not a pose"),
        (lambda: Scene(robot, obstacles=[Obstacle("sphere", 1.0)]), "must map names"),
        (lambda: Scene(robot, obstacles={"tool0": Obstacle("sphere", 1.0)}), "name of a link"),
        (lambda: scene.with_obstacles({"x": Obstacle("mesh", mesh=str(tmp_path / "none.stl"))}), "was not found"),
        (lambda: Scene(robot, margin=-1.0), "margin must be a length"),
        (lambda: scene.distance([0.0]), "last axis"),
        (lambda: scene.nearest(robot.home(), -1), "non-negative"),
    ]:
        with pytest.raises(dy.InputError, match=text):
            make()
    with pytest.raises(dy.ModelError, match=r"no link of robot 'planar 2R .Melchiorri.' has a shape"):
        Scene(dy.load("planar_2r_melchiorri"))


def test_angles_that_look_like_degrees_are_questioned():
    robot = dy.load("ur5e")
    scene, q = Scene(robot), np.array([0.0, -90.0, 90.0, 0.0, 0.0, 0.0])
    both = np.array([robot.home(), q])
    calls = (
        (scene.in_collision, q),
        (scene.distance, q),
        (scene.distance, both),
        (scene.nearest, q),
        (scene.along, ([0, 1], both)),
    )
    for function, states in calls:
        with pytest.warns(dy.ReachWarning, match="q is in radians, and -90 rad .*shoulder_lift_joint.*deg2rad") as caught:
            function(states)
        assert Path(caught[0].filename) == Path(__file__)
    scene.in_collision([6.0, -6.0, 3.0, 0.0, 0.0, 0.0])


def test_links_whose_meshes_cannot_be_read_are_named_in_a_warning():
    robot = chain([sphere(0.1), sphere(0.1), Shape("visual", "mesh", (1, 1, 1), Pose.identity(), "part.stl"), sphere(0.1)])
    with pytest.warns(dy.ModelWarning, match="link 'link2'.*not checked for collisions"):
        scene = Scene(robot)
    assert "part.stl" in scene.missing["link2"]
    assert "no geometry: 'link2'" in repr(scene)


def test_a_missing_library_is_named_with_its_installation(monkeypatch):
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(dy.MissingExtraError, match=r"pip install 'dynamis\[collision\]'"):
        Scene(dy.load("ur5e"))


def test_a_scene_is_pickled_with_its_pairs_and_obstacles():
    robot = dy.load("ur5e")
    scene = Scene(robot, obstacles={"floor": Obstacle("half_space")}, margin=0.01)
    again, q = pickle.loads(pickle.dumps(scene)), robot.random(0, 5)
    assert again.pairs == scene.pairs
    np.testing.assert_array_equal(again.distance(q), scene.distance(q))


SPHERE = """<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="{x} 0 0"/><geometry><sphere radius="0.1"/></geometry></collision>"""
TWO_BODIES = f"""<robot name="two"><link name="base"/>
  <link name="a">{SPHERE.format(x=0.0)}</link>
  <link name="b">{SPHERE.format(x=0.3)}</link>
  <joint name="ja" type="floating"><parent link="base"/><child link="a"/></joint>
  <joint name="jb" type="continuous"><parent link="base"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""


def test_two_bodies_on_one_fixed_base_without_geometry_are_checked():
    robot = dy.load(TWO_BODIES)
    scene = dy.collision.Scene(robot)
    assert {frozenset(pair) for pair in scene.pairs} == {frozenset({"a", "b"})}
    q = robot.neutral()
    q[:3] = [0.3, 0.0, 0.0]
    assert scene.in_collision(q)


def test_two_arms_on_a_torso_without_geometry_are_checked():
    text = TWO_BODIES.replace('type="floating"', 'type="continuous"').replace(
        'name="base"/>', 'name="base"/><link name="torso"/>'
    )
    text = text.replace('<parent link="base"/>', '<parent link="torso"/>').replace(
        "</robot>", '<joint name="waist" type="continuous"><parent link="base"/><child link="torso"/></joint></robot>'
    )
    text = text.replace('<child link="b"/><axis xyz="0 0 1"/>', '<child link="b"/><origin xyz="0 0.1 0"/><axis xyz="0 0 1"/>')
    assert len(dy.collision.Scene(dy.load(text)).pairs) == 1


def test_an_srdf_file_can_enable_the_check_of_adjacent_links():
    robot = dy.load("ur5e")
    pair = ("forearm_link", "upper_arm_link")
    assert tuple(sorted(pair)) not in {tuple(sorted(x)) for x in dy.collision.Scene(robot).pairs}
    srdf = f'<robot name="ur5e"><enable_collisions link1="{pair[0]}" link2="{pair[1]}"/></robot>'
    assert tuple(sorted(pair)) in {tuple(sorted(x)) for x in dy.collision.Scene(robot, srdf=srdf).pairs}
