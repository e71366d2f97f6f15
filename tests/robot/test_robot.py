"""The robot a user holds: shapes, broadcasting, types, names, errors."""

import pickle

import numpy as np
import pytest
from campaign_params import few_of
from floating import floating
from random_trees import random_inertia, random_robot, random_states, relative_error

import dynamis as dy


@pytest.fixture(scope="module")
def ur5e():
    return dy.load("ur5e")


@pytest.fixture(scope="module")
def go2():
    return dy.load("go2", base="floating")


def everything(robot, q, v, a, frame):
    wrench = {frame: np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])}
    return {
        "inverse_dynamics": robot.inverse_dynamics(q, v, a, wrench),
        "forward_dynamics": robot.forward_dynamics(q, v, a, wrench),
        "mass_matrix": robot.mass_matrix(q),
        "coriolis_matrix": robot.coriolis_matrix(q, v),
        "mass_matrix_dot": robot.mass_matrix_dot(q, v),
        "gravity": robot.gravity(q),
        "bias": robot.bias(q, v),
        "kinetic_energy": robot.kinetic_energy(q, v),
        "potential_energy": robot.potential_energy(q),
        "link_energies": robot.link_energies(q, v)[0],
        "regressor": robot.regressor(q, v, a),
        "ledger": robot.torque_ledger(q, v, a, wrench).total,
        "pose": robot.pose(q, frame),
        "velocity": robot.velocity(q, v, frame),
        "acceleration": robot.acceleration(q, v, a, frame),
        "jacobian": robot.jacobian(q, frame),
        "jacobian_dot": robot.jacobian_dot(q, v, frame),
        "analytic_jacobian": robot.analytic_jacobian(q, frame, orientation="zyx"),
        "static_torque": robot.static_torque(q, wrench),
        "integrate": robot.integrate(q, v),
    }


@pytest.mark.parametrize(
    ("name", "base", "frame"),
    few_of(
        [
            ("stanford", "fixed", "link6"),
            ("scara", "floating", None),
            ("ur5e", "fixed", "tool0"),
            ("go2", "floating", "FL_foot"),
        ],
        [("stanford", "fixed", "link6"), ("scara", "floating", None)],
    ),
)
def test_a_batch_gives_what_its_states_give_one_by_one(name, base, frame):
    robot = dy.load(name, base=base)
    frame = frame or robot.link_names[-1]
    q, v, a = random_states(np.random.default_rng(0), robot, 6)
    batch = everything(robot, q.reshape(2, 3, -1), v.reshape(2, 3, -1), a.reshape(2, 3, -1), frame)
    for k in range(6):
        for what, one in everything(robot, q[k], v[k], a[k], frame).items():
            assert relative_error(batch[what][k // 3, k % 3], one) < 1e-12, what


def test_leading_axes_broadcast_like_numpy(ur5e):
    q, v, a = random_states(np.random.default_rng(0), ur5e, 4)
    tau = ur5e.inverse_dynamics(q[:, None], v[None, :], a[0])
    assert tau.shape == (4, 4, 6)
    assert relative_error(tau[2, 3], ur5e.inverse_dynamics(q[2], v[3], a[0])) < 1e-12
    assert ur5e.mass_matrix(np.zeros((0, 6))).shape == (0, 6, 6)


def test_single_precision_in_is_single_precision_out(ur5e):
    q = np.linspace(0.1, 0.6, 6, dtype=np.float32)
    assert ur5e.gravity(q).dtype == np.float32
    assert ur5e.gravity(np.stack([q, q])).dtype == np.float32
    assert ur5e.gravity([0, 0, 0, 0, 0, 0]).dtype == np.float64
    assert relative_error(ur5e.gravity(np.stack([q, q]))[0], ur5e.gravity(q.astype(float))) < 1e-5


def test_inputs_are_never_changed(ur5e):
    q, v, a = (x[0] for x in random_states(np.random.default_rng(0), ur5e, 1))
    kept = q.copy(), v.copy(), a.copy()
    everything(ur5e, q, v, a, "tool0")
    assert all((x == y).all() for x, y in zip((q, v, a), kept, strict=True))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.gravity(np.zeros(5)), "last axis must have the 6"),
        (lambda r: r.gravity(0.0), "last axis must have the 6"),
        (lambda r: r.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(7)), "a has shape"),
        (lambda r: r.gravity([0, 0, np.nan, 0, 0, 0]), r"q\[2\] is nan"),
        (lambda r: r.gravity(np.full((2, 6), np.inf)), r"q\[0, 0\] is inf"),
        (lambda r: r.gravity("abcdef"), "array of real numbers"),
        (lambda r: r.gravity([[0, 0], [1]]), "numbers"),
        (lambda r: r.gravity(None), "number or a symbol"),
        (lambda r: r.jacobian(np.zeros(6), axes="body"), "choose 'world' or 'local'"),
        (lambda r: r.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6), {"tool0": np.zeros(3)}), "wrench on tool0"),
        (lambda r: r.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6), [1.0]), "must be a mapping"),
        (lambda r: r.analytic_jacobian(np.ones(6), orientation="yaw"), "choose zyz"),
        (lambda r: dy.load("ur5e", base="flying"), "'fixed' or 'floating'"),
        (lambda r: r.replace(friction=3), "must be 0 for none"),
    ],
)
def test_a_wrong_argument_is_an_input_error_that_says_what_to_do(ur5e, call, message):
    with pytest.raises(dy.InputError, match=message):
        call(ur5e)


@pytest.mark.parametrize("name", ["tool", "Tool0", "tool0 "])
def test_a_wrong_frame_name_lists_the_near_ones(ur5e, name):
    with pytest.raises(dy.NameLookupError, match="did you mean 'tool0'"):
        ur5e.pose(np.zeros(6), name)


def test_a_branched_robot_asks_for_a_frame(go2):
    with pytest.raises(dy.InputError, match="no single tip"):
        go2.jacobian(go2.neutral())


def test_the_ledger_names_every_term_and_sums_to_the_torque():
    robot = random_robot(np.random.default_rng(7), bodies=5)
    q, v, a = (x[0] for x in random_states(np.random.default_rng(8), robot, 1))
    frame = robot.link_names[-1]
    wrench = {frame: np.ones(6)}
    ledger = robot.torque_ledger(q, v, a, wrench)
    terms = ledger.as_dict()
    assert list(terms) == ["inertia", "coriolis", "gravity", "viscous", "dry", "rotor", "external", "spring"]
    assert all(np.abs(t).max() > 0 for t in terms.values())
    assert relative_error(ledger.total, robot.inverse_dynamics(q, v, a, wrench)) < 1e-13
    assert relative_error(ledger.external, -robot.jacobian(q, frame).T @ wrench[frame]) < 1e-12
    assert relative_error(ledger.viscous, robot.model.viscous * v) == 0.0


def test_local_axes_turn_wrenches_and_jacobians_together(ur5e):
    rng = np.random.default_rng(3)
    q, w = ur5e.random(rng), rng.uniform(-1, 1, 6)
    R = ur5e.pose(q)[:3, :3]
    world = np.concatenate([R @ w[:3], R @ w[3:]])
    zero = np.zeros(6)
    local = ur5e.inverse_dynamics(q, zero, zero, {"tool0": w}, axes="local")
    assert relative_error(local, ur5e.inverse_dynamics(q, zero, zero, {"tool0": world})) < 1e-12
    assert relative_error(ur5e.jacobian(q, axes="local").T @ w, ur5e.jacobian(q).T @ world) < 1e-12


def test_static_torque_is_weight_less_the_transposed_jacobian(ur5e):
    rng = np.random.default_rng(4)
    q, w = ur5e.random(rng), rng.uniform(-10, 10, 6)
    expected = ur5e.gravity(q) - ur5e.jacobian(q).T @ w
    assert relative_error(ur5e.static_torque(q, {"tool0": w}), expected) < 1e-12


@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_a_moving_base_is_felt_like_a_joint_below_it():
    """The same arm on a prescribed free base, and on a free joint moved in the same way."""
    rng = np.random.default_rng(5)
    fixed, flying = dy.load("ur5e"), floating("ur5e")
    q, v, a = flying.random(rng), *rng.uniform(-1, 1, (2, flying.n))
    X = flying.pose(q, "base")
    base = dy.MovingBase(dy.Pose(X[:3, :3], X[:3, 3]), v[:6], a[:6])
    tau = fixed.inverse_dynamics(q[7:], v[6:], a[6:], base=base)
    assert relative_error(tau, flying.inverse_dynamics(q, v, a)[6:]) < 1e-12
    assert relative_error(fixed.forward_dynamics(q[7:], v[6:], tau, base=base), a[6:]) < 1e-9
    # a wrench in world axes stays in world axes, however the base is turned
    w = {"tool0": rng.uniform(-5, 5, 6)}
    pushed = fixed.inverse_dynamics(q[7:], v[6:], a[6:], w, base=base)
    assert relative_error(pushed, flying.inverse_dynamics(q, v, a, w)[6:]) < 1e-12


def test_a_payload_weighs_at_its_frame(ur5e):
    payload = random_inertia(np.random.default_rng(1))
    loaded = ur5e.replace(payload=payload)
    q = ur5e.random(2)
    weight = np.concatenate(
        [payload.mass * ur5e.model.gravity, np.cross(ur5e.pose(q)[:3, :3] @ payload.first_moment, ur5e.model.gravity)]
    )
    assert relative_error(loaded.gravity(q), ur5e.gravity(q) - ur5e.jacobian(q).T @ weight) < 1e-12
    assert loaded.mass == pytest.approx(ur5e.mass + payload.mass)
    assert ur5e.model is not loaded.model


@pytest.mark.filterwarnings("ignore:robot .UR5e. with .forearm_link. as its root")
def test_a_payload_takes_the_place_of_an_earlier_one_at_its_frame(ur5e):
    heavy, light = (dy.solids.sphere(0.05, mass=m) for m in (2.0, 1.0))
    loaded = ur5e.replace(payload=heavy)
    for robot in (loaded, pickle.loads(pickle.dumps(loaded)), loaded.replace(gravity=(0, 0, -1))):
        assert robot.replace(payload=light).mass == pytest.approx(ur5e.mass + 1.0)
        assert robot.replace(payload=0).mass == pytest.approx(ur5e.mass)
    table = dy.load("planar_2r_melchiorri")
    for edit in (lambda x: x.reduced({"wrist_3_joint": 0.1}), lambda x: x.placed(dy.Pose.translation([0, 0, 1])),
                 lambda x: x.with_frame("pen", "tool0"), lambda x: x.rerooted("forearm_link"), lambda x: x.subtree("forearm_link"),
                 lambda x: table.attach(x, prefix="arm_")):  # fmt: skip
        tip = next(name for name in edit(loaded).link_names if name.endswith("tool0"))
        assert edit(loaded).replace(payload=0, payload_frame=tip).mass == pytest.approx(edit(ur5e).mass)
    both = loaded.replace(payload=light, payload_frame="forearm_link")
    assert both.mass == pytest.approx(ur5e.mass + 3.0)
    assert both.replace(payload=0).mass == pytest.approx(ur5e.mass + 1.0)
    assert loaded.replace(inertias={ur5e.model.tip: light}).replace(payload=heavy).mass == pytest.approx(ur5e.mass + 3.0)
    foreign = type("Inertia", (), {"__module__": "pinocchio.x", "mass": 1.0, "lever": 0, "inertia": 0})()
    with pytest.raises(dy.InputError, match=r"got pinocchio\.Inertia: give dynamis\.Inertia\.about_com\(I\.mass"):
        ur5e.replace(payload=foreign)
    with pytest.raises(dy.InputError, match=r"wrench on tool0 has shape \(3,\).* 6 numbers: \(fx, fy, fz, mx, my, mz\)"):
        ur5e.inverse_dynamics([0.0] * 6, [0.0] * 6, [0.0] * 6, {"tool0": [0, 0, 10]})
    with pytest.raises(dy.InputError, match=r"must be a dynamis.Inertia, such as .* or 0 for none, got str"):
        ur5e.replace(payload="2")


def test_replace_leaves_the_robot_alone_and_edits_friction():
    robot = dy.load("puma560")
    free = robot.replace(friction=0, gravity=(0, 0, 0))
    v = np.ones(6)
    assert not free.model.viscous.any()
    assert not free.model.coulomb.any()
    assert robot.model.viscous.all()
    stiff = robot.replace(friction={"elbow": {"viscous": 100.0}})
    assert stiff.torque_ledger(v, v, v).viscous[2] == 100.0
    with pytest.raises(dy.NameLookupError, match="elbow"):
        robot.replace(friction={"elbov": {"viscous": 1.0}})


def test_editing_the_description_of_a_robot_does_not_change_the_robot(ur5e):
    d = ur5e.description
    d.link("forearm_link").mass_properties.mass = 100.0
    assert ur5e.mass < 20.0
    assert dy.Robot(d).mass > 100.0


def test_symbols_flow_through_states_and_parameters():
    robot = dy.load("planar_2r")
    q = np.array([dy.symbol("q_1"), dy.symbol("q_2")])
    M = robot.mass_matrix(q)
    assert M.dtype == object
    assert M[0, 1] is M[1, 0]
    with pytest.raises(dy.InputError, match="for one state at a time"):
        robot.mass_matrix(np.zeros((3, 2)))
    values = dy.load(
        "planar_2r",
        parameters={"a_1": 1, "a_2": 1, "l_1": 0.5, "l_2": 0.5, "m_1": 50, "m_2": 50, "I_1": 10, "I_2": 10, "g": 9.81},
    )
    twin = dy.load("planar_2r_melchiorri")
    assert relative_error(values.mass_matrix([0.3, 0.7]), twin.mass_matrix([0.3, 0.7])) < 1e-15
    with pytest.raises(dy.NameLookupError, match="m_1"):
        dy.load("planar_2r", parameters={"m11": 1.0})


def test_functions_without_the_symbols_of_a_robot_take_batches_and_others_name_them():
    arm, m = dy.load("ur5e"), dy.symbol("m")
    loaded = arm.replace(payload=dy.solids.sphere(0.05, mass=m))
    q = arm.random(0, size=4)
    for name, given in (("jacobian", (q,)), ("pose", (q,)), ("velocity", (q, q)), ("integrate", (q, q))):
        found = getattr(loaded, name)(*given)
        assert found.dtype == float
        assert np.allclose(found, getattr(arm, name)(*given), rtol=0, atol=1e-14)
        assert getattr(loaded, name)(*(x[0] for x in given)).dtype == float
    compiled = r"robot\.compile\('gravity', parameters=\[dynamis\.symbol\('m'\)\]\)"
    with pytest.raises(dy.InputError, match=rf"gravity of robot 'UR5e' depends on its symbol 'm'.* {compiled}"):
        loaded.gravity(q)
    with pytest.raises(dy.InputError, match=r"symbol 'm'.*not available with out="):
        loaded.gravity(q[0], out=np.zeros(6))
    assert loaded.gravity(q[0]).dtype == object
    x = np.array([dy.symbol(f"q{k}") for k in range(6)])
    with pytest.raises(dy.InputError, match="symbolic arguments are evaluated for one state at a time"):
        loaded.pose(np.stack([x, x]))


def test_a_chain_of_a_thousand_links_evaluates(tmp_path):
    lines = ['<robot name="chain"><link name="l0"/>']
    for i in range(1, 1001):
        inertial = '<inertial><origin xyz="0 0 0.05"/><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.005"/></inertial>'
        lines.append(f'<link name="l{i}">{inertial}</link><joint name="j{i}" type="continuous"><origin xyz="0 0 0.1"/>')
        lines.append(f'<parent link="l{i - 1}"/><child link="l{i}"/><axis xyz="{"0 1 0" if i % 2 else "0 0 1"}"/></joint>')
    path = tmp_path / "chain.urdf"
    path.write_text("\n".join([*lines, "</robot>"]))
    robot = dy.load(path)
    q, v, a = (x[0] for x in random_states(np.random.default_rng(0), robot, 1))
    M = robot.mass_matrix(q)
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(M @ a + robot.bias(q, v), tau) < 1e-10
    assert relative_error(M @ robot.forward_dynamics(q, v, tau) + robot.bias(q, v), tau) < 1e-10
    assert robot.jacobian(q).shape == (6, 1000)


def test_a_robot_without_joints_has_empty_dynamics():
    robot = dy.Robot(dy.Description("stone").add_link("stone", inertia=dy.solids.sphere(0.1, mass=1.0)))
    empty = np.zeros(0)
    assert robot.n == robot.nq == 0
    assert robot.inverse_dynamics(empty, empty, empty).shape == (0,)
    assert robot.forward_dynamics(empty, empty, empty).shape == (0,)
    assert robot.mass_matrix(empty).shape == robot.coriolis_matrix(empty, empty).shape == (0, 0)
    assert robot.regressor(empty, empty, empty).shape == (0, 0)
    assert robot.kinetic_energy(empty, empty) == 0.0
    assert robot.pose(empty, "stone").shape == (4, 4)


@pytest.mark.filterwarnings("ignore:.*nothing with mass")
def test_a_joint_that_moves_no_mass_is_named():
    d = dy.Description("ghost").add_link("base").add_link("ghost", "base", "revolute")
    robot = dy.Robot(d)
    with pytest.raises(dy.SingularError, match="ghost"):
        robot.forward_dynamics([0.0], [0.0], [1.0])
    assert robot.inverse_dynamics([0.0], [0.0], [1.0]) == 0.0


def test_a_quaternion_of_another_length_is_refused():
    robot = dy.load("go2", base="floating")
    q = robot.neutral()
    q[3:7] = [0.5, 0.5, 0.0, 1.0]
    with pytest.raises(dy.InputError, match="divide it by its norm"):
        robot.mass_matrix(q)


def test_one_state_functions_refuse_batches(ur5e):
    with pytest.raises(dy.InputError, match="one state"):
        ur5e.static_forces(np.zeros((4, 6)))
    with pytest.raises(dy.InputError, match="one state"):
        ur5e.articulated_inertias(np.zeros((4, 6)))


def test_a_model_cannot_be_changed(ur5e):
    with pytest.raises(ValueError, match="read-only"):
        ur5e.model.gravity[2] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        ur5e.model.moving[0][1].placement.p[2] = 5.0


def test_checking_a_description_does_not_change_it(ur5e):
    d = ur5e.description
    d.gravity = "down"
    assert len(dy.check(d)) == len(dy.check(d)) == 1
    assert d.gravity == "down"


@pytest.mark.parametrize("base", ["floating", 3])
def test_a_wrong_base_motion_is_refused(ur5e, base):
    with pytest.raises(dy.InputError, match="MovingBase"):
        ur5e.inverse_dynamics(np.zeros(6), np.zeros(6), np.zeros(6), base=base)


@pytest.mark.parametrize("wrong", [np.full(6, np.nan), np.zeros(5), np.zeros((2, 6)), "fast", None])
def test_a_base_moves_with_six_finite_numbers(wrong):
    with pytest.raises(dy.InputError, match="the twist of the base"):
        dy.MovingBase(dy.Pose.identity(), wrong, np.zeros(6))
