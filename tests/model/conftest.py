from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

import dynamis as dy
from dynamis.algorithms import dynamics, kinematics, mass_matrix

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.02 0.03" rpy="0.1 0.2 0.3"/>
      <mass value="2"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.04"/>
    </inertial>
  </link>
  <link name="fore">
    <inertial>
      <origin xyz="0.2 0 0"/>
      <mass value="1.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/>
    </inertial>
  </link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.3" rpy="0 0 0.5"/>
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>
    <dynamics damping="0.7" friction="0.3"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <origin xyz="0.4 0 0"/>
    <parent link="upper"/>
    <child link="fore"/>
    <axis xyz="1 0 0"/>
    <limit lower="-0.5" upper="0.5" effort="50" velocity="3"/>
  </joint>
  <joint name="mount" type="fixed">
    <origin xyz="0.1 0 0"/>
    <parent link="fore"/>
    <child link="tool"/>
  </joint>
</robot>
"""

TWO_LINKS = """[robot]
name = "two links"
gravity = [0, -9.81, 0]

[parameters]
l = 0.5
m = 2.0

[base]
name = "ground"

[[link]]
link = "upper"
joint = "shoulder"
mass = "m"
com = ["l/2", 0, 0]
inertia = { zz = "m*l^2/12", yy = "m*l^2/12" }
limits = { lower = -2, upper = 2 }

[[link]]
link = "fore"
joint = "elbow"
xyz = ["l", 0, 0]
mass = "m"
com = ["l/2", 0, 0]
solid = { kind = "box", x = 0.5, y = 0.1, z = 0.1 }
viscous = 0.1

[[frame]]
link = "tool"
parent = "fore"
xyz = ["l", 0, 0]
"""

HANGS = 60.0  # seconds of processor time: what is meant takes far less, what is guarded against far more


@pytest.fixture
def arm():
    """A clean URDF arm; ``arm(old, new, old, new, …)`` is the same with these pieces exchanged."""
    return _editor(ARM)


@pytest.fixture
def two_links():
    """The same for a clean TOML arm."""
    return _editor(TWO_LINKS)


def _editor(text):
    def edit(*pieces):
        result = text
        for old, new in zip(pieces[::2], pieces[1::2], strict=True):
            assert old in result
            result = result.replace(old, new)
        return result

    return edit


@pytest.fixture
def save(tmp_path):
    def write(content, name="robot.urdf"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def refused(save):
    """The error of a file that must not load; checking it must say the same, and both must be quick."""

    def refuse(content, name="robot.urdf"):
        path = save(content, name)
        start = time.process_time()
        with pytest.raises(dy.ModelError) as caught:
            dy.load(path)
        report = dy.check(path)
        assert time.process_time() - start < HANGS
        assert not report.ok
        assert str(caught.value).startswith(str(path))
        assert caught.value.problems
        return caught.value

    return refuse


def plain_values(robot, q, v, frames):
    """Mass matrix, gravity, bias and poses by the algorithms on floats."""
    m = robot.model
    poses = [kinematics.pose(m, q, m.frame(frame)) for frame in frames]
    return [mass_matrix.crba(m, q), dynamics.gravity(m, q), dynamics.bias(m, q, v), *poses]


def compiled_values(robot, q, v, frames):
    return [robot.mass_matrix(q), robot.gravity(q), robot.bias(q, v), *(robot.pose(q, frame) for frame in frames)]


@pytest.fixture
def same_dynamics():
    """Whether two robots have the same mass matrix, gravity, bias and tool pose at random states.

    A model is compared, which needs no compiled code; tests/robot/test_against_reference.py proves that compiled code agrees
    with the algorithms. ``compiled`` is for tests in which the compiler could stumble over a robot.
    """

    def compare(one, other, frames=None, tolerance=1e-12, compiled=False):
        assert one.coordinate_names == other.coordinate_names
        rng = np.random.default_rng(5)
        frames = frames if frames is not None else [one.model.tip] if one.model.tip else list(one.link_names)
        values = compiled_values if compiled else plain_values
        for _ in range(4):
            q, v = one.random(rng), rng.uniform(-1.0, 1.0, one.n)
            for a, b in zip(values(one, q, v, frames), values(other, q, v, frames), strict=True):
                assert np.abs(a - b).max(initial=0.0) <= tolerance * max(1.0, np.abs(a).max(initial=0.0))

    return compare


@pytest.fixture
def quiet_load():
    """Loads a file whose doubtful physics is not what the test is about."""

    def load(path, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dy.ModelWarning)
            return dy.load(path, **options)

    return load


@pytest.fixture
def line_of():
    def find(text, piece):
        return next(number for number, line in enumerate(text.splitlines(), 1) if piece in line)

    return find
