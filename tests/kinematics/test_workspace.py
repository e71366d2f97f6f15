"""Workspaces: known areas and volumes, slices that lie in their plane, colours that are what they say."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dynamis as dy
from dynamis.analysis.eigenvalues import eigenvalue_plot
from dynamis.kinematics.manipulability import condition_number, operational_eigenvalues
from dynamis.kinematics.state_measures import Measure, least_stiffness, payload_capacity, payload_note
from dynamis.kinematics.workspace import workspace_slice
from dynamis.statics import static_torques, stiffness_map


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r_melchiorri")


@pytest.fixture(scope="module")
def ur5e():
    return dy.load("ur5e")


def polar_arm(radius):
    """A turning joint and a sliding one: its end fills a disc."""
    d = dy.Description("rod").add_link("base")
    inertia = dy.Inertia.about_com(1.0, np.zeros(3), np.eye(3))
    d.add_link("fork", "base", "revolute", axis=(0, 0, 1), inertia=inertia)
    d.add_link("rod", "fork", "prismatic", axis=(1, 0, 0), inertia=inertia)
    d.joints[-1].limits.lower, d.joints[-1].limits.upper = 0.0, radius
    return dy.Robot(d)


def test_a_disc_has_its_area_and_reach(arm):
    cloud = dy.workspace(arm)
    assert cloud.dimension == 2
    assert cloud.volume == pytest.approx(4 * np.pi, rel=0.005)
    assert cloud.volume <= 4 * np.pi
    assert cloud.reach == pytest.approx(2.0, abs=1e-3)
    assert cloud.nearest < 0.02
    np.testing.assert_allclose(cloud.points, arm.pose(cloud.q)[:, :3, 3], atol=1e-12)


def test_limits_of_joints_cut_the_workspace(arm):
    cloud = dy.workspace(arm, lower=[0, np.pi / 2], upper=[np.pi / 2, np.pi])
    # a quarter of the disc of radius √2, turned as joint 2 goes
    assert cloud.volume == pytest.approx(np.pi / 2, rel=0.03)
    assert cloud.reach == pytest.approx(np.sqrt(2), rel=1e-3)


def test_a_polar_arm_fills_a_disc_and_a_cartesian_one_a_box():
    assert dy.workspace(polar_arm(0.7)).volume == pytest.approx(np.pi * 0.49, rel=0.03)
    d = dy.Description("gantry").add_link("base")
    inertia = dy.Inertia.about_com(1.0, np.zeros(3), np.eye(3))
    for k, (axis, length) in enumerate((((1, 0, 0), 1.0), ((0, 1, 0), 2.0), ((0, 0, 1), 0.5))):
        d.add_link(f"slide{k}", "base" if k == 0 else f"slide{k - 1}", "prismatic", axis=axis, inertia=inertia)
        d.joints[-1].limits.lower, d.joints[-1].limits.upper = 0.0, length
    cloud = dy.workspace(dy.Robot(d))
    assert cloud.dimension == 3
    assert cloud.volume == pytest.approx(1.0, rel=0.03)
    np.testing.assert_allclose(cloud.box[1], [1.0, 2.0, 0.5], rtol=1e-3)


@pytest.mark.parametrize("inner", [0.0, 0.5])
def test_a_spherical_arm_fills_a_ball_or_a_shell(inner):
    d = dy.Description("ball").add_link("base")
    inertia = dy.Inertia.about_com(1.0, np.zeros(3), np.eye(3))
    d.add_link("pan", "base", "revolute", axis=(0, 0, 1), inertia=inertia)
    d.add_link("tilt", "pan", "revolute", axis=(0, 1, 0), inertia=inertia)
    d.add_link("boom", "tilt", "prismatic", axis=(1, 0, 0), inertia=inertia)
    d.joints[-1].limits.lower, d.joints[-1].limits.upper = inner, 1.0
    cloud, exact = dy.workspace(dy.Robot(d)), 4 / 3 * np.pi * (1.0 - inner**3)
    assert cloud.volume == pytest.approx(exact, rel=0.025)
    assert abs(cloud.volume - exact) < cloud.volume_error < 0.06 * exact
    assert f"volume {cloud.volume:.3g} ± {cloud.volume_error:.1g} m³" in cloud.summary()
    few = dy.workspace(dy.Robot(d), samples=10_000)
    assert few.volume <= exact
    assert abs(few.volume - exact) < few.volume_error


def test_a_tilted_plane_is_still_a_plane(arm):
    d = arm.description
    c, s = np.cos(0.7), np.sin(0.7)
    d.joints[0].origin = type(d.joints[0].origin)(np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), np.zeros(3))
    cloud = dy.workspace(dy.Robot(d))
    assert cloud.dimension == 2
    assert cloud.volume == pytest.approx(4 * np.pi, rel=0.02)


def test_the_same_seed_gives_the_same_cloud_and_progress_is_told(ur5e):
    told = []
    one = dy.workspace(ur5e, samples=50_000, seed=3, progress=lambda x, text: told.append((x, text)))
    np.testing.assert_array_equal(one.points, dy.workspace(ur5e, samples=50_000, seed=3).points)
    assert [x for x, _ in told] == sorted(x for x, _ in told)
    assert told[-1][0] == 1.0
    assert len(told) == 3
    limits = ur5e.limits
    assert (one.q >= limits["lower"]).all()
    assert (one.q <= limits["upper"]).all()
    assert "moves in space" in one.summary()


@pytest.mark.parametrize("plane", ["xy", "xz", "yz"])
def test_slices_lie_in_their_plane_and_within_limits(ur5e, plane):
    found = workspace_slice(ur5e, plane=plane, level=0.1, samples=4000)
    third = next(k for k, c in enumerate("xyz") if c not in plane)
    p = ur5e.pose(found.q)[:, :3, 3]
    assert np.abs(p[:, third] - 0.1).max() < 1e-8
    np.testing.assert_allclose(found.points, p[:, ["xyz".index(c) for c in plane]], atol=1e-12)
    assert (found.q <= ur5e.limits["upper"] + 1e-12).all()
    assert len(found.points) > 1500


def test_colours_are_what_they_say(ur5e):
    some = {"samples": 400, "seed": 2}
    found = {
        name: workspace_slice(ur5e, name, **some)
        for name in ("manipulability", "force", "dynamic", "condition", "inertia", "effective_mass")
    }
    q = found["condition"].q
    np.testing.assert_allclose(found["condition"].values, condition_number(ur5e, q))
    np.testing.assert_allclose(found["manipulability"].values, dy.manipulability(ur5e, q))
    assert [found[name].measure.unit for name in ("manipulability", "force", "condition")] == ["m³", "m⁻³", ""]
    np.testing.assert_allclose(found["force"].values, dy.manipulability(ur5e, q, kind="force"))
    np.testing.assert_allclose(found["dynamic"].values, dy.manipulability(ur5e, q, kind="dynamic"))
    np.testing.assert_allclose(found["inertia"].values, np.linalg.eigvalsh(ur5e.mass_matrix(q))[:, -1])
    np.testing.assert_allclose(found["effective_mass"].values, operational_eigenvalues(ur5e, q)[:, -1])
    soft = workspace_slice(ur5e, "stiffness", joint_stiffness=1e4, **some)
    np.testing.assert_allclose(soft.values, least_stiffness(ur5e, q, joint_stiffness=1e4))
    np.testing.assert_allclose(workspace_slice(ur5e, "payload", **some).values, payload_capacity(ur5e, q))


def test_a_map_says_which_limits_count_and_where_its_colours_are_clipped(ur5e):
    pytest.importorskip("matplotlib", reason="needs Matplotlib: pip install matplotlib")
    axes = workspace_slice(ur5e, "payload", samples=2000).plot()
    label = axes.figure.axes[-1].get_ylabel().replace("\n", " ")
    assert label.startswith("static payload, joint torque limits only [kg]")
    caption = axes.figure.get_supxlabel()
    assert "colours are clipped above" in caption
    assert "largest value" in caption
    assert "white: cells that no sampled configuration reaches" in caption


def test_cells_whose_values_are_zero_or_infinite_are_coloured(ur5e):
    pytest.importorskip("matplotlib", reason="needs Matplotlib: pip install matplotlib")
    found = stiffness_map(ur5e, 1e4, samples=3000)
    away = np.abs(found.points - found.points[0]).max(axis=1)
    for value, pick, near in ((0.0, "worst", 1e-9), (np.inf, "mean", 0.2)):
        changed = dataclasses.replace(found, values=np.where(away < near, value, found.values))
        drawn = changed.plot(pick=pick).figure.axes[0].collections[0].get_array()
        empty = np.isnan(found.grid(24)[2]).sum()
        assert np.ma.masked_invalid(drawn).mask.sum() <= empty
        assert drawn.min() > 0.0


def test_a_payload_near_a_singularity_is_noted_as_carried_by_the_structure(ur5e):
    some = ur5e.random(0, 200)
    upright = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0])  # stretched along gravity: no joint carries the load
    assert "bearings and links carry the load" in payload_note(ur5e, upright, some)
    level = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert payload_note(ur5e, level, some) == ""
    found = workspace_slice(ur5e, "payload", samples=2000)
    assert found.note in found.summary()
    assert found.as_dict()["note"] == (found.note or None)


def test_payload_is_just_what_the_motors_can_hold(ur5e):
    for q in ur5e.random(4, 30):
        m = float(payload_capacity(ur5e, q))
        used = [static_torques(ur5e, q, (0, 0, -9.81 * m * share)).used.max() for share in (1.0, 1.001)]
        assert used[0] == pytest.approx(1.0, abs=1e-9)
        assert used[1] > 1.0
    assert payload_capacity(ur5e, np.zeros(6), torque_limits=1.0) == 0.0


def test_a_grid_has_the_best_the_worst_and_the_mean(arm):
    measure = Measure("x", "first coordinate", "m", lambda robot, q, frame, rows: robot.pose(q, frame)[:, 0, 3])
    found = workspace_slice(arm, measure, samples=20_000)
    x, _, best = found.grid(20, "best")
    _, _, worst = found.grid(20, "worst")
    _, _, mean = found.grid(20, "mean")
    there = np.isfinite(mean)
    assert (worst[there] <= mean[there] + 1e-12).all()
    assert (mean[there] <= best[there] + 1e-12).all()
    # the measure is the place itself, so it lies between the edges of its cell
    for i in range(len(x) - 1):
        row = np.concatenate([best[i][there[i]], worst[i][there[i]]])
        assert ((row >= x[i] - 1e-9) & (row <= x[i + 1] + 1e-9)).all()
    assert found.best[0] == pytest.approx(2.0, abs=1e-2)


def test_pictures_are_drawn(arm, ur5e, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    dy.workspace(arm, samples=3000).plot(tmp_path / "a.png")
    dy.workspace(ur5e, samples=3000).plot(tmp_path / "b.png")
    for name, pick in (("manipulability", "best"), ("condition", "worst"), ("effective_mass", "mean")):
        workspace_slice(arm, name, samples=3000).plot(tmp_path / f"{name}.svg", pick=pick)
    assert min(path.stat().st_size for path in tmp_path.iterdir()) > 5000


def test_eigenvalues_of_lambda_are_drawn_beside_those_of_m(arm):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    (axes,) = eigenvalue_plot(arm, "joint2", points=31, of="Λ")
    assert axes.get_ylabel() == "eigenvalues of Λ [kg]"
    x = axes.lines[0].get_xdata()
    expected = operational_eigenvalues(arm, np.column_stack([0 * x, x]))
    drawn = np.column_stack([line.get_ydata() for line in axes.lines])[:, ::-1]
    np.testing.assert_allclose(drawn, expected)
    (surfaces,) = eigenvalue_plot(arm, ["joint1", "joint2"], points=9, of="Λ")
    assert len(surfaces.collections) == 2
    with pytest.raises(dy.InputError, match="'M' or 'Λ'"):
        eigenvalue_plot(arm, of="N")


@pytest.mark.parametrize(
    ("call", "words"),
    [(lambda a: dy.workspace(a, samples=0), "samples"), (lambda a: dy.workspace(a, samples=2.5), "samples"),
     (lambda a: dy.workspace(a, "link7"), "link"), (lambda a: dy.workspace(dy.load("planar_2r")), "without values"),
     (lambda a: dy.workspace(a, lower=1, upper=0), "empty"), (lambda a: dy.workspace(a, seed="x"), "seed"),
     (lambda a: workspace_slice(a, "colour"), "measure"), (lambda a: workspace_slice(a, plane="zx"), "plane"),
     (lambda a: workspace_slice(a, "stiffness"), "joint_stiffness"), (lambda a: workspace_slice(a, "payload"), "torque_limits"),
     (lambda a: workspace_slice(a, level=3.0, samples=50), "no configuration"), (lambda a: workspace_slice(a, level=np.nan), "level"),
     (lambda a: workspace_slice(a, samples=50).grid(pick="any"), "pick"), (lambda a: workspace_slice(a, speed=1), "no option"),
     (lambda a: dy.workspace(dy.load("scara").replace()), "limits")],
)  # fmt: skip
def test_bad_questions_are_refused(arm, call, words):
    if words == "limits":
        d = dy.load("cartesian_2p", parameters={"m_1": 1.0, "m_2": 1.0, "g": 9.81})
        call = lambda _: dy.workspace(d)  # noqa: E731
    with pytest.raises(dy.DynamisError, match=words):
        call(arm)


def bent_chain(tilt, *axes):
    """Turning joints one metre apart about these axes, all tilted by a rotation vector; its tip is one metre further."""
    d = dy.Description("bent").add_link("base")
    inertia = dy.Inertia.about_com(1.0, np.zeros(3), np.eye(3))
    far, first = dy.Pose(np.eye(3), np.array([1.0, 0.0, 0.0])), dy.Pose(Rotation.from_rotvec(tilt).as_matrix(), np.zeros(3))
    for k, axis in enumerate(axes):
        parent, origin = ("base", first) if k == 0 else (f"l{k - 1}", far)
        d.add_link(f"l{k}", parent, "revolute", axis=axis, inertia=inertia, origin=origin)
    return dy.Robot(d.add_link("tip", f"l{len(axes) - 1}", origin=far))


@pytest.mark.parametrize("tilt", [(0.3, 0.5, 0.2), (0.1, 0.0, 0.0), (1e-4, 2e-4, 0.0), (0.9, -1.1, 0.4)])
def test_a_tilted_planar_arm_stays_planar(tilt):
    cloud = dy.workspace(bent_chain(tilt, (0, 0, 1), (0, 0, 1)), "tip")
    assert cloud.dimension == 2
    assert cloud.volume == pytest.approx(4 * np.pi, rel=0.03)


def test_curves_have_no_area_and_surfaces_no_volume():
    circle = dy.workspace(bent_chain((0.3, 0.5, 0.2), (0, 0, 1)), "tip", samples=2000)
    assert (circle.dimension, circle.volume) == (2, 0.0)
    assert "a curve" in circle.summary()
    torus = dy.workspace(bent_chain((0, 0, 0), (0, 0, 1), (0, 1, 0)), "tip", samples=2000)
    assert (torus.dimension, torus.volume) == (3, 0.0)
    assert "a surface" in torus.summary()


def test_a_joint_that_need_hold_nothing_may_have_no_torque(ur5e):
    q = ur5e.random(3, 20)
    limits = ur5e.limits["effort"].copy()
    plain = payload_capacity(ur5e, q, torque_limits=limits)
    limits[0] = 0.0  # about the vertical
    np.testing.assert_allclose(payload_capacity(ur5e, q, torque_limits=limits), plain, rtol=1e-9)
    assert (plain > 0.0).any()


def test_quantiles_count_singular_configurations():
    robot = dy.load("scara")
    condition, w = (workspace_slice(robot, name, samples=2000) for name in ("condition", "manipulability"))
    share = float(np.mean(w.values < 1e-12))
    assert share > 0.0
    assert np.isinf(condition.quantiles([1.0 - 0.5 * share])[0])
    assert w.quantiles([0.5 * share])[0] < 1e-12


def test_the_plane_of_a_planar_arm_is_that_of_its_tool():
    arm = dy.load("planar_2r_melchiorri")
    offset = dy.Robot(arm.with_frame("pen", arm.model.tip, dy.Pose.translation([0.1, 0.0, 0.1])).description)
    found = workspace_slice(offset, frame="pen", samples=500)
    assert (found.plane, len(found.points)) == ("xy", 500)
    assert found.level == pytest.approx(0.1)


def test_the_extent_is_that_of_the_arm_and_not_of_the_samples():
    arm = dy.load("ur5e")
    found = dy.workspace(arm, samples=2000)
    low, high = found.extent
    assert np.allclose([*-low[:2], *high[:2]], found.reach, rtol=1e-6)  # the first joint turns by more than a circle
    assert (low <= found.box[0]).all()
    assert (high >= found.box[1]).all()
    assert found.as_dict()["upper"] == high.tolist()


def test_the_workspace_of_linear_axes_has_an_extent_and_no_reach():
    d = dy.Description("gantry").add_link("base")
    for name, parent, axis in (("x", "base", (1, 0, 0)), ("y", "x", (0, 1, 0)), ("z", "y", (0, 0, 1))):
        d.add_link(name, parent, "prismatic", axis=axis, inertia=dy.solids.sphere(0.1, mass=1.0))
        d.joint(f"{name}_joint").limits.lower, d.joint(f"{name}_joint").limits.upper = 0.0, 2.0
    gantry = dy.workspace(dy.Robot(d), samples=2000)
    assert not gantry.has_reach
    assert "distance from" not in gantry.summary()
    assert "reach" not in repr(gantry)
    assert "z 0 … 2" in gantry.summary()
    assert dy.workspace(polar_arm(1.0), samples=2000).has_reach


def test_the_worst_sample_and_the_quantiles_are_part_of_the_result(ur5e):
    found = workspace_slice(ur5e, "payload", samples=2000)
    value, at, q = found.worst
    assert value == found.values.min()
    assert ur5e.pose(q)[[0, 2], 3] == pytest.approx(at)
    facts = found.as_dict()
    assert facts["worst"]["q"] == q.tolist()
    assert facts["quantiles"]["0.5"] == found.quantiles([0.5])[0]
    assert f"worst {value:.4g} kg at x" in found.summary()
    with pytest.raises(dy.InputError, match=r"pick= belongs to \.plot"):
        workspace_slice(ur5e, "payload", samples=200, pick="worst")


def test_the_payload_of_a_map_is_in_addition_to_that_of_the_robot(ur5e):
    loaded = ur5e.replace(payload=dy.solids.sphere(0.05, mass=2.0))
    found = workspace_slice(loaded, "payload", samples=500)
    assert "in addition to the 2 kg that the robot carries already" in found.summary()
    assert "in addition" not in workspace_slice(ur5e, "payload", samples=500).note
    assert found.values[0] == pytest.approx(max(payload_capacity(ur5e, found.q[0]) - 2.0, 0.0), abs=0.3)


def test_a_measure_that_is_the_same_everywhere_has_a_colour_scale_from_there_on(tmp_path):
    same = Measure("one", "the same everywhere", "", lambda _r, q, _f, _rows: np.ones(len(q)), more_is_better=False)
    axes = workspace_slice(dy.load("planar_2r_melchiorri"), same, samples=500).plot(tmp_path / "same.png")
    bar = next(iter(np.atleast_1d(axes)))
    assert bar.collections[0].norm.vmin == 1.0
    assert bar.collections[0].norm.vmax > 1.0
