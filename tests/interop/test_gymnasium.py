"""Environments of Gymnasium: its own checks, states as those of `Step`, limits, rewards, batches, refusals."""

import copy
import sys

import numpy as np
import pytest

import dynamis as dy

JOINTS = ("joint1", "joint2")
ARM = dy.load("planar_2r_melchiorri").replace(limits={j: {"effort": 1500.0} for j in JOINTS})
START = {"q": [0.3, 0.5], "v": [0.1, -0.2], "goal": [1.0, -1.0]}


def test_without_gymnasium_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "dynamis.optimize.gymnasium_environments", raising=False)
    with pytest.raises(dy.MissingExtraError, match="pip install 'dynamis\\[gymnasium\\]'"):
        dy.optimize.environment(ARM)


@pytest.fixture(scope="module")
def gymnasium():
    return pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install gymnasium")


@pytest.mark.filterwarnings("ignore:.*infinity", "ignore:.*render modes")
@pytest.mark.parametrize("robot", [ARM, dy.load("panda")], ids=["planar", "panda"])
def test_the_checks_of_gymnasium_pass(gymnasium, robot):
    from gymnasium.utils.env_checker import check_env

    check_env(dy.optimize.environment(robot, duration=0.1))


def test_states_and_rewards_are_those_of_small_steps(gymnasium):
    env = dy.optimize.environment(ARM, step=0.02, substeps=2, duration=0.06, weights={"effort": 0.3})
    env.reset(options=START)
    small, q, v = dy.optimize.Step(ARM, 0.01), START["q"], START["v"]
    for k, u in enumerate(([0.5, -0.2], [0.3, 2.0], [-0.1, 0.1])):  # actions are within [-1, 1]
        observation, reward, terminated, truncated, _ = env.step(np.array(u, np.float32))
        u = np.clip(np.float32(u).astype(float), -1, 1)
        for _ in range(2):
            q, v = small(q, v, 1500.0 * u)
        error = START["goal"] - q
        assert np.allclose(observation, [*q, *v, *error], rtol=1e-6)
        assert reward == pytest.approx(-0.02 * (error @ error + 0.3 * (u @ u) / 2), rel=1e-12)
        assert (terminated, truncated) == (False, k == 2)


def test_an_episode_ends_where_limits_are_left_and_its_cost_counts_to_the_end(gymnasium):
    stops = ARM.replace(limits={j: {"lower": -0.2, "upper": 0.2, "velocity": 1e3} for j in JOINTS})
    env, free = (dy.optimize.environment(stops, goal=[0.1, 0.1], duration=1.0, limits=x) for x in (True, False))
    observation, _ = env.reset(seed=3)
    assert np.allclose(observation[:2] + observation[4:], 0.1, atol=1e-7)
    free.reset(seed=3)
    for left in range(50, 0, -1):
        state, reward, terminated, _, _ = env.step(np.ones(2, np.float32))
        assert np.array_equal(state, (other := free.step(np.ones(2, np.float32)))[0])
        assert terminated == (np.abs(state[:2]).max() > 0.2)
        assert reward == pytest.approx(other[1] * (left if terminated else 1), rel=1e-12)
        assert not other[2]
        if terminated:
            break
    assert terminated


def test_velocities_stay_within_their_limits_as_those_of_drives(gymnasium):
    slow = ARM.replace(limits={j: {"velocity": 0.5} for j in JOINTS})
    env = dy.optimize.environment(slow, goal=[0.1, 0.1], duration=1.0)
    q = env.reset(seed=3)[0][:2]
    for _ in range(50):
        state, _, terminated, _, _ = env.step(np.ones(2, np.float32))
        assert np.abs(state[2:4]).max() <= 0.5
        assert np.abs(state[:2] - q).max() <= 0.5 * 0.02 + 1e-6
        assert not terminated
        q = state[:2]
    assert np.abs(state[2:4]).max() == pytest.approx(0.5)


def test_a_batch_is_computed_as_single_robots_are_and_begins_anew(gymnasium):
    many = dy.optimize.environment(ARM, count=3, duration=0.04)
    one = dy.optimize.environment(ARM, duration=0.04)
    starts = {"q": ARM.random(0, 3), "goal": ARM.random(1, 3)}
    many.reset(seed=5, options=starts)
    actions = many.action_space.sample()
    batch = [many.step(actions) for _ in range(3)]
    for k in range(3):
        one.reset(options={name: x[k] for name, x in starts.items()})
        for found in batch[:2]:
            expected = one.step(actions[k])
            assert all(np.array_equal(found[i][k], expected[i]) for i in range(4))
    observation, reward, terminated, truncated, _ = batch[2]  # the episodes after the end
    assert not np.any(reward)
    assert not np.any(terminated | truncated)
    assert np.array_equal(observation[:, 2:4], np.zeros((3, 2)))
    assert many.observation_space.contains(observation)


def test_states_that_are_not_finite_end_an_episode(gymnasium):
    env = dy.optimize.environment(ARM, limits=False, duration=0.2)
    env.reset(options={**START, "v": [1e30, 1e30]})
    for _ in range(10):
        observation, reward, terminated, _, _ = env.step(np.zeros(2, np.float32))
        if terminated:
            break
    assert terminated
    assert np.isfinite(reward)
    assert not np.isnan(observation).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal": [1.0]}, "goal has shape .* must have 2 numbers"),
        ({"weights": {"gaol": 1.0}}, "weight 'gaol' is unknown"),
        ({"substeps": 0}, "substeps must be a positive integer"),
        ({"count": 0}, "count must be a positive integer"),
        ({"step": 1.0, "duration": 0.5}, "duration not shorter"),
    ],
)
def test_wrong_options_are_refused(gymnasium, options, message):
    with pytest.raises(dy.InputError, match=message):
        dy.optimize.environment(ARM, **options)


def test_torques_without_limits_and_wrong_starts_are_refused(gymnasium):
    with pytest.raises(dy.InputError, match="torque limit of joint1 is inf"):
        dy.optimize.environment(dy.load("planar_2r_melchiorri"))
    env = dy.optimize.environment(ARM)
    with pytest.raises(dy.InputError, match="option 'x' of reset is unknown"):
        env.reset(options={"x": 1})
    with pytest.raises(dy.InputError, match=r"v has shape .* must have the 2 velocities"):
        env.reset(options={"v": [1.0, 2.0, 3.0]})


def test_a_step_before_reset_and_actions_that_are_no_numbers_are_refused(gymnasium):
    for env in (dy.optimize.environment(ARM), dy.optimize.environment(ARM, count=3)):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step\(\)"):
            env.step(env.action_space.sample())
        env.reset(seed=0)
        with pytest.raises(dy.InputError, match="the action"):
            env.step(np.nan * env.action_space.sample())


LIMITED = ARM.replace(limits={j: {"lower": -1.0, "upper": 1.0, "velocity": 2.0} for j in JOINTS})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goal": [0.0, 1.5]}, r"position of 'joint2' in goal is 1.5, outside of its limits -1 … 1: .*limits=False"),
        ({"goal": [0.0, np.nan]}, "must be a finite number"),
        ({"goal": ["a", "b"]}, "array of real numbers"),
        ({"goal": [[1.0], [1.0, 2.0]]}, "ragged"),
        ({"weights": {"goal": -1.0}}, "must not be negative"),
        ({"weights": {"effort": np.nan}}, "finite number"),
        ({"weights": {"effort": "a"}}, "must be numeric"),
        ({"weights": 3}, "must be a mapping"),
        ({"count": True}, "positive integer"),
        ({"count": 10**12}, "more than fits into memory"),
    ],
)
def test_environments_without_meaning_are_refused(gymnasium, arguments, message):
    with pytest.raises(dy.InputError, match=message):
        dy.optimize.environment(LIMITED, **arguments)


def test_numbers_of_environments_and_substeps_may_be_integers_of_numpy(gymnasium):
    assert dy.optimize.environment(LIMITED, count=np.int64(3), substeps=np.int32(2)).num_envs == 3


@pytest.mark.parametrize("count", [None, 3])
def test_starts_and_actions_without_meaning_are_refused(gymnasium, count):
    env = dy.optimize.environment(LIMITED, count=count)
    for options, message in (
        (3, "options= of reset maps"),
        ({3: 1}, "option 3 of reset is unknown"),
        ({"q": "a"}, "array of real numbers"),
        ({"q": [0.0, -1.1]}, "position of 'joint2' in q is -1.1"),
        ({"v": [2.5, 0.0]}, "velocity of 'joint1' in v is 2.5"),
        ({"goal": [0.0, 3.0]}, "position of 'joint2' in goal is 3"),
    ):
        with pytest.raises(dy.InputError, match=message):
            env.reset(options=options)
    env.reset(options={"q": np.full(2, 1.0 + 1e-8), "goal": [-1.0, 1.0]})  # of an observation in single precision
    for action in ("a", None, np.zeros(3), np.zeros((5, 2)), [np.nan, 0.0]):
        with pytest.raises(dy.InputError, match="the action"):
            env.step(action)
    dy.optimize.environment(LIMITED, [0.0, 1.5], count=count, limits=False).reset(options={"q": [0.0, -1.1]})


@pytest.mark.parametrize("count", [None, 2])
def test_a_copy_of_an_environment_goes_on_alike(gymnasium, count):
    env = dy.optimize.environment(ARM, count=count)
    env.reset(seed=1)
    env.step(np.ones(env.action_space.shape))
    twin = copy.deepcopy(env)
    one, other = (x.step(0.5 * np.ones(env.action_space.shape)) for x in (env, twin))
    assert np.array_equal(one[0], other[0])
    assert np.array_equal(one[1], other[1])
