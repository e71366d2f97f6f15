from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.description import Description

ROBOT = dy.load("ur5e")
GOOD = [0.1] * 6
BAD_ARRAYS = {
    "short": [0.1] * 5,
    "long": [0.1] * 7,
    "number": 0.1,
    "empty": [],
    "column": [[0.1]] * 6,
    "ragged": [[0.1] * 6, [0.1] * 5],
    "nested ragged": [0.1, [0.1], 0.1, 0.1, 0.1, 0.1],
    "text": "012345",
    "texts": ["a"] * 6,
    "numbers as text": ["0.1"] * 6,
    "none": None,
    "nones": [None] * 6,
    "nan": [0.1, 0.1, np.nan, 0.1, 0.1, 0.1],
    "inf": [0.1] * 5 + [np.inf],
    "nan in a batch": np.array([GOOD, [np.nan] * 6]),
    "complex": [0.1 + 1j] * 6,
    "table": {"a": 1},
    "set": {0.1, 0.2},
    "object": object(),
    "bytes": b"012345",
    "function": len,
    "symbols beside text": [dy.symbol("x"), "y", 0, 0, 0, 0],
    "symbols beside none": [dy.symbol("x"), None, 0, 0, 0, 0],
    "symbols beside nan": [dy.symbol("x"), np.nan, 0, 0, 0, 0],
    "huge integer": [10**400] * 6,
}
CALLS = {
    "mass_matrix": lambda r, x: r.mass_matrix(x),
    "inverse_dynamics a": lambda r, x: r.inverse_dynamics(GOOD, GOOD, x),
    "wrench": lambda r, x: r.inverse_dynamics(GOOD, GOOD, GOOD, {"tool0": x}),
    "integrate": lambda r, x: r.integrate(GOOD, x),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_a_wrong_array_is_refused_with_the_argument_named(call, case):
    with pytest.raises(dy.InputError) as caught:
        CALLS[call](ROBOT, BAD_ARRAYS[case])
    assert 10 < len(str(caught.value)) < 600


def test_a_wrong_shape_is_refused_with_what_was_found_and_what_is_allowed():
    with pytest.raises(dy.InputError) as caught:
        ROBOT.inverse_dynamics(GOOD, [0.1] * 5, GOOD)
    for word in ("v has shape (5,)", "6 velocities", "UR5e", "shoulder_pan_joint"):
        assert word in str(caught.value)


def test_a_value_that_is_not_finite_is_refused_with_its_place():
    with pytest.raises(dy.InputError, match=r"a\[1, 2\] is nan"):
        ROBOT.inverse_dynamics(GOOD, GOOD, [GOOD, [0.1, 0.1, np.nan, 0.1, 0.1, 0.1]])


def test_batches_that_do_not_broadcast_are_refused():
    with pytest.raises(dy.InputError, match="do not broadcast"):
        ROBOT.inverse_dynamics(np.zeros((3, 6)), np.zeros((2, 6)), np.zeros(6))
    with pytest.raises(dy.InputError, match="do not broadcast"):
        ROBOT.integrate(np.zeros((3, 6)), np.zeros((2, 6)))


@pytest.mark.parametrize("frame", ["tool", "toool0", "", "Tool0", 5, ["tool0"], b"tool0"])
def test_a_wrong_frame_is_refused_by_every_call_that_takes_one(frame):
    calls = [
        lambda: ROBOT.pose(GOOD, frame),
        lambda: ROBOT.velocity(GOOD, GOOD, frame),
        lambda: ROBOT.acceleration(GOOD, GOOD, GOOD, frame),
        lambda: ROBOT.jacobian(GOOD, frame),
        lambda: ROBOT.jacobian_dot(GOOD, GOOD, frame),
        lambda: ROBOT.analytic_jacobian(GOOD, frame),
        lambda: ROBOT.replace(payload=dy.solids.sphere(0.1, mass=1.0), payload_frame=frame),
    ]
    if not isinstance(frame, list):
        calls.append(lambda: ROBOT.static_torque(GOOD, {frame: [0] * 6}))
    for call in calls:
        with pytest.raises(dy.NameLookupError, match="frame"):
            call()


def test_a_wrong_frame_is_refused_with_the_near_names():
    with pytest.raises(dy.NameLookupError, match="'tool0'"):
        ROBOT.pose(GOOD, "tol0")


def test_a_tree_without_a_single_tip_asks_for_a_frame():
    with pytest.raises(dy.InputError, match="name a frame"):
        dy.load("baxter").pose(np.zeros(dy.load("baxter").nq))


@pytest.mark.parametrize("axes", ["World", "body", "", None, 5, ["world"]])
def test_wrong_axes_are_refused_with_the_choices(axes):
    for call in (
        lambda: ROBOT.jacobian(GOOD, axes=axes),
        lambda: ROBOT.inverse_dynamics(GOOD, GOOD, GOOD, {"tool0": [0] * 6}, axes=axes),
        lambda: ROBOT.forward_dynamics(GOOD, GOOD, GOOD, axes=axes),
        lambda: ROBOT.static_torque(GOOD, axes=axes),
        lambda: ROBOT.torque_ledger(GOOD, GOOD, GOOD, axes=axes),
    ):
        with pytest.raises(dy.InputError, match="'world' or 'local'"):
            call()


@pytest.mark.parametrize(
    "wrenches", [[0] * 6, 5, "tool0", [("tool0", [0] * 6)], {"tool0": None}, {"tool0": [0] * 3}, {"tool0": {}}]
)
def test_wrong_wrenches_are_refused(wrenches):
    with pytest.raises(dy.InputError, match="wrench"):
        ROBOT.inverse_dynamics(GOOD, GOOD, GOOD, wrenches)


def test_an_unknown_orientation_is_refused_with_the_choices():
    with pytest.raises(dy.DynamisError, match="zyz"):
        ROBOT.analytic_jacobian(GOOD, orientation="euler")


@pytest.mark.parametrize(
    "change",
    [
        {"gravity": [0, 0]}, {"gravity": "down"}, {"gravity": [0, 0, np.nan]}, {"gravity": np.zeros((2, 3))}, {"gravity": 9.81},
        {"payload": 5}, {"payload": "heavy"}, {"friction": 1.0}, {"friction": {"nobody": {"viscous": 1.0}}},
        {"friction": {"elbow_joint": {"vicsous": 1.0}}}, {"friction": {"elbow_joint": 0.5}}, {"friction": {"elbow_joint": {"viscous": "x"}}},
        {"friction": {"elbow_joint": {"viscous": None}}}, {"friction": {"elbow_joint": {"coulomb": np.nan}}},
        {"friction": {"elbow_joint": {"coulomb": [1.0, 2.0]}}},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_change_is_refused(change):
    with pytest.raises(dy.DynamisError):
        ROBOT.replace(**change)


@pytest.mark.parametrize("description", ["ur5e", None, 5, {}, ROBOT])
def test_a_robot_of_something_else_than_a_description_is_refused(description):
    with pytest.raises(dy.InputError, match="Description"):
        dy.Robot(description)


def edited(edit):
    d = ROBOT.description
    edit(d)
    return d


EDITS = {
    "axis list": lambda d: setattr(d.joint("elbow_joint"), "axis", [0, 0, 1]),
    "axis text": lambda d: setattr(d.joint("elbow_joint"), "axis", "z"),
    "axis none": lambda d: setattr(d.joint("elbow_joint"), "axis", None),
    "axis of two": lambda d: setattr(d.joint("elbow_joint"), "axis", np.ones(2)),
    "axis nan": lambda d: setattr(d.joint("elbow_joint"), "axis", np.array([0, np.nan, 1])),
    "pitch nan": lambda d: [
        setattr(d.joint("elbow_joint"), "type", "helical"),
        setattr(d.joint("elbow_joint"), "pitch", np.nan),
    ],
    "pitch none": lambda d: [
        setattr(d.joint("elbow_joint"), "type", "helical"),
        setattr(d.joint("elbow_joint"), "pitch", None),
    ],
    "type unknown": lambda d: setattr(d.joint("elbow_joint"), "type", "hinge"),
    "type none": lambda d: setattr(d.joint("elbow_joint"), "type", None),
    "origin none": lambda d: setattr(d.joint("elbow_joint"), "origin", None),
    "tail nan": lambda d: setattr(d.joint("elbow_joint"), "tail", dy.Pose(np.full((3, 3), np.nan), np.zeros(3))),
    "not a rotation": lambda d: setattr(d.joint("elbow_joint"), "origin", dy.Pose(2 * np.eye(3), np.zeros(3))),
    "limit none": lambda d: setattr(d.joint("elbow_joint").limits, "lower", None),
    "limit nan": lambda d: setattr(d.joint("elbow_joint").limits, "lower", np.nan),
    "mass none": lambda d: setattr(d.link("forearm_link").mass_properties, "mass", None),
    "mass text": lambda d: setattr(d.link("forearm_link").mass_properties, "mass", "2"),
    "com list": lambda d: setattr(d.link("forearm_link").mass_properties, "com", [0, 0, 0]),
    "com of two": lambda d: setattr(d.link("forearm_link").mass_properties, "com", np.zeros(2)),
    "tensor list": lambda d: setattr(d.link("forearm_link").mass_properties, "tensor", np.eye(3).tolist()),
    "tensor of two": lambda d: setattr(d.link("forearm_link").mass_properties, "tensor", np.eye(2)),
    "gravity tuple": lambda d: setattr(d, "gravity", (0, 0, -9.81)),
    "gravity none": lambda d: setattr(d, "gravity", None),
    "gravity of two": lambda d: setattr(d, "gravity", np.zeros(2)),
    "viscous text": lambda d: setattr(d.joint("elbow_joint").drive, "viscous", "0.1"),
}


@pytest.mark.parametrize("case", EDITS)
def test_a_description_edited_with_a_wrong_value_works_or_is_refused_by_our_own_errors(case):
    d = edited(EDITS[case])
    try:
        assert np.isfinite(dy.Robot(d).mass_matrix(GOOD)).all()
        assert dy.check(d).ok
    except dy.DynamisError as error:
        assert 10 < len(str(error)) < 2000


def test_a_rotation_that_is_none_is_refused():
    with pytest.raises(dy.ModelError, match="rotation"):
        dy.Robot(edited(EDITS["not a rotation"]))


@pytest.mark.parametrize("axis", ["z", ["x", "y", "z"], [0, 1], [[0, 0, 1]], 1.0, [0, 0, 1j]])
def test_an_axis_that_is_not_three_numbers_is_refused_where_it_is_given(axis):
    d = Description("arm").add_link("base")
    with pytest.raises(dy.InputError, match="axis= takes three numbers"):
        d.add_link("upper", "base", "revolute", axis=axis)
    assert d.add_link("upper", "base", "revolute", axis=[0, 0, 2]).joints[0].axis.dtype == float


def test_a_matrix_is_a_rotation_up_to_rounding():
    def arm(factor):
        d = Description("arm").add_link("base")
        d.add_link("upper", "base", "revolute", inertia=dy.solids.sphere(0.1, mass=1.0))
        d.joint("upper_joint").origin = dy.Pose.rotation(factor * np.eye(3))
        return dy.Robot(d)

    assert arm(1.0 + 1e-7).n == 1
    for factor in (1.0 + 1e-5, 1.0 - 1e-5, -1.0):
        with pytest.raises(dy.ModelError, match="a rotation matrix"):
            arm(factor)
