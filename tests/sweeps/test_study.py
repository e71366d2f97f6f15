"""Studies: what is varied is a function of seed and case; what is wrong is named with its line and the cure."""

import numpy as np
import pytest

from dynamis import Robot
from dynamis.errors import InputError
from dynamis.sweeps.cases import case_setup, run_case
from dynamis.sweeps.study_file import entry_lines, line_of, read_study, study_from_text
from dynamis.sweeps.variables import Variable

TOP = 'robot = "planar_2r_melchiorri"\nduration = 0.1\n'
VARY = '[vary]\n"q0.joint1" = { uniform = [-1, 1] }\n'


def test_cases_are_the_grid_times_the_draws_in_order():
    made = study_from_text(
        TOP + 'draws = 2\n[vary]\n"viscous.*" = { grid = [0, 30] }\n"q0.joint1" = { uniform = [-1, 1] }\n'
        'torque.joint2 = { from = 0, to = "pi", count = 3 }\n'
    )
    values = np.array([made.values(k) for k in range(made.cases)])
    assert made.cases == 12
    np.testing.assert_array_equal(values[:, 0], [0] * 6 + [30] * 6)
    np.testing.assert_allclose(values[:, 2], [0, 0, np.pi / 2, np.pi / 2, np.pi, np.pi] * 2)
    assert len(set(values[:, 1])) == 12


def test_a_draw_does_not_depend_on_what_else_is_varied():
    one = study_from_text(TOP + "draws = 5\nseed = 3\n" + VARY)
    more = study_from_text(TOP + "draws = 9\nseed = 3\n" + VARY + '"v0.joint2" = { normal = [0, 1] }\n')
    other = study_from_text(TOP + "draws = 5\nseed = 4\n" + VARY)
    assert [one.values(k)[0] for k in range(5)] == [more.values(k)[0] for k in range(5)]
    assert one.values(0) != other.values(0)


@pytest.mark.parametrize(
    ("law", "numbers", "within", "mean", "low", "high"),
    [
        ("uniform", (2.0, 4.0), (), 3.0, 2.0, 4.0),
        ("log_uniform", (0.01, 1.0), (), 0.99 / np.log(100), 0.01, 1.0),
        ("normal", (5.0, 0.5), (), 5.0, 2.0, 8.0),
        ("normal", (0.0, 1.0), (0.0, 9.0), np.sqrt(2 / np.pi), 0.0, 9.0),
        ("normal", (0.0, 1.0), (8.0, 9.0), 8.12, 8.0, 9.0),
        ("choice", (1.0, 2.0, 6.0), (), 3.0, 1.0, 6.0),
    ],
)
def test_draws_follow_their_law(law, numbers, within, mean, low, high):
    variable = Variable("q0", "joint1", law, numbers, within)
    values = np.array([variable.draw(1, k) for k in range(2000)])
    assert values.min() >= low
    assert values.max() <= high
    assert abs(values.mean() - mean) < 4 * values.std() / np.sqrt(2000) + 1e-3


def test_every_kind_of_variation_reaches_the_robot():
    made = study_from_text(
        TOP + 'q0 = [0.1, 0.2]\n[v0]\njoint2 = 0.5\n[payload]\nx = 0.1\n[vary]\n"payload.mass" = { grid = [3] }\n'
        '"viscous.joint1" = { grid = [7] }\n"coulomb.*" = { grid = [2] }\n"gravity.y" = { grid = [-1.6] }\n'
        '"mass.link1" = { grid = [25] }\n"torque.joint2" = { grid = [4] }\n"q0.joint1" = { grid = [0.9] }\n'
    )  # fmt: skip
    setup = case_setup(made, made.values(0))
    np.testing.assert_array_equal(setup.q0, [0.9, 0.2])
    np.testing.assert_array_equal(setup.v0, [0, 0.5])
    np.testing.assert_array_equal(setup.torque, [0, 4])
    np.testing.assert_array_equal(setup.robot.model.viscous, [7, 0])
    np.testing.assert_array_equal(setup.robot.model.coulomb, [2, 2])
    np.testing.assert_array_equal(setup.robot.model.gravity, [0, -1.6, 0])
    assert setup.robot.mass == pytest.approx(25 + 50 + 3)
    tip = 25 * 0.5 + 50 * (1 + 0.5) + 3 * (2 + 0.1)
    assert setup.robot.gravity([0.0, 0.0])[0] == pytest.approx(1.6 * tip)


@pytest.mark.parametrize("kind", ["q0", "v0", "torque", "viscous"])
@pytest.mark.parametrize(
    "tables",
    [
        '[vary]\n"K.joint1" = { grid = [0.3] }\n"K.*" = { grid = [0.1] }\n',
        '[vary]\n"K.*" = { grid = [0.1] }\n"K.joint1" = { grid = [0.3] }\n',
        '[K]\njoint1 = 0.3\n"*" = 0.2\n[vary]\n"K.joint2" = { grid = [0.1] }\n',
        '[K]\njoint1 = 0.3\n[vary]\n"K.*" = { grid = [0.1] }\n',
    ],
)
def test_the_value_of_a_joint_replaces_that_of_all_joints_in_any_order(kind, tables):
    made = study_from_text(TOP + tables.replace("K", kind))
    setup = case_setup(made, made.values(0))
    found = setup.robot.model.viscous if kind == "viscous" else getattr(setup, kind)
    np.testing.assert_array_equal(found, [0.3, 0.1])


def test_the_payload_that_a_robot_has_is_changed_not_carried_besides(tmp_path):
    from dynamis import load, solids

    arm = load("planar_2r_melchiorri")
    arm.replace(payload=solids.sphere(0.1, mass=4.0)).write(tmp_path / "arm.toml")
    top = TOP.replace("planar_2r_melchiorri", "arm.toml")

    def robot(varied):
        made = study_from_text(f"{top}[vary]\n{varied}\n", folder=tmp_path)
        return case_setup(made, made.values(0)).robot

    expected = arm.replace(payload=solids.sphere(0.1, mass=3.0))
    q = [0.3, -0.7]
    assert robot('"payload.mass" = { grid = [3] }').mass == pytest.approx(arm.mass + 3)
    np.testing.assert_allclose(robot('"payload.mass" = { grid = [3] }').mass_matrix(q), expected.mass_matrix(q), rtol=1e-12)
    assert robot('"payload.mass" = { grid = [0] }').mass == pytest.approx(arm.mass)
    moved = robot('"payload.x" = { grid = [0.2] }')
    assert moved.mass == pytest.approx(arm.mass + 4)
    assert moved.gravity([0.0, 0.0])[1] == pytest.approx(arm.gravity([0.0, 0.0])[1] + 4 * 9.81 * 1.2)
    assert robot('"mass.link2" = { grid = [7] }').mass == pytest.approx(50 + 7 + 4)
    with pytest.raises(InputError, match="no payload there"):
        study_from_text(TOP + '[vary]\n"payload.x" = { grid = [0.2] }\n')


def test_all_joints_include_those_that_follow_others(tmp_path):
    from dynamis import load
    from dynamis.model.description import Mimic

    d = load("planar_2r_melchiorri")._description.copy()
    d.joint("joint2").mimic = Mimic("joint1", -2.0, 0.3)
    d.joint("joint2").drive.viscous = 5.0
    Robot(d).write(tmp_path / "arm.toml")
    top = TOP.replace("planar_2r_melchiorri", "arm.toml")

    def viscous(varied):
        made = study_from_text(f"{top}[vary]\n{varied}\n", folder=tmp_path)
        return case_setup(made, made.values(0)).robot.model.viscous

    np.testing.assert_allclose(viscous('"viscous.*" = { grid = [0.5] }'), [0.5 + 4 * 0.5])
    np.testing.assert_allclose(viscous('"viscous.joint2" = { grid = [0.5] }'), [4 * 0.5])
    for kind in ("q0", "v0", "torque"):
        with pytest.raises(InputError, match="joint 'joint2' follows 'joint1': set that one"):
            viscous(f'"{kind}.joint2" = {{ grid = [0.5] }}')


def test_output_times_lie_on_the_steps_of_a_fixed_step_method():
    top = f'{TOP}method = "rk4"\nstep = 1e-3\n'
    row = run_case(study_from_text(top + VARY.replace("uniform = [-1, 1]", "grid = [0.5]")), 0)
    assert row[-1] == "completed"
    with pytest.raises(InputError, match=r"line 4: step: .* use points=101 or fewer"):
        study_from_text(top + "points = 201\ndraws = 1\n" + VARY)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("rtol = 1e-300", r"line 3: rtol: rtol must be a number of at least"),
        ('step = 1e-3\nmethod = "rk4"\natol = 1e-9', "leave them out"),
    ],
)
def test_tolerances_that_no_case_can_use_are_refused_before_the_sweep(setting, message):
    with pytest.raises(InputError, match=message):
        study_from_text(f"{TOP}{setting}\ndraws = 1\n{VARY}")


def test_symbols_of_a_robot_are_varied():
    text = (
        'robot = "planar_2r"\nduration = 0.1\ndraws = 3\n[parameters]\ng = 9.81\na_1 = 1\na_2 = 1\nl_1 = 0.5\nl_2 = 0.5\nm_2 = 2\n'
        'I_1 = 0.1\nI_2 = 0.1\n[vary]\n"parameters.m_1" = { normal = [3, 0.1] }\n'
    )
    made = study_from_text(text)
    row = run_case(made, 1)
    assert row[-1] == "completed"
    assert case_setup(made, (2.5,)).robot.mass == 4.5
    with pytest.raises(InputError, match=r"without values \(m_2\).*\[parameters\]"):
        study_from_text(text.replace("m_2 = 2\n", ""))


def test_a_held_arm_carries_the_weight_it_knows_of():
    made = study_from_text(
        TOP.replace("0.1", "2.0") + 'q0 = [0.5, 0.5]\n[hold]\nq = [0.5, 0.5]\nstiffness = 5000\ndamping = 1500\ngravity = true\n'
        '[vary]\n"payload.mass" = { grid = [0, 5] }\n'
    )  # fmt: skip
    empty, loaded = run_case(made, 0), run_case(made, 1)
    assert abs(empty[3] - 0.5) < 1e-9
    assert 1e-4 < 0.5 - loaded[3] < 0.1


def test_a_case_that_cannot_be_simulated_says_why():
    made = study_from_text(TOP + '[vary]\n"payload.mass" = { grid = [1, -1] }\n')
    assert run_case(made, 0)[-1] == "completed"
    failed = run_case(made, 1)
    assert "failed: payload.mass = -1 is negative" in failed[-1]
    assert set(failed[2:-1]) == {None}


def test_a_robot_beside_the_study_is_found_and_part_of_its_fingerprint(tmp_path):
    from dynamis import load

    load("planar_2r_melchiorri").write(tmp_path / "arm.toml")
    (tmp_path / "s.toml").write_text(TOP.replace("planar_2r_melchiorri", "arm.toml") + "draws = 2\n" + VARY)
    first = read_study(tmp_path / "s.toml").fingerprint
    (tmp_path / "s.toml").write_text("# a comment\n" + (tmp_path / "s.toml").read_text())
    assert read_study(tmp_path / "s.toml").fingerprint == first
    (tmp_path / "arm.toml").write_text((tmp_path / "arm.toml").read_text().replace("50", "51"))
    assert read_study(tmp_path / "s.toml").fingerprint != first


def test_lines_of_entries_are_found_however_they_are_written():
    lines = entry_lines('a = 1\n[vary]\n"q0.j" = 1\nv0.j = 2\n[vary.mass]\nlink1 = 3\n')
    assert lines == {"a": 1, "vary": 2, "vary.q0.j": 3, "vary.v0.j": 4, "vary.mass": 5, "vary.mass.link1": 6}
    assert line_of(lines, "vary.mass.other") == 5
    assert line_of(lines, "none") is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("duration = \n" + VARY, r"line 1: not TOML.*correct the syntax"),
        ("duration = 1\n" + VARY, r'give the robot, robot = "ur5e"'),
        ('robot = "ur5"\nduration = 1\n' + VARY, r"line 1: robot: no robot named 'ur5'; did you mean 'ur5e'"),
        ('robot = "none.urdf"\nduration = 1\n' + VARY, r"line 1: robot: .*does not exist"),
        ('robot = "ur5e"\ndraws = 1\n' + VARY, r"duration is missing: add duration"),
        (TOP.replace("0.1", "-1"), r"no variables: add \[vary\]"),
        (TOP.replace("0.1", "-1") + "draws = 1\n" + VARY, r"line 2: duration: -1: give a positive"),
        (TOP + "dration = 1\n" + VARY, r"line 3: dration: .*did you mean 'duration'"),
        (TOP + VARY, r"line 4: vary.q0.joint1: .*add draws = 100"),
        (TOP + 'draws = 3\n[vary]\n"viscous.*" = { grid = [1] }', r"line 3: draws: no variable is random.*remove draws"),
        (TOP + "draws = 0\n" + VARY, r"line 3: draws: 0: give an integer of at least 1"),
        (TOP + "draws = 1.5\n" + VARY, r"integer"),
        (TOP + "draws = 100000000\n" + VARY, r"at most 10000000: use coarser grids"),
        (TOP + 'draws = 1\n[vary]\n"q0.elbow" = { uniform = [0, 1] }', r"line 5: vary.q0.elbow: no joint named 'elbow'; .*joint1"),
        (TOP + 'draws = 1\n[vary]\n"q.joint1" = { uniform = [0, 1] }', r"line 5: .*did you mean 'q0'.*such as \"q0.joint_1\""),
        (TOP + 'draws = 1\n[vary]\n"q0.joint1" = { uniform = [1, 0] }', r"line 5: .*give uniform = \[lowest, highest\]"),
        (TOP + 'draws = 1\n[vary]\n"q0.joint1" = { uniform = [1] }', r"give uniform = \[lowest, highest\]"),
        (TOP + 'draws = 1\n[vary]\n"q0.joint1" = { uniform = [0, nan] }', r"line 5: .*finite number up to 1e\+50"),
        (TOP + 'draws = 1\n[vary]\n"q0.joint1" = { uniform = [0, "pie"] }', r'such as "pi/2"'),
        (TOP + 'draws = 1\n[vary]\n"q0.joint1" = { normal = [0, 0] }', r"latter positive"),
        (TOP + 'draws = 1\n[vary]\n"q0.joint1" = { gaussian = [0, 1] }', r"no distribution.*normal"),
        (TOP + 'draws = 1\n[vary]\n"q0.joint1" = { normal = [0, 1], uniform = [0, 1] }', r"both given: write one"),
        (TOP + 'draws = 1\n[vary]\n"q0.joint1" = { uniform = [0, 1], within = [0, 1] }', r"'within' is not allowed with 'uniform'"),
        (TOP + '[vary]\n"q0.joint1" = { from = 0, to = 1 }', r"integer n of at least 2"),
        (TOP + '[vary]\n"q0.joint1" = { grid = [1, 1] }', r"without duplicates"),
        (TOP + '[vary]\n"q0.joint1" = 3', r"give a distribution.*a constant belongs in \[q0\]"),
        (TOP + '[vary]\n"payload.frame" = { grid = [1] }', r"write one study per frame"),
        (TOP + '[vary]\n"parameters.m_1" = { grid = [1] }', r"line 4: .*no parameter of the robot named 'm_1'"),
        (TOP + '[vary]\n"mass.hand" = { grid = [1] }', r"no link with mass named 'hand'; there are: 'link1', 'link2'"),
        (TOP + "q0 = [1]\ndraws = 1\n" + VARY, r"q0 has 1 number; robot .* needs 2"),
        (TOP + 'draws = 2\n[vary]\n"payload.mass" = { normal = [1000, 1], within = [0, 5] }', "995 standard deviations away"),
        (TOP + "q0 = 1\ndraws = 1\n" + VARY, r"line 3: q0: 1: give a list of numbers, or a table"),
        (TOP + 'method = "rk4"\ndraws = 1\n' + VARY, r"line 3: method: .*require step.*add step = 1e-3"),
        (TOP + 'method = "rk5"\ndraws = 1\n' + VARY, r"line 3: method: 'rk5' is unknown; choose DOP853"),
        (TOP + 'friction = "some"\ndraws = 1\n' + VARY, r"choose model, smooth, none"),
        (TOP + "when = 2024-01-01\ndraws = 1\n" + VARY, r"line 3: when"),
        (TOP + "draws = 1\n[payload]\nframe = 'hand'\nmass = 1\n" + VARY, r"line 4: payload: no frame named 'hand'"),
        (TOP + "draws = 1\n[hold]\nq = [1, 2, 3]\n" + VARY, r"hold.q has 3 numbers; give one for all, or 2"),
    ],
)  # fmt: skip
def test_bad_studies_are_refused_with_the_cure(text, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        study_from_text(text, name="s.toml")
    assert str(caught.value).startswith("s.toml")


def test_files_that_are_no_study_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read: No such file"):
        read_study(tmp_path / "none.toml")
    with pytest.raises(InputError, match=r"cannot be read"):
        read_study(tmp_path)
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"save the file as UTF-8"):
        read_study(tmp_path / "b.toml")


def test_an_absurd_step_is_refused_with_the_study_not_in_every_case():
    text = (
        'robot = "planar_2r_melchiorri"\nduration = 2\nmethod = "rk4"\nstep = 1e-12\n[vary]\n"viscous.*" = { grid = [0, 1] }\n'
    )
    with pytest.raises(InputError, match=r"line 4: step: step=1e-12 s means 2e\+12 steps .* use at least step=2e-09"):
        study_from_text(text)


def test_robots_of_other_formats_are_varied_too(tmp_path):
    from dynamis import load

    load("planar_2r_melchiorri").write(tmp_path / "arm.sdf")
    text = 'robot = "arm.sdf"\nduration = 0.1\n[vary]\n"mass.link2" = { grid = [1.0, 2.0] }\n'
    (tmp_path / "study.toml").write_text(text)
    first, second = (run_case(read_study(tmp_path / "study.toml"), k) for k in (0, 1))
    assert first[-1] == second[-1] == "completed"
    assert first[2:-1] != second[2:-1]


def test_a_file_that_is_no_robot_is_refused(tmp_path):
    (tmp_path / "robot").write_text("no robot")
    study = f'robot = "{tmp_path / "robot"}"\nduration = 1.0\n[vary]\n"q0.a" = [1.0]\n'
    with pytest.raises(InputError, match=r"no file name extension that Dynamis reads"):
        study_from_text(study, folder=tmp_path)


@pytest.mark.parametrize(
    ("entry", "cure"),
    [("[motion]\n[vary]", r"constant torques.*dynamis\.simulate"), ('[vary]\n"base.x" = { grid = [1, 2] }', r"robot\.placed")],
)
def test_what_a_sweep_cannot_do_says_what_can(entry, cure):
    with pytest.raises(InputError, match=cure):
        study_from_text(f'robot = "ur5e"\nduration = 1\n{entry}\n')


def test_degrees_of_a_held_configuration_are_suspected():
    text = 'robot = "ur5e"\nduration = 1\n[hold]\nq = [0, 30, -40, 0, 60, 0]\n[vary]\n"payload.mass" = { grid = [1, 2] }\n'
    with pytest.warns(UserWarning, match=r"hold\.q is in radians"):
        study_from_text(text)
