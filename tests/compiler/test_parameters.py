"""Numbers of the robot as run-time inputs, batched like the state, and what explain says."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.algorithms.registry import ALGORITHMS

rng = np.random.default_rng(0)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "bias", "regressor"])
def test_a_payload_is_one_more_input(name):
    robot = dy.load("stanford")
    m = dy.symbol("m")
    kernel = robot.replace(payload=dy.solids.sphere(0.05, mass=m)).compile(name, parameters=[m])
    masses = np.linspace(0.5, 3.0, 3)
    state = {"q": robot.random(rng, 3), "v": rng.normal(size=(3, 6)), "a": rng.normal(size=(3, 6))}
    state["tau"] = state["a"]
    arrays = [state[argument] for argument, _ in kernel.arguments[:-1]]
    found = kernel(*arrays, masses[:, None])
    for k, mass in enumerate(masses):
        loaded = robot.replace(payload=dy.solids.sphere(0.05, mass=mass))
        expected = getattr(loaded, name)(*(x[k] for x in arrays))
        assert np.abs(found[k] - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


def test_several_parameters_come_in_the_order_given_and_broadcast():
    lengths = {"a_1": 0.4, "a_2": 0.3, "l_1": 0.2, "l_2": 0.1, "I_1": 0.02, "I_2": 0.01, "g": 9.81}
    arm = dy.load("planar_2r", parameters=lengths)
    masses = [dy.symbol("m_1"), dy.symbol("m_2")]
    q = rng.uniform(-3, 3, (3, 2))
    found = arm.compile("gravity", parameters=masses)(q, [2.0, 3.0])
    expected = dy.load("planar_2r", parameters={**lengths, "m_1": 2.0, "m_2": 3.0}).gravity(q)
    assert np.abs(found - expected).max() < 1e-14 * 100
    assert np.array_equal(found, arm.compile("gravity", parameters=masses[::-1])(q, [3.0, 2.0]))


def test_lengths_and_angles_of_a_dh_table_are_inputs_too(tmp_path):
    path = tmp_path / "arm.toml"
    rest = "mass = 'm'\ncom = [0.1, 0.2, 0]\ninertia = { xx = 0.2, yy = 0.25, zz = 0.15, xy = 0.01 }\n"
    names = ["d_1", "a_1", "d_2", "alpha", "m"]
    path.write_text(
        "[robot]\nname = 'arm'\n[parameters]\n" + "".join(f"{name} = 'symbol'\n" for name in names)
        + f"[[dh]]\na = 'a_1'\nd = 'd_1'\nalpha = 'alpha'\n{rest}[[dh]]\na = 0.3\nd = 'd_2'\n{rest}[[dh]]\nd = 0.1\n{rest}",
        encoding="utf-8",
    )  # fmt: skip
    values = np.array([0.2, 0.4, 0.1, 0.7, 2.0])
    arm = dy.load(path, parameters=dict(zip(names, map(float, values), strict=True)))
    state = {"q": arm.random(rng, 4), "v": rng.normal(size=(4, 3)), "a": rng.normal(size=(4, 3))}
    state["tau"] = state["a"]
    for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "coriolis_matrix", "kinetic_energy"):
        kernel = dy.load(path).compile(name, parameters=[dy.symbol(x) for x in names])
        arrays = [state[argument] for argument, _ in kernel.arguments[:-1]]
        expected = getattr(arm, name)(*arrays)
        assert np.abs(kernel(*arrays, values) - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max()), name


def test_gravity_and_friction_inside_a_users_function():
    robot = dy.load("panda")

    def elsewhere(robot, q, v, a, g, viscous):
        friction = {name: {"viscous": viscous[k]} for k, name in enumerate(robot.joint_names[:7])}
        return robot.replace(gravity=g, friction=friction).inverse_dynamics(q, v, a)

    kernel = robot.compile(elsewhere, g=3, viscous=7)
    q, v, a = robot.random(rng, 6), *rng.normal(size=(2, 6, 7))
    g, viscous = rng.normal(size=(6, 3)), rng.uniform(0, 1, (6, 7))
    found = kernel(q, v, a, g, viscous)
    for k in range(6):
        friction = {name: {"viscous": viscous[k, j]} for j, name in enumerate(robot.joint_names[:7])}
        expected = robot.replace(gravity=g[k], friction=friction).inverse_dynamics(q[k], v[k], a[k])
        assert np.abs(found[k] - expected).max() <= 1e-12 * np.abs(expected).max()


def test_a_users_function_costs_no_more_than_the_robots_own():
    robot = dy.load("panda")
    own = robot.compile(lambda robot, q, v, tau: robot.forward_dynamics(q, v, tau))
    assert len(own.code.instructions) == robot.cost("forward_dynamics")["total"]


def test_a_symbol_without_a_value_is_named():
    robot = dy.load("ur5e").replace(payload=dy.solids.sphere(0.05, mass=dy.symbol("load")))
    with pytest.raises(dy.InputError, match="load has no value"):
        robot.compile("gravity")(np.zeros(6))
    with pytest.raises(dy.InputError, match=r"parameters= must be symbols, .* got 3"):
        robot.compile("gravity", parameters=[3])
    with pytest.raises(dy.NameLookupError, match="gravity"):
        robot.compile("gravitas")


def test_explain_names_the_way_and_its_cost():
    robot = dy.load("ur5e")
    text = robot.explain("forward_dynamics")
    assert "M = Lᵀ D L" in text
    assert "articulated-body algorithm would need" in text
    assert f"operations  {robot.cost('forward_dynamics')['total']}:" in text
    assert "states at a time" in text
    for name in ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "gravity", "bias", "regressor", "kinetic_energy"):
        assert robot.explain(name).startswith(f"{name} of ")
    with pytest.raises(dy.NameLookupError):
        robot.explain("forward")


def test_long_code_is_compiled_once_enough_was_asked(monkeypatch):
    from dynamis.robot import evaluation

    monkeypatch.setattr(evaluation, "MAX_INSTRUCTIONS_AT_FIRST_CALL", 600)
    monkeypatch.setattr(evaluation, "MAX_INSTRUCTIONS", 1000)
    monkeypatch.setattr(evaluation, "STATES_BEFORE_COMPILING", 10)
    robot = dy.load("ur5e")
    q, v = robot.random(rng, 8), rng.normal(size=(8, 6))
    robot.inverse_dynamics(q, v, v)
    plain = robot.coriolis_matrix(q, v)
    assert list(robot.evaluator.kernels) == [("inverse_dynamics",)]  # the other is expected to be longer
    robot.coriolis_matrix(q, v)
    assert len(robot.evaluator.kernels) == 1  # it is too long
    monkeypatch.setattr(evaluation, "MAX_INSTRUCTIONS", 2000)
    robot.coriolis_matrix(q, v)
    assert len(robot.evaluator.kernels) == 1  # not enough states yet
    compiled = robot.coriolis_matrix(q, v)
    assert len(robot.evaluator.kernels) == 2
    assert np.abs(compiled - plain).max() <= 1e-12 * np.abs(plain).max()


@pytest.mark.parametrize("name", ["ur5e", "panda", "g1", "baxter", "go2", "nine_body_tree"])
@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "regressor"])
def test_the_length_of_code_is_foreseen(name, function):
    """Its order of magnitude: oblique axes make it longer, symmetric bodies shorter."""
    robot = dy.load(name)
    length = len(robot.kernel(function).code.instructions)
    expected = robot.evaluator.expected_instructions(ALGORITHMS[function])
    assert 0.1 * expected < length < 3 * expected + 500


def test_a_long_chain_answers_before_it_would_have_been_compiled():
    chain = dy.Description("chain").add_link("link0")
    for k in range(90):
        chain.add_link(f"link{k + 1}", f"link{k}", "revolute", axis=(0, 0, 1), inertia=dy.solids.sphere(0.1, mass=1.0))
    robot = dy.Robot(chain)
    robot.coriolis_matrix(robot.random(0), np.ones(90))
    assert not robot.evaluator.kernels
    with pytest.raises(dy.InputError, match="coriolis_matrix of robot 'chain' cannot be compiled"):
        dy.Robot(_longer(chain, 200)).kernel("coriolis_matrix")


def test_a_robot_that_cannot_be_compiled_says_which_reason_and_the_cure(tmp_path):
    d = dy.Description("one").add_link("base")
    d.add_link("arm", "base", "revolute", inertia=dy.Inertia(dy.symbol("m"), np.zeros(3), np.eye(3)))
    with pytest.raises(dy.InputError, match=r"parameters without values; give them, robot\.replace\(parameters=\{'m': …\}\)"):
        dy.Robot(d).write_c("gravity", tmp_path)
    with pytest.raises(dy.InputError, match="has no joints that move"):
        dy.Robot(dy.Description("none").add_link("base")).kernel("mass_matrix")
    chain = _longer(dy.Description("chain").add_link("link0"), 200)
    with pytest.raises(dy.InputError, match=r"more than 300000; lock joints by robot\.reduced"):
        dy.Robot(chain).kernel("coriolis_matrix")


def _longer(chain, joints):
    for k in range(len(chain.joints), joints):
        chain.add_link(f"link{k + 1}", f"link{k}", "revolute", axis=(0, 0, 1), inertia=dy.solids.sphere(0.1, mass=1.0))
    return chain


def test_one_state_takes_the_short_way_only_where_nothing_has_to_be_looked_at():
    """The same call before and after its kernel is there: a moving base, wrenches, and what is not a number."""
    robot = dy.load("ur5e")
    q, v, a = robot.random(rng), *rng.normal(size=(2, 6))
    moved = dy.MovingBase(dy.Pose(np.eye(3), np.zeros(3)), np.array([0.1, 0, 0, 0, 0.5, 0]), np.array([1.0, 2, 3, 0, 0.2, 0]))
    wrenches = {"tool0": rng.normal(size=6)}
    first = robot.inverse_dynamics(q, v, a, base=moved), robot.inverse_dynamics(q, v, a, wrenches)
    plain = robot.inverse_dynamics(q, v, a)
    for _ in range(2):
        assert np.array_equal(robot.inverse_dynamics(q, v, a), plain)
        assert np.array_equal(robot.inverse_dynamics(q, v, a, base=moved), first[0])
        assert np.array_equal(robot.inverse_dynamics(q, v, a, wrenches), first[1])
    assert np.abs(first[0] - plain).max() > 0.1
    for bad, message in ((np.full(6, np.nan), "is nan"), (np.full(6, np.inf), "is inf"), (np.zeros(5), "last axis")):
        with pytest.raises(dy.InputError, match=message):
            robot.inverse_dynamics(bad, v, a)
    assert np.abs(robot.inverse_dynamics(list(q), v.astype(np.float32), a) - plain).max() < 1e-4
    assert robot.inverse_dynamics(*(x.astype(np.float32) for x in (q, v, a))).dtype == np.float32


def test_one_state_of_very_large_numbers_is_computed_without_a_warning():
    """Squares of them overflow; so would a check that squares them."""
    robot = dy.load("ur5e")
    still = np.zeros(6)
    robot.mass_matrix(still)
    robot.inverse_dynamics(still, still, still)
    far = np.full(6, 1e200)
    assert np.array_equal(robot.mass_matrix(far), robot.mass_matrix(far[None])[0])
    assert np.array_equal(robot.inverse_dynamics(far, still, still), robot.inverse_dynamics(far[None], still, still)[0])
    with pytest.raises(dy.SingularError, match="not finite"):
        robot.inverse_dynamics(still, far, still)


def test_a_parameter_is_named_once():
    m = dy.symbol("m")
    loaded = dy.load("planar_2r_melchiorri").replace(payload=dy.solids.sphere(0.05, mass=m))
    for function in (loaded.compile, loaded.differentiate, loaded.numba):
        with pytest.raises(dy.InputError, match="parameters= has a symbol twice: 'm'; name each once"):
            function("gravity", parameters=[m, m])
    assert loaded.compile("gravity", parameters=m).arguments == (("q", 2), ("parameters", 1))
