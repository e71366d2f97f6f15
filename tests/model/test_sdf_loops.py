"""Loops of SDF files, whose links have a second joint, read as closures."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.tolerances import RANK_TOLERANCE, RECURSION_ROUNDING


def closing(*joints):
    """A crank, a rod and a slider, each a bar along x; ``joints`` close the loop to the world."""
    bars = [("crank", 0.0, 0.3), ("rod", 0.3, 0.5), ("slider", 0.8, 0.1)]
    links = "".join(
        f'<link name="{name}"><pose>{x} 0 0 0 0 0</pose><inertial><pose>{length / 2} 0 0 0 0 0</pose><mass>1</mass><inertia>'
        "<ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial></link>"
        for name, x, length in bars
    )
    turning = "".join(
        f'<joint name="{child}_joint" type="revolute"><parent>{parent}</parent><child>{child}</child>'
        "<axis><xyz>0 1 0</xyz></axis></joint>"
        for parent, child in (("world", "crank"), ("crank", "rod"), ("rod", "slider"))
    )
    return f'<sdf version="1.8"><model name="loop">{links}{turning}{"".join(joints)}</model></sdf>'


def second(kind, extra="", parent="world", child="slider", axis="1 0 0"):
    of = "" if kind in ("ball", "fixed") else f"<axis><xyz>{axis}</xyz>{extra}</axis>"
    return f'<joint name="loop" type="{kind}"><pose>0.05 0 0 0 0 0</pose><parent>{parent}</parent><child>{child}</child>{of}</joint>'


def rows_of(robot, q):
    parts = [closure.rows(robot, q, np.zeros(robot.n)) for closure in dy.loops.closures(robot)]
    return np.concatenate([part[0] for part in parts]), np.vstack([part[1] for part in parts])


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [("prismatic", ["plane"] * 3), ("revolute", ["point"] * 2), ("ball", ["point"]), ("fixed", ["weld"])],
)
def test_the_second_joint_of_a_link_closes_a_loop(kind, kinds):
    with pytest.warns(dy.ModelWarning, match="loops closed by 1 second joint of links"):
        robot = dy.load(closing(second(kind, axis="1 0 0" if kind == "prismatic" else "0 1 0")))
    assert [x.kind for x in robot.description.closures] == kinds
    assert robot.joint_names == ("crank_joint", "rod_joint", "slider_joint")
    h, _ = rows_of(robot, np.zeros(3))
    assert np.abs(h).max() < RECURSION_ROUNDING
    # bent configurations that keep the closing joint's frame where it is, or on its axis
    crank, rod = 0.3, 0.5
    for angle in (0.2, -0.4):
        other = np.arcsin(-crank * np.sin(angle) / rod) - angle
        if kind == "prismatic":
            h, H = rows_of(robot, np.array([angle, other, -angle - other]))
            assert np.abs(h).max() < RECURSION_ROUNDING
            assert np.linalg.matrix_rank(H, tol=RANK_TOLERANCE) == 2
            assert np.abs(rows_of(robot, np.array([angle, other, 0.1 - angle - other]))[0]).max() > 1e-3
        else:
            assert np.abs(rows_of(robot, np.array([angle, other, -angle - other]))[0]).max() > 1e-3


def test_a_loop_of_sdf_conserves_energy_and_keeps_closed():
    with pytest.warns(dy.ModelWarning, match="loops closed"):
        robot = dy.load(closing(second("prismatic")))
    angle = 0.5
    other = np.arcsin(-0.3 * np.sin(angle) / 0.5) - angle
    motion = dy.constrained(robot).simulate(0.5, np.array([angle, other, -angle - other]))
    assert np.abs(motion.energy_error).max() < 1e-6
    places = robot.pose(motion.q, "slider")
    assert np.abs(places[:, 2, 3]).max() < 1e-6  # on the guide
    assert np.ptp(places[:, 0, 3]) > 0.01


def test_a_joint_with_a_spring_stays_in_the_tree_and_what_a_closing_joint_loses_is_told():
    spring = "<dynamics><spring_stiffness>100</spring_stiffness></dynamics>"
    with pytest.warns(dy.ModelWarning, match="loops closed"):
        robot = dy.load(closing(second("prismatic", spring)))
    assert robot.joint_names == ("crank_joint", "rod_joint", "loop")
    limited = "<limit><lower>-1</lower><upper>1</upper></limit><dynamics><damping>2</damping></dynamics>"
    with pytest.warns(dy.ModelWarning) as told:
        dy.load(closing(second("prismatic", limited)))
    (lost,) = [str(x.message) for x in told if "left aside" in str(x.message)]
    assert "joint 'loop': a joint that closes a loop has limits and friction or spring" in lost


def test_a_loop_that_cannot_be_closed_is_refused_with_the_way_to_add_one():
    with pytest.raises(dy.ModelError, match=r"a \[\[closure\]\] of a TOML file, or a closure given to dynamis.constrained"):
        dy.load(closing(second("screw", axis="0 1 0")))


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_a_joint_without_a_direction_closes_no_loop(kind):
    with pytest.raises(dy.ModelError, match=r"joint 'loop': the axis is \(0, 0, 0\); allowed: a direction that is not zero"):
        dy.load(closing(second(kind, axis="0 0 0")))
