"""From base parameters to a robot and its file, and back."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification import Samples
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.estimators.body_space import BodySpace
from dynamis.identification.full_parameters import full_parameters
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.write_back import edit, prove_round_trip, write, write_identified
from dynamis.model.description import Drive, Mimic


@functools.cache
def base_of(name, floating=False):
    return base_parameters(LinearModel(dy.load(name, base="floating" if floating else "fixed")))


def changed(base, seed=0, spread=0.05):
    """Base parameters of another robot that can exist."""
    rng = np.random.default_rng(seed)
    wanted = base.prior * (1.0 + spread * rng.normal(size=base.rank))
    return base.values(full_parameters(base, wanted, infeasible="nearest"))


@pytest.mark.parametrize("name", ["ur5e", "panda", "go2", "planar_2r_melchiorri"])
def test_the_file_has_the_torques_that_were_identified(name, tmp_path):
    base = base_of(name)
    coef = changed(base)
    assert np.abs(coef - base.prior).max() > 1e-3
    for suffix in (".urdf", ".toml"):
        written = write_identified(base, full_parameters(base, coef), coef, tmp_path / f"robot{suffix}")
        assert written.difference < 1e-9
        assert prove_round_trip(written.path, base, base.prior) > 1e-4


def test_a_floating_tree_is_written_too(tmp_path):
    base = base_of("go2", floating=True)
    coef = changed(base)
    written = write_identified(base, full_parameters(base, coef), coef, tmp_path / "dog.urdf")
    assert written.difference < 1e-9
    assert any("fixed to it" in note for note in written.notes)


@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "ur5e", "panda"])
def test_full_parameters_have_exactly_the_base_values_and_are_real(name):
    base = base_of(name)
    coef = base.prior * (1.0 + 1e-3 * np.random.default_rng(0).normal(size=base.rank))
    pi = full_parameters(base, coef)
    np.testing.assert_allclose(base.values(pi), coef, atol=1e-10 * np.abs(coef).max())
    assert BodySpace(base.model).is_consistent(pi, 1e-10)


def test_base_values_of_the_prior_give_the_prior():
    base = base_of("ur5e")
    np.testing.assert_allclose(full_parameters(base, base.prior), base.model.prior, atol=1e-12)


def test_no_other_robot_with_these_base_values_is_nearer():
    base = base_of("ur5e")
    coef = base.prior * (1.0 + 1e-3 * np.random.default_rng(1).normal(size=base.rank))
    pi, space = full_parameters(base, coef), BodySpace(base.model)
    x = space.coordinates(pi)
    _, _, Vt = np.linalg.svd(base.B @ space.spun @ space.C)
    rng = np.random.default_rng(2)
    for _ in range(100):
        other = x + 0.01 * Vt[base.rank :].T @ rng.normal(size=len(x) - base.rank)
        if space.is_consistent(space.parameters(other)):
            assert np.linalg.norm(other - space.wish) >= np.linalg.norm(x - space.wish)


def test_base_values_of_no_real_robot_name_the_links():
    base = base_of("kuka_iiwa14")
    coef = base.prior * (1.0 + 0.2 * np.random.default_rng(0).normal(size=base.rank))
    with pytest.raises(InputError, match=r"no physically consistent robot .*'link\d' .*inconsistent"):
        full_parameters(base, coef)
    nearest = full_parameters(base, coef, infeasible="nearest")
    assert BodySpace(base.model).is_consistent(nearest)
    weighed = full_parameters(base, coef, infeasible="nearest", covariance=np.diag(np.full(base.rank, 1e-4)))
    assert np.linalg.norm(base.values(weighed) - coef) < np.linalg.norm(base.values(nearest) - coef)


def test_negative_friction_is_named():
    base = base_of("ur5e")
    coef = base.prior.copy()
    coef[base.names.index("elbow_joint.viscous")] = -1.0
    with pytest.raises(InputError, match=r"'elbow_joint\.viscous' would be negative"):
        full_parameters(base, coef)


def test_links_fixed_to_a_moving_one_stay_as_they_are_unless_they_cannot():
    description = dy.Description("arm").add_link("base")
    rod = dy.solids.box(0.4, 0.1, 0.1, mass=4.0)
    description.add_link("arm", "base", "revolute", axis=(0, 1, 0), inertia=rod)
    description.add_link("tool", "arm", origin=dy.Pose.translation([0.2, 0.0, 0.0]), inertia=dy.solids.sphere(0.05, mass=1.0))
    robot = dy.Robot(description)
    model = LinearModel(robot)
    heavier = edit(robot, model, np.where(model.is_inertial, 1.5, 1.0) * model.prior)
    assert heavier.robot.description.link("tool").mass_properties.mass == 1.0
    assert heavier.robot.description.link("arm").mass_properties.mass == pytest.approx(6.5)
    assert not heavier.notes
    lighter = edit(robot, model, np.where(model.is_inertial, 0.15, 1.0) * model.prior)
    assert lighter.robot.description.link("tool").mass_properties is None
    assert lighter.robot.description.link("arm").mass_properties.mass == pytest.approx(0.75)
    assert any("now includes 'tool'" in note for note in lighter.notes)
    np.testing.assert_allclose(lighter.robot.parameters[:10], 0.15 * model.prior[:10])


def test_drives_go_back_through_their_gears():
    robot = dy.load("puma560")
    model = LinearModel(robot)
    rng = np.random.default_rng(3)
    pi = model.prior * (1.0 + 0.1 * rng.normal(size=len(model.names)))
    new = edit(robot, model, pi).robot
    back = LinearModel(new)
    assert back.names == model.names
    np.testing.assert_allclose(back.prior, pi, rtol=1e-9, atol=1e-12)


def test_rotors_that_ride_keep_riding():
    robot = dy.load("puma560").replace(rotors="riding")
    model = LinearModel(robot)
    pi = model.prior * 1.1
    new = edit(robot, model, pi).robot
    np.testing.assert_allclose(LinearModel(new).prior, pi, rtol=1e-9, atol=1e-12)


def gripper(viscous):
    """A finger that follows another."""
    finger = dy.solids.box(0.1, 0.02, 0.02, mass=0.2)
    description = dy.Description("gripper").add_link("palm")
    description.add_link("left", "palm", "revolute", inertia=finger, drive=Drive(viscous=0.3, coulomb=0.2, stiffness=1.0))
    follows = Mimic("left_joint", -2.0, 0.1)
    drive = Drive(viscous=viscous, coulomb=0.1, rotor_inertia=0.01, stiffness=0.5)
    return dy.Robot(description.add_link("right", "palm", "revolute", inertia=finger, mimic=follows, drive=drive))


@pytest.mark.parametrize("viscous", [0.01, 5.0])
def test_a_joint_that_follows_keeps_its_share(viscous):
    robot = gripper(viscous)
    model = LinearModel(robot)
    factor = 0.9 if viscous < 1.0 else 0.5
    pi = model.prior * np.where([kind == "viscous" for kind in model.kind], factor, 1.2)
    edited = edit(robot, model, pi)
    np.testing.assert_allclose(LinearModel(edited.robot).prior, pi, rtol=1e-12, atol=1e-15)
    kept = edited.robot.description.joint("right_joint").drive.viscous
    assert kept == (viscous if viscous < 1.0 else 0.0)
    assert any("its mimic joints" in note for note in edited.notes) == (viscous > 1.0)


def test_offsets_and_what_a_description_cannot_hold():
    robot = dy.load("ur5e")
    model = LinearModel(robot, offset=True, friction=("viscous", "coulomb", "quadratic"))
    pi = model.prior.copy()
    pi[model.index("elbow_joint.offset")] = 0.7
    pi[model.index("elbow_joint.quadratic")] = 0.2
    kept = edit(robot, model, pi)
    assert kept.robot.description.joint("elbow_joint").drive.coulomb_bias == 0.7
    assert any("elbow_joint.quadratic" in note and "offset" not in note for note in kept.notes)
    q, v, a = np.random.default_rng(4).normal(size=(3, 6))
    pi[model.index("elbow_joint.quadratic")] = 0.0
    np.testing.assert_allclose(edit(robot, model, pi).robot.inverse_dynamics(q, v, a), model.regressor(q, v, a) @ pi)


def test_what_was_not_looked_for_is_zero_and_said():
    robot = dy.load("puma560")
    model = LinearModel(robot, friction=("viscous",), rotor=False)
    edited = edit(robot, model, model.prior)
    assert not np.any(edited.robot.model.rotor)
    assert not np.any(edited.robot.model.coulomb)
    assert any("was not identified and is set to zero" in note for note in edited.notes)


@pytest.mark.filterwarnings("ignore:.*nothing with mass")
def test_a_link_without_mass_in_the_file_can_get_some():
    description = dy.load("planar_2r_melchiorri").description
    for link in description.links:
        link.mass_properties = None
    empty, full = dy.Robot(description), dy.load("planar_2r_melchiorri")
    pi = LinearModel(full).prior
    np.testing.assert_allclose(edit(empty, LinearModel(empty), pi).robot.parameters, full.parameters, atol=1e-12)


def test_what_only_dynamis_reads_in_a_urdf_is_said(tmp_path):
    assert any("<dynamis>" in note and "rotor inertia" in note for note in write(dy.load("puma560"), tmp_path / "puma.urdf"))
    assert write(dy.load("puma560"), tmp_path / "puma.toml") == ()
    (note,) = write(dy.load("panda").replace(gravity=(0.0, 0.0, 9.81)), tmp_path / "hung.urdf")
    assert "gravity (0, 0, 9.81) m/s² in the base frame" in note


def test_wrong_arguments_are_said(tmp_path):
    base = base_of("ur5e")
    robot, model = base.model.robot, base.model
    with pytest.raises(InputError, match="78 finite values"):
        edit(robot, model, [1.0])
    with pytest.raises(InputError, match="another robot"):
        edit(dy.load("panda"), model, model.prior)
    with pytest.raises(InputError, match="infeasible='maybe'"):
        full_parameters(base, base.prior, infeasible="maybe")
    with pytest.raises(InputError, match="52 finite numbers"):
        full_parameters(base, base.prior[1:])
    dy.load("panda").write(tmp_path / "panda.toml")
    with pytest.raises(InputError, match="other joints"):
        prove_round_trip(tmp_path / "panda.toml", base, base.prior)


def test_the_parameters_of_a_joint_with_two_axes_are_those_of_its_link():
    description = dy.Description("gimbal").add_link("base")
    description.add_link(
        "bob", "base", "universal", axis=(1, 0, 0), axis2=np.array([0.0, 1, 0]), inertia=dy.solids.sphere(0.1, mass=1.0)
    )
    robot = dy.Robot(description)
    model = LinearModel(robot)
    assert [name for name, _ in model.bodies] == ["bob"]
    wanted = model.prior + 0.1 * np.isin(model.names, ["bob.m", "bob.Ixx", "bob.Iyy", "bob.Izz"])
    np.testing.assert_allclose(LinearModel(edit(robot, model, wanted).robot).prior, wanted, atol=1e-12)


@pytest.mark.parametrize(
    "extra",
    [{"friction": ("power",)}, {"presliding": 0.05}, {"smooth": 0.3}, {"couplings": [("joint1", "joint2")]}],
    ids=lambda x: next(iter(x)),
)
def test_the_file_holds_the_best_fit_without_the_terms_it_cannot_represent(extra, tmp_path):
    robot = dy.load("planar_2r_melchiorri")
    t = np.arange(2000)[:, None] * 0.005
    w, phase = np.array([1.3, 2.1]), np.array([0.0, 1.0])
    q, v, a = np.sin(w * t + phase), w * np.cos(w * t + phase), -(w**2) * np.sin(w * t + phase)
    tau = robot.inverse_dynamics(q, v, a) + 60.0 * np.sign(v) * np.sqrt(np.abs(v))
    samples = Samples.of(q, v, a, tau, period=0.005)
    found = dy.identify(LinearModel(robot, **extra), samples, compare=())
    written = found.write(tmp_path / "robot.urdf")
    file = dy.load(written.path)
    left = 100.0 * np.linalg.norm(tau - file.inverse_dynamics(q, v, a)) / np.linalg.norm(tau)
    plain = dy.identify(LinearModel(robot), samples, compare=())
    assert left < 1.05 * plain.statistics.percent
    assert written.held_out == pytest.approx(plain.validation.held_out, rel=0.02)
    assert written.difference < 1e-9
    assert any("cannot represent" in note and f"{written.held_out:.3g} %" in note for note in written.notes)
    assert plain.write(tmp_path / "plain.urdf").held_out == plain.validation.held_out


@pytest.mark.parametrize("suffix", [".sdf", ".mjcf", ".usda"])
def test_formats_that_do_not_hold_all_parameters_are_refused_with_the_cure(suffix, tmp_path):
    base = base_of("planar_2r_melchiorri")
    with pytest.raises(
        InputError, match=rf"as \.urdf or \.toml, .* by dynamis\.load\('robot\.toml'\)\.write\('robot\{suffix}'\)"
    ):
        write_identified(base, full_parameters(base, base.prior), base.prior, tmp_path / f"robot{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("spring", [None, True])
def test_no_written_spring_is_negative(spring, tmp_path):
    robot = dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"stiffness": 20.0}})
    t, w, phase = np.arange(2000)[:, None] * 0.005, np.array([1.3, 2.1]), np.array([0.0, 1.0])
    q, v, a = np.sin(w * t + phase), w * np.cos(w * t + phase), -(w**2) * np.sin(w * t + phase)
    tau = robot.inverse_dynamics(q, v, a) - 0.5 * np.array([0.0, 1.0]) * q + np.random.default_rng(0).normal(size=q.shape)
    found = dy.identify(LinearModel(robot, spring=spring), Samples.of(q, v, a, tau, period=0.005), compare=())
    found.write(tmp_path / "arm.toml")
    stiffness = dy.load(tmp_path / "arm.toml").model.stiffness  # a warning is an error here
    assert stiffness[0] == pytest.approx(20.0, rel=0.05)
    assert 0.0 <= stiffness[1] < 1e-6
