"""Motions for viewers: poses of all links at a rate, as JSON."""

import json

import numpy as np
import pytest
from small_machines import ball_joint, pendulum

import dynamis as dy
from dynamis.model.description import Shape
from dynamis.spatial import rotation

ARM = dy.load("panda")


def test_every_link_is_where_the_robot_says_at_every_picture():
    motion = dy.simulate(ARM, 0.5, [0.1] * 7, points=5)
    made = motion.animation(rate=40.0)
    assert [link["name"] for link in made["links"]] == list(ARM.link_names)
    assert made["times"] == pytest.approx(np.arange(21) / 40.0)
    q, v = motion.at(np.arange(21) / 40.0)
    positions, quaternions = np.array(made["positions"]), np.array(made["quaternions"])
    assert positions.shape == (21, len(ARM.link_names), 3)
    for k, name in enumerate(ARM.link_names):
        X = ARM.pose(q, name)
        assert np.abs(positions[:, k] - X[:, :3, 3]).max() < 1e-6
        found = np.array([rotation.from_quaternion(x) for x in quaternions[:, k]])
        assert np.abs(found - X[:, :3, :3]).max() < 1e-5
    assert made["kinetic_energy"] == pytest.approx(ARM.kinetic_energy(q, v), rel=1e-5)
    assert made["potential_energy"] == pytest.approx(ARM.potential_energy(q), rel=1e-5)


def test_quaternions_do_not_jump_where_a_body_turns_over():
    motion = dy.simulate(pendulum().replace(gravity=(0, 0, 0)), 3.0, v0=[9.0])
    quaternions = np.array(motion.animation()["quaternions"])
    assert np.abs(np.diff(quaternions, axis=0)).max() < 0.1
    assert quaternions[:, 1, 3].min() < -0.9


def test_parents_make_a_skeleton_and_shapes_are_those_of_the_file():
    made = dy.simulate(ARM, 0.1, points=3).animation()
    parents = {j.child: j.parent for j in ARM.description.joints}
    for k, link in enumerate(made["links"]):
        assert link["parent"] < k
        assert (made["links"][link["parent"]]["name"] if k else None) == parents.get(link["name"])
    d = pendulum().description
    shape = {"role": "visual", "size": (0.1, 0.5), "origin": dy.Pose.translation([0, 0, -0.25])}
    d.links[1].shapes += [Shape(kind="cylinder", rgba=(1, 0, 0, 1), **shape), Shape(kind="sphere", **{**shape, "role": "collision"}),
                          Shape(kind="mesh", mesh="package://arm/bob.stl", **shape)]  # fmt: skip
    visuals = dy.simulate(dy.Robot(d), 0.1, points=3).animation()["links"][1]["visuals"]
    assert [v["kind"] for v in visuals] == ["cylinder", "mesh"]
    assert visuals[0] == {
        "kind": "cylinder",
        "size": [0.1, 0.5],
        "position": [0, 0, -0.25],
        "quaternion": [0, 0, 0, 1],
        "rgba": [1, 0, 0, 1],
    }
    assert visuals[1]["mesh"] == "package://arm/bob.stl"


def test_the_file_is_json_with_the_events_and_nothing_but_numbers(tmp_path):
    motion = dy.simulate(pendulum(coulomb=0.5), 2.0, [1.0])
    text = motion.save(tmp_path / "swing.json").read_text(encoding="utf-8")
    read = json.loads(text, parse_constant=lambda c: pytest.fail(f"{c} is no JSON"))
    assert read == motion.animation()
    assert read["format"] == "dynamis animation 1"
    assert read["events"][0] == {"time": motion.events[0].time, "kind": "reverses", "joint": "hinge"}
    assert len(text) < 150 * len(read["times"]) + 2000


def test_a_ball_joint_and_a_motion_that_stopped_early_are_shown_as_far_as_they_go():
    def fails(t, q, v):
        if t > 0.31:
            raise RuntimeError("lost")
        return np.zeros(3)

    motion = dy.simulate(ball_joint(), 1.0, controller=fails, points=101)
    made = motion.animation(10.0)
    assert made["times"] == pytest.approx(np.arange(0.0, motion.t[-1], 0.1))
    assert 3 <= len(made["times"]) <= 4
    assert "lost" in made["status"]


@pytest.mark.parametrize("rate", [0, -1.0, np.nan, np.inf, "fast", True, 1e12])
def test_impossible_rates_are_refused(rate):
    with pytest.raises(dy.InputError, match="rate"):
        dy.simulate(pendulum(), 0.1, points=3).animation(rate)
