"""Whose code it is: what differs in anything has a place of its own in the cache, what is equal is found again."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot

import dynamis as dy
from dynamis.compiler.kernel import Kernel, source_digest, wait_for_compiler
from dynamis.model.description import Drive

X = np.random.default_rng(0).uniform(-2, 2, (7, 3))


def law(x):
    return np.array([x[0] * x[1] + x[2], x[0] - x[1], x[1] / 7.0, x[0] / (x[1] * x[1] + 1.0)])


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty cache folder in use, with both codes compiled."""
    monkeypatch.delenv("DYNAMIS_NO_CACHE", raising=False)
    monkeypatch.delenv("DYNAMIS_TIER", raising=False)
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path / "cache"))


def stored(kernel, *values):
    """The result, and whether it came from disk."""
    result = kernel(*values)
    assert wait_for_compiler(300.0)
    precision = "float" if all(v.dtype == np.float32 for v in values) else "double"
    return result, len(kernel.compiled(precision).loaded) == 1


def test_code_from_disk_has_the_same_bits_in_both_precisions(folder):
    for dtype in (np.float64, np.float32):
        x = X.astype(dtype)
        first, loaded = stored(Kernel([law], [("x", 3)], "law"), x)
        assert not loaded
        again, loaded = stored(Kernel([law], [("x", 3)], "law"), x)
        assert loaded
        assert again.dtype == dtype
        assert np.array_equal(first, again)


def test_laws_that_differ_in_anything_do_not_share_code(folder):
    laws = {
        "law": law,
        "other constant": lambda x: law(x) + 1e-15,
        "other sign of zero": lambda x: np.concatenate([law(x)[:3], [np.arctan2(x[0], -0.0)]]),
        "zero": lambda x: np.concatenate([law(x)[:3], [np.arctan2(x[0], 0.0)]]),
        "other order of results": lambda x: law(x)[::-1],
        "other shape": lambda x: law(x).reshape(2, 2),
        "two results": lambda x: (law(x)[:2], law(x)[2:]),
        "other operation": lambda x: np.array([x[0] * x[1] - x[2], *law(x)[1:]]),
    }
    for name, function in laws.items():
        result, loaded = stored(Kernel([function], [("x", 3)], "same name"), X)
        assert not loaded, name
        again, loaded = stored(Kernel([function], [("x", 3)], "same name"), X)
        assert loaded, name
        assert all(np.array_equal(a, b) for a, b in zip(np.atleast_1d(result), np.atleast_1d(again), strict=True)), name


EDITS = {
    "gravity": lambda d: setattr(d, "gravity", d.gravity + 1e-9),
    "mass": lambda d: setattr(d.links[1].mass_properties, "mass", d.links[1].mass_properties.mass * (1 + 1e-12)),
    "centre of mass": lambda d: setattr(d.links[1].mass_properties, "com", d.links[1].mass_properties.com + 1e-9),
    "tensor": lambda d: setattr(d.links[1].mass_properties, "tensor", d.links[1].mass_properties.tensor * (1 + 1e-9)),
    "place of a joint": lambda d: setattr(d.joints[0], "origin", d.joints[0].origin @ dy.Pose.translation([0, 0, 1e-9])),
    "axis": lambda d: setattr(d.joints[0], "axis", d.joints[0].axis + 1e-7 * np.arange(3.0)),
    "pitch": lambda d: setattr(d.joints[1], "pitch", d.joints[1].pitch + 1e-9),
    "tail": lambda d: setattr(d.joints[1], "tail", d.joints[1].tail @ dy.Pose.translation([1e-9, 0, 0])),
    "a frame's place": lambda d: setattr(d.joint("tool_joint"), "origin", dy.Pose.translation([0, 0, 1e-9])),
    "ratio of a follower": lambda d: setattr(d.joints[2].mimic, "ratio", -1.3000001),
    "offset of a follower": lambda d: setattr(d.joints[2].mimic, "offset", 0.4000001),
    "leader of a follower": lambda d: setattr(d.joints[2].mimic, "joint", "joint2"),
    "kind of a joint": lambda d: setattr(d.joints[0], "type", "prismatic"),
    **{
        field: lambda d, field=field: setattr(d.joints[0].drive, field, getattr(d.joints[0].drive, field) + 1e-7)
        for field in ("viscous", "coulomb", "coulomb_bias", "rotor_inertia", "gear_ratio", "stiffness", "rest")
    },
}


@pytest.fixture
def key(monkeypatch):
    """key(robot, function): where a compiled function of a robot without others would be kept; nothing is compiled."""

    def find(robot, function):
        with monkeypatch.context() as patch:
            patch.setattr(Kernel, "__call__", lambda *_: np.zeros(1))
            function(robot)
        (kernel,) = robot.evaluator.kernels.values()
        return kernel._key("double")

    return find


def at_rest(robot):
    return robot.neutral(), np.zeros(robot.n), np.zeros(robot.n)


@pytest.mark.parametrize("edit", EDITS)
def test_a_robot_that_differs_in_one_number_has_its_own_code(key, edit):
    """Torques and poses together see every number of a robot; where a key is the same, so must be the result."""
    q, v, a = (np.linspace(0.3, 0.8, 2) * k for k in (1.0, 1.1, 1.2))
    functions = [lambda r: r.inverse_dynamics(q, v, a), lambda r: r.pose(q, "tool")]
    description = zoo_robot("screws").description
    description.joints[2].drive = Drive()  # a spring on the follower would tell its offset by another number
    original = dy.Robot(description)

    def keys():
        return [key(dy.Robot(description), f) for f in functions]

    before = keys()
    assert keys() == before
    EDITS[edit](description)
    after = keys()
    assert before != after
    for one, two, function in zip(before, after, functions, strict=True):
        assert one != two or np.array_equal(function(original), function(dy.Robot(description)))


def test_code_of_a_changed_package_is_not_found(monkeypatch):
    kernel = Kernel([law], [("x", 3)], "law")
    before, digest = kernel._key("double"), source_digest()
    monkeypatch.setattr("dynamis.compiler.kernel.source_digest", lambda: "of another version")
    assert kernel._key("double") != before
    assert source_digest.__wrapped__() == digest
    read_bytes = Path.read_bytes
    for changed in ("algorithms/newton_euler.py", "compiler/llvm_body.py", "spatial/pose.py"):
        monkeypatch.setattr(
            Path, "read_bytes", lambda path, end=changed: read_bytes(path) + b"#" * path.as_posix().endswith(end)
        )
        assert source_digest.__wrapped__() != digest, changed


def test_functions_and_robots_do_not_share_code(key):
    functions = {
        "id": lambda r: r.inverse_dynamics(*at_rest(r)),
        "id, wrench": lambda r: r.inverse_dynamics(*at_rest(r), {"tool": np.zeros(6)}),
        "id, wrench in local axes": lambda r: r.inverse_dynamics(*at_rest(r), {"tool": np.zeros(6)}, axes="local"),
        "id, other frame": lambda r: r.inverse_dynamics(*at_rest(r), {"belt": np.zeros(6)}),
        "id, two frames": lambda r: r.inverse_dynamics(*at_rest(r), {"belt": np.zeros(6), "tool": np.zeros(6)}),
        "id, two frames the other way": lambda r: r.inverse_dynamics(*at_rest(r), {"tool": np.zeros(6), "belt": np.zeros(6)}),
        "fd": lambda r: r.forward_dynamics(*at_rest(r)),
        "pose": lambda r: r.pose(r.neutral(), "tool"),
        "pose of another frame": lambda r: r.pose(r.neutral(), "belt"),
        "jacobian": lambda r: r.jacobian(r.neutral(), "tool"),
        "jacobian in local axes": lambda r: r.jacobian(r.neutral(), "tool", axes="local"),
        "rpy": lambda r: r.analytic_jacobian(r.neutral(), "tool", orientation="rpy"),
        "xyz": lambda r: r.analytic_jacobian(r.neutral(), "tool", orientation="xyz"),
        "static": lambda r: r.static_torque(r.neutral()),
        "gravity": lambda r: r.gravity(r.neutral()),
    }
    keys = {(name, what): key(dy.Robot(zoo_robot(name).description), f) for name in NAMES[:2] for what, f in functions.items()}
    for (a, one), (b, two) in itertools.combinations(keys.items(), 2):
        assert one != two, (a, b)


def test_an_identity_saves_the_tracing(folder):
    arm, calls = dy.load("planar_2r_melchiorri"), []

    def law(robot, q, v):
        calls.append(1)
        return robot.gravity(q) - 3.0 * v

    q, v = np.ones((5, 2)), np.full((5, 2), 2.0)
    first, loaded = stored(arm.compile(law, identity="a law"), q, v)
    assert not loaded
    traced = len(calls)
    again, loaded = stored(arm.compile(law, identity="a law"), q, v)
    assert loaded
    assert len(calls) == traced
    assert np.array_equal(first, again)
    _, loaded = stored(arm.replace(gravity=[0.0, -1.0, 0.0]).compile(law, identity="a law"), q, v)
    assert not loaded


def test_an_identity_does_not_confuse_the_order_of_parameters(folder):
    m, g = dy.symbol("m"), dy.symbol("g_")
    arm = dy.load("planar_2r_melchiorri").replace(payload=dy.solids.sphere(0.05, mass=m), gravity=[0.0, -1.0 * g, 0.0])
    expected, _ = stored(arm.compile("gravity", parameters=[m, g], identity="same"), np.zeros(2), np.array([2.0, 9.0]))
    found, loaded = stored(arm.compile("gravity", parameters=[g, m], identity="same"), np.zeros(2), np.array([9.0, 2.0]))
    assert not loaded
    assert np.allclose(found, expected)


def two_pendulums(limits):
    """Two links side by side that hang from a base; where one may not move, not all of its weight shows."""
    rod = dy.solids.rod(1.0, mass=2.0).seen_from(dy.Pose.translation([0.1, 0.0, -0.5]))
    d = dy.Description("two pendulums", gravity=np.array([0.0, 0.0, -9.81])).add_link("base")
    for k, (low, high) in enumerate(limits):
        d.add_link(f"link{k}", "base", "revolute", axis=(0, 1, 0), inertia=rod)
        d.joints[-1].limits.lower, d.joints[-1].limits.upper = low, high
    return dy.Robot(d)


@pytest.mark.filterwarnings("ignore:.*position limits are 0")
def test_equations_of_robots_that_differ_in_their_limits_alone_is_right_for_each(folder):
    """Limits are not part of the name of compiled code, so nothing that depends on them may be in the code."""
    q, v, a = np.random.default_rng(0).normal(size=(3, 300, 2))
    for ends in (((0.0, 0.0), (-3.0, 3.0)), ((-3.0, 3.0), (0.0, 0.0))):
        robot = two_pendulums(ends)
        base = dy.identification.base_parameters(robot)
        samples = dy.identification.Samples.of(q, v, a, robot.inverse_dynamics(q, v, a))
        rows = dy.identification.equations(base, samples)
        for k, factor in enumerate(rows.whole.R[0]):
            A = np.column_stack([rows.X, rows.y])[rows.joint == k]
            assert np.allclose(factor.T @ factor, A.T @ A, atol=1e-9 * np.abs(A.T @ A).max())
        assert wait_for_compiler(300.0)


def test_regressors_from_disk_are_those_that_are_traced(folder, monkeypatch):
    from dynamis.identification import Column, LinearModel

    robot = dy.load("planar_2r_melchiorri")
    q, v, a = np.random.default_rng(0).normal(size=(3, 4, 2))
    stribeck = ("viscous", "stribeck")
    models = [
        {}, {"friction": ("viscous", "coulomb", "quadratic")}, {"smooth": 0.05}, {"smooth": 0.06}, {"offset": True},
        {"rotor": False}, {"friction": stribeck, "stribeck_speed": 0.1}, {"friction": stribeck, "stribeck_speed": 0.2},
        {"presliding": 0.01}, {"friction": ("load",)}, {"friction": ("viscous_temperature",), "reference_temperature": 30.0},
        {"friction": ("load", "coulomb_temperature"), "reference_temperature": 30.0},
        {"columns": [Column("own", lambda robot, q, v, a: v**3)]},
        {"columns": [Column("own", lambda robot, q, v, a: v**5)]},
    ]  # fmt: skip

    def regressors():
        made = [LinearModel(robot, **settings) for settings in models]
        found = [model.regressor(q, v, a, np.full((4, model.state_size), 0.5)) for model in made]
        assert wait_for_compiler(300.0)
        return found

    found, again = regressors(), regressors()
    monkeypatch.setenv("DYNAMIS_NO_CACHE", "1")
    for settings, one, two, traced in zip(models, found, again, regressors(), strict=True):
        assert np.array_equal(one, traced), settings
        assert np.array_equal(two, traced), settings
