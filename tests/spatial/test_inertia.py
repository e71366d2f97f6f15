"""Inertias: solids, Steiner, rotation, ten parameters, physical consistency."""

import importlib.util

import numpy as np
import pytest
from collada_file import TETRAHEDRON
from random_trees import random_inertia, random_pose, relative_error

import dynamis as dy
from dynamis.scalar import symbol
from dynamis.spatial import Inertia, Pose, force_cross, motion_cross, skew, solids


def integrated(inside, size, count=60, seed=0):
    """Moments of a unit mass by brute force over a fine grid."""
    axes = [np.linspace(-s, s, count) for s in size]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    points = points[inside(points)]
    x2, y2, z2 = (points**2).mean(axis=0)
    return np.array([y2 + z2, x2 + z2, x2 + y2])


@pytest.mark.parametrize(
    ("solid", "inside", "size"),
    [
        (lambda: solids.sphere(0.5, mass=1.0), lambda p: (p**2).sum(1) <= 0.25, (0.5, 0.5, 0.5)),
        (lambda: solids.box(1.0, 0.6, 0.4, mass=1.0), lambda p: p[:, 0] < 9, (0.5, 0.3, 0.2)),
        (lambda: solids.cylinder(0.3, 1.0, mass=1.0), lambda p: (p[:, :2] ** 2).sum(1) <= 0.09, (0.3, 0.3, 0.5)),
        (lambda: solids.hollow_cylinder(0.4, 0.2, 1.0, mass=1.0),
         lambda p: ((p[:, :2] ** 2).sum(1) <= 0.16) & ((p[:, :2] ** 2).sum(1) >= 0.04), (0.4, 0.4, 0.5)),
        (lambda: solids.ellipsoid(0.5, 0.3, 0.2, mass=1.0), lambda p: ((p / [0.5, 0.3, 0.2]) ** 2).sum(1) <= 1.0, (0.5, 0.3, 0.2)),
        (lambda: solids.disc(0.5, mass=1.0), lambda p: (p[:, :2] ** 2).sum(1) <= 0.25, (0.5, 0.5, 0.0)),
        (lambda: solids.rod(1.0, mass=1.0), lambda p: p[:, 0] < 9, (0.0, 0.0, 0.5)),
    ],
)  # fmt: skip
def test_a_solids_moments_are_its_integrals(solid, inside, size):
    assert np.diag(solid().tensor) == pytest.approx(integrated(inside, size), rel=0.06)
    assert solid().is_consistent()


def test_density_times_volume_is_mass():
    assert solids.box(1.0, 2.0, 3.0, density=2.0).mass == 12.0
    assert solids.sphere(1.0, density=1.0).mass == pytest.approx(4 / 3 * np.pi)
    assert solids.hollow_cylinder(2.0, 1.0, 1.0, density=1.0).mass == pytest.approx(3 * np.pi)
    assert solids.ellipsoid(1.0, 2.0, 3.0, density=1.0).mass == pytest.approx(8 * np.pi)


@pytest.mark.parametrize(
    "call",
    [
        lambda: solids.sphere(1.0),
        lambda: solids.sphere(1.0, mass=1.0, density=1.0),
        lambda: solids.sphere(-1.0, mass=1.0),
        lambda: solids.box(1.0, 1.0, np.nan, mass=1.0),
        lambda: solids.cylinder(1.0, 1.0, mass=np.inf),
        lambda: solids.hollow_cylinder(0.1, 0.2, 1.0, mass=1.0),
    ],
)
def test_an_impossible_solid_is_refused(call):
    with pytest.raises(dy.InputError):
        call()


def test_moving_an_inertia_is_rotation_and_steiner():
    rng = np.random.default_rng(0)
    m, c, I = 2.0, rng.uniform(-1, 1, 3), solids.box(1.0, 2.0, 3.0, mass=2.0).tensor
    pose = random_pose(rng)
    moved = Inertia.about_com(m, c, I).seen_from(pose)
    com = pose.R @ c + pose.p
    assert moved.com == pytest.approx(com)
    about_origin = pose.R @ I @ pose.R.T + m * (com @ com * np.eye(3) - np.outer(com, com))
    assert relative_error(moved.tensor, about_origin) < 1e-14
    assert relative_error(moved.seen_from(pose.inverse()).tensor_about_com, I) < 1e-13


def test_energy_and_momentum_do_not_depend_on_the_frame():
    rng = np.random.default_rng(1)
    inertia, pose, V = random_inertia(rng), random_pose(rng), rng.standard_normal(6)
    outer, V_outer = inertia.seen_from(pose), pose.twist_outward(V)
    assert V @ inertia.apply(V) == pytest.approx(V_outer @ outer.apply(V_outer))
    assert relative_error(pose.wrench_outward(inertia.apply(V)), outer.apply(V_outer)) < 1e-14
    assert relative_error(inertia.matrix() @ V, inertia.apply(V)) < 1e-15


def test_ten_parameters_are_the_inertia_and_add_up():
    rng = np.random.default_rng(2)
    a, b = random_inertia(rng), random_inertia(rng)
    assert relative_error(Inertia.from_parameters(a.parameters).matrix(), a.matrix()) == 0.0
    assert relative_error((a + b).parameters, a.parameters + b.parameters) < 1e-15


def test_the_pseudo_inertia_is_positive_exactly_for_real_bodies():
    rng = np.random.default_rng(3)
    for _ in range(50):
        real = random_inertia(rng)
        assert real.is_consistent()
        assert np.linalg.eigvalsh(real.pseudo_inertia)[0] > -1e-12
    assert not Inertia.about_com(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])).is_consistent()
    assert not Inertia.about_com(-1.0, np.zeros(3), np.diag([1.0, 1.0, 1.0])).is_consistent()
    assert not Inertia.about_com(1.0, np.zeros(3), np.diag([-1.0, 1.0, 1.0])).is_consistent()


@pytest.mark.parametrize("length", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e4])
def test_consistency_does_not_depend_on_the_units_of_mass_and_length(mass, length):
    """A violation of the triangle inequality by 1 % is found, a flat plate and a point mass pass, near and far away."""
    for away in (0.0, 1.0, 1e3):
        com = away * length * np.array([0.6, -0.3, 0.7])
        for moments, consistent in ((1.0, 1.0, 2.0), True), ((1.0, 1.0, 2.02), False), ((0.0, 0.0, 0.0), True):
            body = Inertia.about_com(mass, com, mass * length**2 * np.diag(moments))
            assert body.is_consistent() is consistent


@pytest.mark.parametrize(("excess", "consistent"), [(5e-10, True), (1e-8, False)])
def test_the_triangle_inequality_may_be_violated_by_rounding_only(excess, consistent):
    assert Inertia.about_com(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.0 * (1.0 + excess)])).is_consistent() is consistent


def test_the_nearest_consistent_inertia_is_consistent_and_keeps_mass_and_centre():
    rng = np.random.default_rng(4)
    for _ in range(50):
        A = rng.standard_normal((3, 3))
        wrong = Inertia.about_com(rng.uniform(0.1, 5.0), rng.uniform(-1, 1, 3), A + A.T)
        right = wrong.nearest_consistent()
        assert right.is_consistent(0.0 if np.linalg.eigvalsh(right.pseudo_inertia)[0] > 0 else 1e-12)
        assert right.mass == wrong.mass
        assert right.com == pytest.approx(wrong.com)
    flat = Inertia.about_com(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])).nearest_consistent()
    second = np.linalg.eigvalsh(flat.pseudo_inertia[:3, :3])
    assert second[0] == pytest.approx(1e-6 * second[-1], rel=1e-6)  # no more is added than the margin
    good = random_inertia(rng)
    assert relative_error(good.nearest_consistent().matrix(), good.matrix()) < 1e-12


def test_poses_move_twists_and_wrenches_so_that_power_stays():
    rng = np.random.default_rng(5)
    X, V, W = random_pose(rng), rng.standard_normal(6), rng.standard_normal(6)
    assert X.twist_outward(V) @ X.wrench_outward(W) == pytest.approx(V @ W)
    assert relative_error(X.twist_inward(X.twist_outward(V)), V) < 1e-14
    assert relative_error(X.wrench_inward(X.wrench_outward(W)), W) < 1e-14
    assert relative_error(X.Ad() @ V, X.twist_outward(V)) < 1e-15
    assert relative_error((X @ X.inverse()).matrix(), np.eye(4)) < 1e-15
    assert motion_cross(V, V) == pytest.approx(np.zeros(6))
    U = rng.standard_normal(6)
    assert motion_cross(V, U) @ W == pytest.approx(-(U @ force_cross(V, W)))
    assert skew(V[:3]) @ U[:3] == pytest.approx(np.cross(V[:3], U[:3]))


def test_a_mesh_box_weighs_like_a_box():
    import trimesh

    surface = trimesh.creation.box((1.0, 0.6, 0.4))
    assert relative_error(dy.mesh_inertia(surface, mass=2.0).tensor, solids.box(1.0, 0.6, 0.4, mass=2.0).tensor) < 1e-12
    surface.apply_translation((1.0, 2.0, 3.0))
    moved = solids.box(0.5, 0.3, 0.2, density=100.0).seen_from(Pose.translation([0.5, 1.0, 1.5]))
    assert relative_error(dy.mesh_inertia(surface, density=100.0, scale=0.5).matrix(), moved.matrix()) < 1e-12


def test_a_collada_mesh_weighs_in_the_unit_that_its_file_states(tmp_path):
    (tmp_path / "tetrahedron.dae").write_text(TETRAHEDRON)
    edge, corner = 2 * 0.0254, 0.0254 * np.array([10.0, 20.0, 30.0])
    inertia = dy.mesh_inertia(tmp_path / "tetrahedron.dae", density=1000.0, scale=0.5)
    assert inertia.mass == pytest.approx(1000.0 * (0.5 * edge) ** 3 / 6.0)
    assert inertia.com == pytest.approx(0.5 * (corner + edge / 4.0))


def test_only_a_pose_of_numbers_without_displacement_is_the_identity():
    turned = Pose.rotation(np.eye(3)[[1, 2, 0]])
    for array in Pose.identity():  # it is shared
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert all(
        pose.is_identity() for pose in (Pose.identity(), Pose.translation([0.0, 0.0, 0.0]), Pose(np.eye(3), np.zeros(3)))
    )
    displaced = Pose.translation([0.0, 1e-9, 0.0]), Pose(np.eye(3), np.array([0.0, 0.0, 1.0])), turned
    symbolic = (
        Pose.translation([symbol("l"), 0.0, 0.0]),
        Pose.rotation(np.eye(3).astype(object)),
        Pose.translation(np.array([0.0] * 3, object)),
    )
    assert not any(pose.is_identity() for pose in (*displaced, *symbolic))


@pytest.mark.parametrize(
    "given",
    [{}, {"mass": 1.0, "density": 1.0}, {"mass": 0.0}, {"density": -1.0}, {"mass": np.inf}, {"density": np.nan}, {"mass": "1"},
     {"mass": 1.0, "scale": 0.0}, {"mass": 1.0, "scale": -1.0}],
)  # fmt: skip
def test_an_impossible_mass_density_or_scale_of_a_mesh_is_refused(given):
    import trimesh

    with pytest.raises(dy.InputError, match=r"must be a finite positive number|exactly one of"):
        dy.mesh_inertia(trimesh.creation.box((1.0, 1.0, 1.0)), **given)


def test_a_mesh_weighs_the_same_from_a_file_and_with_its_faces_inside_out(tmp_path):
    import trimesh

    surface = trimesh.creation.box((1.0, 0.6, 0.4))
    path = tmp_path / "box.stl"
    surface.export(path)
    expected = solids.box(1.0, 0.6, 0.4, density=10.0).matrix()
    surface.invert()
    for source in (surface, path, str(path)):
        assert relative_error(dy.mesh_inertia(source, density=10.0).matrix(), expected) < 1e-7  # STL is single precision
    assert surface.volume < 0.0  # the caller's mesh is not changed
    with pytest.raises(dy.InputError, match="cannot be read"):
        dy.mesh_inertia(tmp_path / "missing.stl", density=10.0)
    (tmp_path / "zip.dae").write_bytes(b"PK\x03\x04")
    with pytest.raises(dy.InputError, match="compressed archive"):
        dy.mesh_inertia(tmp_path / "zip.dae", density=10.0)


def test_an_open_mesh_is_refused(tmp_path):
    import trimesh

    surface = trimesh.creation.box((1.0, 1.0, 1.0))
    surface.update_faces(np.arange(len(surface.faces)) > 1)
    path = tmp_path / "open.stl"
    surface.export(path)
    with pytest.raises(dy.InputError, match="watertight"):
        dy.mesh_inertia(path, mass=1.0)


def test_the_consistency_of_a_symbolic_inertia_is_not_decided():
    m = symbol("m")
    with pytest.raises(dy.InputError, match="symbolic inertia"):
        Inertia.about_com(m, np.zeros(3), m * np.eye(3)).is_consistent()


def test_a_body_without_mass_has_no_inertia_either():
    assert Inertia.zero().is_consistent()
    assert not Inertia(0.0, np.zeros(3), np.diag([1.0, 1.0, 1.0])).is_consistent()
    assert not Inertia(0.0, np.array([1.0, 0.0, 0.0]), np.zeros((3, 3))).is_consistent()
    assert Inertia(0.0, np.zeros(3), np.diag([1.0, 1.0, 1.0])).nearest_consistent().is_consistent()


@pytest.mark.parametrize(("module", "package"), [("trimesh", "trimesh"), ("collada", "pycollada")])
def test_without_a_reader_of_meshes_the_error_names_what_to_install(module, package, tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else find(name))
    with pytest.raises(dy.MissingExtraError, match=f"{package} is not installed: pip install trimesh pycollada"):
        dy.mesh_inertia(tmp_path / "box.dae", mass=1.0)


@pytest.mark.parametrize(("missing", "named"), [("lxml.etree", "lxml"), (None, "trimesh")])
def test_a_package_that_a_reader_of_meshes_lacks_is_named(missing, named, tmp_path, monkeypatch):
    def lacks(*_, **__):
        raise ModuleNotFoundError("missing", name=missing)

    monkeypatch.setattr("dynamis.spatial.mesh.load_mesh", lacks)
    (tmp_path / "box.stl").write_text("solid box")
    with pytest.raises(dy.MissingExtraError, match=f"{named} is not installed"):
        dy.mesh_inertia(tmp_path / "box.stl", mass=1.0)


def test_inertias_are_equal_if_their_numbers_are():
    one, same, other = (solids.sphere(0.1, mass=m) for m in (2.0, 2.0, 2.5))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != 2.0
    a, b = (Inertia.about_com(symbol("m"), (0.0, 0.0, symbol("l")), np.zeros((3, 3))) for _ in range(2))
    assert a == b
    assert a != one


def test_lists_of_an_inertia_become_arrays_and_what_is_no_inertia_is_refused():
    one, other = Inertia(1.0, [0, 0, 0.5], np.eye(3).tolist()), Inertia(1.0, np.array([0, 0, 0.5]), np.eye(3))
    assert one == other
    assert (one + other).seen_from(Pose.translation([1.0, 0, 0])).is_consistent()
    assert Inertia(1.0, [0, 0, symbol("c")], np.eye(3)).first_moment.dtype == object
    for wrong, message in (
        (lambda: Inertia([1.0], np.zeros(3), np.eye(3)), "mass of an Inertia must be a number, got list"),
        (lambda: Inertia.about_com("1", np.zeros(3), np.eye(3)), "mass of an Inertia must be a number, got str"),
        (lambda: Inertia(1.0, [0.0, 1.0], np.eye(3)), r"first_moment of an Inertia has shape \(2,\)"),
        (lambda: Inertia(1.0, np.zeros(3), [1.0, 2.0, 3.0]), r"tensor of an Inertia has shape \(3,\)"),
        (lambda: Inertia.about_com(1.0, [0.0], np.eye(3)), r"com of an Inertia has shape \(1,\)"),
        (lambda: Inertia.from_parameters([1.0, 2.0]), r"parameters of an Inertia has shape \(2,\)"),
    ):
        with pytest.raises(dy.InputError, match=message):
            wrong()


def test_a_link_takes_an_inertia_as_its_mass_properties():
    d = dy.load("ur5e").description
    ball = solids.sphere(0.1, mass=2.0).seen_from(Pose.translation([0.0, 0.1, 0.0]))
    d.link("forearm_link").mass_properties = ball
    assert dy.check(d).ok
    assert dy.Robot(d).mass == pytest.approx(dy.load("ur5e").replace(inertias={"forearm_link": ball}).mass)
    d.link("forearm_link").mass_properties = 3.0
    with pytest.raises(dy.ModelError, match=r"mass_properties is 3\.0; allowed: MassProperties, an Inertia, or None"):
        dy.Robot(d)
    with pytest.raises(dy.InputError, match=r"inertia= takes a dynamis\.Inertia"):
        dy.Description("x").add_link("base", inertia=3.0)
    with pytest.raises(dy.InputError, match=r"a joint has no mass=.*inertia= holds the mass"):
        dy.Description("x").add_link("base").add_link("bob", "base", "revolute", mass=1.0)
