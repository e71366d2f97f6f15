"""The model to be identified: its columns are the torques of unit parameters, whatever they are."""

import itertools

import numpy as np
import pytest

import dynamis as dy
from dynamis.identification import Column, LinearModel
from dynamis.identification.samples import Samples


def states(robot, count=20, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng, size=count), *rng.normal(size=(2, count, robot.n))


@pytest.mark.parametrize("name", ["ur5e", "panda", "puma560", "stanford", "scara", "go2", "planar_2r_melchiorri"])
def test_regressor_times_prior_is_the_robots_own_torque(name):
    robot = dy.load(name)
    q, v, a = states(robot)
    model = LinearModel(robot)
    assert np.allclose(model.regressor(q, v, a) @ model.prior, robot.inverse_dynamics(q, v, a), rtol=1e-11, atol=1e-11)


def test_a_floating_base_has_inertia_but_no_friction_of_its_own():
    robot = dy.load("go2", base="floating")
    q, v, a = states(robot)
    model = LinearModel(robot)
    assert np.allclose(model.regressor(q, v, a) @ model.prior, robot.inverse_dynamics(q, v, a), rtol=1e-10, atol=1e-9)
    assert len([n for n in model.names if n.endswith(".viscous")]) == robot.n - 6


def test_every_joint_type_is_linear_in_its_parameters():
    robot = dy.load("nine_body_tree")
    q, v, a = states(robot)
    model = LinearModel(robot, spring=True)
    assert np.allclose(model.regressor(q, v, a) @ model.prior, robot.inverse_dynamics(q, v, a), rtol=1e-11, atol=1e-11)


def test_friction_terms_are_what_they_say():
    robot = dy.load("planar_2r_melchiorri")
    terms = ("viscous", "coulomb", "coulomb_bias", "stribeck", "quadratic", "power")
    model = LinearModel(robot, friction=terms, offset=True, spring=True, stribeck_speed=0.4)
    q, v, a = np.array([0.3, -0.2]), np.array([-0.7, 0.5]), np.array([1.0, 2.0])
    Y = model.regressor(q, v, a)
    expected = {
        "viscous": -0.7, "coulomb": -1.0, "coulomb_bias": 1.0, "stribeck": -np.exp(-((0.7 / 0.4) ** 2)), "quadratic": -0.49,
        "power": -np.sqrt(0.7), "offset": 1.0, "rotor": 1.0, "stiffness": 0.3,
    }  # fmt: skip
    for term, value in expected.items():
        column = Y[:, model.index(f"joint1.{term}")]
        assert np.allclose(column, [value, 0.0], atol=1e-12), term


def test_a_friction_term_of_one_joint_is_one_column():
    robot = dy.load("planar_2r_melchiorri")
    plain = LinearModel(robot, friction=("viscous", "coulomb"))
    model = LinearModel(robot, friction=("viscous", "joint2.quadratic", "coulomb", "joint2.viscous"))
    assert set(model.names) - set(plain.names) == {"joint2.quadratic"}
    Y = model.regressor(np.zeros(2), np.array([1.0, -3.0]), np.zeros(2))
    assert np.allclose(Y[:, model.index("joint2.quadratic")], [0.0, -9.0])
    with pytest.raises(LookupError, match="joint3"):
        LinearModel(robot, friction=("joint3.power",))
    with pytest.raises(dy.InputError, match="stribeck_speed"):
        LinearModel(robot, friction=("joint2.stribeck",))


def test_a_term_of_all_joints_is_not_added_again_for_one_of_them():
    robot = dy.load("planar_2r_melchiorri")
    model = LinearModel(robot, friction=("viscous", "coulomb", "joint1.viscous", "joint2.power"))
    assert model.names == LinearModel(robot, friction=("viscous", "coulomb", "joint2.power")).names


def test_smooth_dry_friction_is_a_tanh():
    model = LinearModel(dy.load("planar_2r_melchiorri"), smooth=0.05)
    Y = model.regressor(np.zeros(2), np.array([0.02, -0.3]), np.zeros(2))
    assert np.isclose(Y[0, model.index("joint1.coulomb")], np.tanh(0.4))
    assert np.isclose(Y[1, model.index("joint2.coulomb")], np.tanh(-6.0))


def test_a_coupled_wrist_shares_its_motor():
    robot = dy.load("ur5e")
    model = LinearModel(robot, friction=("viscous", "coulomb", "power"), couplings=[("wrist_2_joint", "wrist_3_joint")])
    v, a = np.array([0, 0, 0, 0, 2.0, -5.0]), np.array([0, 0, 0, 0, 3.0, 7.0])
    Y = model.regressor(np.zeros(6), v, a)
    shared = {
        kind: Y[:, model.index(f"wrist_2_joint+wrist_3_joint.{kind}")] for kind in ("rotor", "viscous", "coulomb", "power")
    }
    assert np.allclose(shared["rotor"], [0, 0, 0, 0, 7, 3])
    assert np.allclose(shared["viscous"], [0, 0, 0, 0, -5, 2])
    assert np.allclose(shared["coulomb"], [0, 0, 0, 0, -1, -1])
    assert np.allclose(shared["power"], [0, 0, 0, 0, -np.sqrt(3), -np.sqrt(3)])
    # with the joints' own columns these make up a motor that turns at v5 + v6 and acts on both
    motor = 0.4 * (a[4] + a[5])
    whole = 0.4 * (Y[:, model.index("wrist_2_joint.rotor")] + Y[:, model.index("wrist_3_joint.rotor")] + shared["rotor"])
    assert np.allclose(whole[4:], [motor, motor])


def test_columns_of_ones_own():
    robot = dy.load("ur5e")
    cable = Column("cable", lambda robot, q, v, a: np.array([0, 0, 0, np.sin(q[3]), 0, 0]), prior=0.1)
    model = LinearModel(robot, columns=[cable])
    Y = model.regressor(np.full(6, 0.5), np.zeros(6), np.zeros(6))
    assert np.allclose(Y[:, -1], [0, 0, 0, np.sin(0.5), 0, 0])
    assert model.names[-1] == "cable"
    assert model.prior[-1] == 0.1


def dahl(q, x):
    """The definition, step by step."""
    z = np.zeros(len(q))
    for k, d in enumerate(np.diff(q)):
        s = np.sign(d)
        z[k + 1] = s + (z[k] - s) * np.exp(-abs(d) / x) if s else z[k]
    return z


@pytest.mark.parametrize("pieces", [1, 3, 50])
def test_presliding_follows_its_definition_however_the_motion_is_cut(pieces):
    robot = dy.load("planar_2r_melchiorri")
    model = LinearModel(robot, presliding={"joint2": 0.01})
    t = np.linspace(0.0, 5.0, 400)
    q = np.column_stack([t, 0.05 * np.sin(3 * t) + 0.01 * np.sin(17 * t)])
    q[200:220] = q[200]  # a rest
    states, run = model.sample_states(), Samples.of(q, 0 * q, 0 * q, 0 * q)
    edges = np.linspace(0, len(q), pieces + 1).astype(int)
    found = np.concatenate([states.advance(run[i:j]) for i, j in itertools.pairwise(edges)])[:, 0]
    assert np.allclose(found, dahl(q[:, 1], 0.01), atol=1e-12)
    Y = model.regressor(q, np.zeros_like(q), np.zeros_like(q), found[:, None])
    assert np.allclose(Y[:, 1, model.index("joint2.presliding")], found)
    with pytest.raises(dy.InputError, match="states="):
        model.regressor(q, q, q)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"friction": ("viscuous",)}, "did you mean 'viscous'"),
        ({"friction": ("stribeck",)}, "stribeck_speed=0.1"),
        ({"smooth": -1.0}, "above zero"),
        ({"couplings": [("joint1", "joint1")]}, "pairs of different joints"),
        ({"couplings": [("joint1", "joint9")]}, "no joint named 'joint9'"),
        ({"presliding": {"joint1": 0.0}}, "above zero"),
        ({"columns": [lambda: 0]}, "Column"),
        ({"columns": [Column("link1.m", lambda robot, q, v, a: q)]}, "two parameters have the name 'link1.m'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(dy.DynamisError, match=message):
        LinearModel(dy.load("planar_2r_melchiorri"), **settings)


def test_symbols_are_refused():
    with pytest.raises(dy.InputError, match="is symbolic"):
        LinearModel(dy.load("planar_2r"))


def test_a_rotor_on_a_link_is_looked_for_once():
    robot = dy.load("puma560").replace(rotors="riding")
    model = LinearModel(robot)
    kinds = [name.rsplit(".", 1)[1] for name in model.names]
    assert kinds.count("inertia") == 5
    assert kinds.count("rotor") == 1  # the first motor stands on the base
    q, v, a = states(robot)
    assert np.allclose(model.regressor(q, v, a) @ model.prior, robot.inverse_dynamics(q, v, a), rtol=1e-10, atol=1e-10)


def test_springs_are_those_of_the_robot_unless_all_are_wanted():
    robot = dy.load("planar_2r_melchiorri").replace(friction={"joint1": {"stiffness": 20.0}})

    def springs(**options):
        return [name for name in LinearModel(robot, **options).names if name.endswith(".stiffness")]

    assert springs() == ["joint1.stiffness"]
    assert springs(spring=True) == ["joint1.stiffness", "joint2.stiffness"]
    assert springs(spring=False) == []
