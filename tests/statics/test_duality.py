"""The four subspaces: complements of each other, on random arms and singular ones, with units kept apart."""

import numpy as np
import pytest
from random_trees import random_robot

import dynamis as dy
from dynamis.statics import duality

STRETCHED = [0.4, 0.0]


def check_identities(found):
    robot, task = found.robot, found.task
    J = task.selection @ robot.jacobian(found.q, task.frame.name)
    m, n, r = task.size, robot.n, found.rank
    assert found.possible_motions.shape == (*found.impossible_motions.shape[:1], r) == (m, r)
    assert found.self_motions.shape == (n, n - r)
    assert found.balanced_torques.shape == (n, r)
    assert found.structure_wrenches.shape == (m, m - r)
    scale = max(np.abs(J).max(), 1.0)
    assert np.abs(J @ found.self_motions).max(initial=0) < 1e-7 * scale * max(1.0, found.length)
    assert np.abs(J.T @ found.structure_wrenches).max(initial=0) < 1e-7 * scale * max(1.0, found.length)
    # no power between what the structure carries and what can move, nor between R(Jᵀ) and N(J)
    assert np.abs(found.structure_wrenches.T @ found.possible_motions).max(initial=0) < 1e-9
    assert np.abs(found.balanced_torques.T @ found.self_motions).max(initial=0) < 1e-9
    # every velocity is in R(J), every torque of a wrench in R(Jᵀ)
    assert np.linalg.matrix_rank(np.column_stack([found.possible_motions, J / task.length]), 1e-7) == r
    assert np.linalg.matrix_rank(np.column_stack([found.balanced_torques, J.T]), 1e-7) == r
    if r:
        assert np.linalg.matrix_rank(np.column_stack([found.possible_motions, found.impossible_motions]), 1e-9) == m


@pytest.mark.parametrize("seed", range(10))
def test_subspaces_of_random_trees_are_complements(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=int(rng.integers(2, 9)))
    frame = robot.link_names[-1]
    for rows in ("all", "linear", "xy"):
        check_identities(duality(robot, robot.random(rng), frame, rows=rows))


@pytest.mark.parametrize("name", ["ur5e", "panda", "stanford", "scara", "puma560"])
def test_subspaces_of_real_arms_at_random_and_at_zero(name):
    robot = dy.load(name)
    for q in (robot.random(1), robot.neutral()):
        check_identities(duality(robot, q))


def test_a_stretched_arm_carries_a_pull_along_itself_and_cannot_move_there():
    found = duality(dy.load("planar_2r_melchiorri"), STRETCHED, rows="xy")
    assert (found.rank, found.singular, found.redundancy) == (1, True, 1)
    along = np.array([np.cos(0.4), np.sin(0.4)])
    assert abs(found.structure_wrenches[:, 0] @ along) == pytest.approx(1.0)
    assert abs(found.possible_motions[:, 0] @ along) < 1e-12
    assert found.sentences[0] == "a force along (0.9211, 0.3894, 0) needs no joint torque: the structure carries it"
    assert "link2 cannot move along (0.9211, 0.3894, 0)" in found.sentences
    assert "singular" in found.summary()


def test_a_planar_arm_says_what_its_structure_carries_in_space():
    sentences = duality(dy.load("planar_2r_melchiorri"), [0.3, 0.9]).sentences
    assert "a force along (0, 0, 1) needs no joint torque: the structure carries it" in sentences
    assert "a moment about (1, 0, 0) needs no joint torque: the structure carries it" in sentences
    assert "link2 cannot rotate about (0, 1, 0)" in sentences
    # a force whose line passes through both joints has no moment about either: here along link 1
    through = next(s for s in sentences if "through the point" in s)
    assert f"({np.cos(0.3):.4g}, {np.sin(0.3):.4g}, 0)" in through
    point = np.array([float(x) for x in through.split("through the point (")[1].split(")")[0].split(", ")])
    assert abs(np.cross(point, [np.cos(0.3), np.sin(0.3), 0.0])[2]) < 1e-3


def test_a_redundant_arm_moves_within_itself():
    robot = dy.load("panda")
    found = duality(robot, robot.random(2))
    assert (found.rank, found.redundancy, found.singular) == (6, 1, False)
    assert found.sentences[0].startswith("panda_link8 is not moved by the self-motion")


def test_a_self_motion_of_one_joint_is_named_by_the_joint():
    arm = dy.load("planar_2r_melchiorri")
    sentences = duality(arm, [0.3, 0.5], arm.link_names[-2]).sentences
    assert "link1 is not moved by the self-motion of joint2 alone" in sentences


def test_a_wrist_singularity_is_found_and_named():
    robot = dy.load("ur5e")
    found = duality(robot, [0.0, -1.0, 1.0, 0.3, 0.0, 0.0])
    assert found.rank == 5
    assert found.singular
    assert any("cannot" in s for s in found.sentences)


def test_subspaces_do_not_depend_on_the_length_that_mixes_units():
    robot = dy.load("stanford")
    q = robot.random(3)
    q[4] = 0.0
    one, other = (duality(robot, q, length=L) for L in (0.1, 10.0))
    assert one.rank == other.rank < 6
    for name in ("possible_motions", "self_motions", "balanced_torques", "structure_wrenches"):
        both = np.column_stack([getattr(x, name) / np.linalg.norm(getattr(x, name), axis=0) for x in (one, other)])
        assert np.linalg.matrix_rank(both, 1e-6) == getattr(one, name).shape[1]


def test_bases_are_orthonormal_where_units_are_not_mixed():
    found = duality(dy.load("panda"), dy.load("panda").random(4), rows="linear")
    for basis in (found.possible_motions, found.self_motions, found.balanced_torques):
        np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)


def test_rows_may_be_any_directions():
    arm = dy.load("planar_2r_melchiorri")
    along = np.array([[np.cos(0.4), np.sin(0.4), 0, 0, 0, 0]])
    assert duality(arm, STRETCHED, rows=along).rank == 0


def test_plain_data_and_picture(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for k, (name, q) in enumerate((("planar_2r_melchiorri", STRETCHED), ("planar_2r_melchiorri", [0.4, 1.0]), ("panda", None))):
        robot = dy.load(name)
        found = duality(robot, robot.random(1) if q is None else q, rows="xy" if q else "all")
        assert found.as_dict()["rank"] == found.rank
        found.plot(tmp_path / f"{k}.png")
        assert (tmp_path / f"{k}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "words"),
    [({"rows": "xw"}, "row"), ({"rows": ("x", "x")}, "twice"), ({"rows": np.zeros((2, 5))}, "matrix"), ({"length": 0}, "length"),
     ({"gap": 2.0}, "gap"), ({"frame": "lnk2"}, "link2"), ({"rows": ""}, "rows= is empty")],
)  # fmt: skip
def test_bad_questions_are_refused(options, words):
    frame = options.pop("frame", None)
    with pytest.raises(dy.DynamisError, match=words):
        duality(dy.load("planar_2r_melchiorri"), [0, 0], frame, **options)
    with pytest.raises(dy.InputError, match="without values"):
        duality(dy.load("planar_2r"), [0, 0])
