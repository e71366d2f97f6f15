"""The page's forward kinematics, run by Node on robots of every kind of joint."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from campaign_params import few_of
from random_trees import random_robot

import dynamis as dy
from dynamis.algorithms import kinematics
from dynamis.reports.scene import scene_of

MODULE = Path(dy.__file__).parent / "documents/assets/kinematics.js"
SCRIPT = """
import { readFileSync } from "node:fs";
const { framePoses } = await import(process.argv[1]);
const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(({ scene, q }) => [...framePoses(scene, q)])));
"""


def in_node(cases):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js on the path")
    command = [node, "--input-type=module", "-e", SCRIPT, MODULE.as_uri()]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", few_of(["stanford", "scara", "go2", "baxter"], ["stanford", "scara", "go2"]))
def test_library_robots_stand_where_python_says(name):
    robot = dy.load(name)
    states, scene = robot.random(0, 3), scene_of(robot)
    for q, frames in zip(states, in_node([{"scene": scene, "q": q.tolist()} for q in states]), strict=True):
        assert [frame for frame, _ in frames] == list(robot.link_names)
        for frame, pose in frames:
            assert np.allclose(
                np.reshape(pose, (3, 4)), kinematics.pose(robot.model, q, robot.model.frame(frame))[:3], atol=1e-9
            )


def test_random_trees_with_all_joint_types():
    robots = [random_robot(np.random.default_rng(seed)) for seed in range(30)]
    robots = [robot for robot in robots if robot.n]
    states = [robot.random(1) for robot in robots]
    scenes = [scene_of(robot) for robot in robots]
    kinds = {body["kind"] for scene in scenes for body in scene["bodies"]}
    assert {"revolute", "prismatic", "helical", "spherical", "free"} <= kinds
    found = in_node([{"scene": scene, "q": q.tolist()} for scene, q in zip(scenes, states, strict=True)])
    for robot, q, frames in zip(robots, states, found, strict=True):
        for frame, pose in frames:
            assert np.allclose(
                np.reshape(pose, (3, 4)), kinematics.pose(robot.model, q, robot.model.frame(frame))[:3], atol=1e-9
            )
