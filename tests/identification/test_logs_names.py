"""Tables as other programs write them: decimal commas, names of columns."""

from dataclasses import replace

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification import Mapping, read_log
from dynamis.identification.logs import examine

ARM = dy.load("planar_2r_melchiorri")


@pytest.mark.parametrize(
    ("position", "torque"),
    [
        ("Pos J{} [deg]", "Torque J{} [Nmm]"),
        ("angle_j{} [deg]", "mot_torque_{} [Nmm]"),
        ("q{} [deg]", "joint_moments_{} [Nmm]"),
        ("q{}_deg", "tau{}_Nmm"),
        ("q_deg_{}", "torque_nmm_{}"),
        ("joint{}_pos_deg", "joint{}_effort_nmm"),
        ("Achse {} Istposition [°]", "Achse {} Moment [Nmm]"),
        ("Achswinkel {} [Grad]", "Istmoment {} [Nmm]"),
        ("AXIS_ACT_MEAS_A{}", "TORQUE_AXIS_ACT_A{} [Nmm]"),
        ("axis_act_meas_{}", "trq{} [Nmm]"),
        ("ist_q{} [deg]", "trq_j{}_nmm"),
        ("q_act_{}_deg", "tau_act_{} [Nmm]"),
    ],
)
def test_names_of_other_programs_are_recognised(tmp_path, position, torque):
    names = ["t", *(position.format(k) for k in (1, 2)), *(torque.format(k) for k in (1, 2))]
    (tmp_path / "run.csv").write_text(",".join(names) + "\n0,90,0,1000,0\n0.01,90,0,1000,0\n", encoding="utf-8")
    log = read_log(tmp_path / "run.csv", dy.load("planar_2r_melchiorri"))
    np.testing.assert_allclose(log.q[0], [np.pi / 2, 0.0])
    np.testing.assert_allclose(log.tau[0], [1.0, 0.0])


@pytest.mark.parametrize("head", ["t;q1;q2;tau1;tau2\n", ""])
@pytest.mark.parametrize("mark", [";", "\t"])
def test_decimal_commas_are_read_where_columns_are_not_separated_by_commas(tmp_path, head, mark):
    (tmp_path / "run.csv").write_text((head + "0;1,5;2;-3,25;4e-1\n0,01;1,5;2;-3,25;\n").replace(";", mark))
    robot = dy.load("planar_2r_melchiorri")
    columns = [f"column_{k}" for k in range(1, 6)]
    mapping = {"time": {"column": columns[0]}, "position": {"columns": columns[1:3]}, "torque": {"columns": columns[3:]}}
    log = read_log(tmp_path / "run.csv", robot, None if head else Mapping.parse(_toml(mapping)))
    assert log.t.tolist() == [0.0, 0.01]
    assert log.q.tolist() == [[1.5, 2.0]] * 2
    assert log.tau[0].tolist() == [-3.25, 0.4]
    assert np.isnan(log.tau[1, 1])


def read(tmp_path, names, values, mapping=None):
    row = ",".join(map(str, values))
    (tmp_path / "run.csv").write_text(f"{','.join(names)}\n{row}\n{row}\n")
    return read_log(tmp_path / "run.csv", ARM, None if mapping is None else Mapping.parse(mapping))


def test_times_and_velocities_have_units_after_an_underscore(tmp_path):
    names = ["t_ms", "q1_rad", "q2_rad", "qd1_deg_s", "qd2_deg_s", "tau1_nm", "tau2_nm"]
    log = read(tmp_path, names, [8, 1, 2, 180, 0, 3, 4])
    assert log.t.tolist() == [0.008] * 2
    np.testing.assert_allclose(log.v[0], [np.pi, 0.0])
    assert (log.q[0].tolist(), log.tau[0].tolist()) == ([1.0, 2.0], [3.0, 4.0])


def test_names_without_a_unit_go_before_those_with_one_after_an_underscore(tmp_path):
    log = read(tmp_path, ["t", "q1", "q2", "q1_deg", "q2_deg", "tau1", "tau2"], [0, 1, 2, 57, 115, 3, 4])
    assert log.q[0].tolist() == [1.0, 2.0]


def test_the_letter_of_a_joint_is_no_unit(tmp_path):
    robot = dy.load("planar_2r_melchiorri")
    description = robot.description
    for joint, name in zip(list(description.joints), ("a", "ma"), strict=True):
        joint.name = name
    (tmp_path / "run.csv").write_text("t,q_a,q_ma,tau_a,tau_ma,current_a,current_ma\n0,1,2,3,4,5,6\n1,1,2,3,4,5,6\n")
    log = read_log(tmp_path / "run.csv", dy.Robot(description))
    assert log.current[0].tolist() == [5.0, 6.0]


def test_logs_of_universal_robots_are_recognised(tmp_path):
    kinds = ("target_q", "actual_q", "actual_qd", "actual_current", "target_moment")
    names = ["timestamp", *(f"{kind}_{k}" for kind in kinds for k in range(2))]
    log = read(tmp_path, names, range(len(names)))
    assert (log.q[0].tolist(), log.v[0].tolist(), log.tau[0].tolist()) == ([3.0, 4.0], [5.0, 6.0], [9.0, 10.0])
    longer = replace(
        log, t=np.arange(50.0), **{x: np.repeat(getattr(log, x), 25, axis=0) for x in ("q", "v", "tau")}, current=None
    )
    found = [x for x in examine(longer, ARM) if x.code == "computed torques"]
    assert "'target_moment_0', … are computed by the model of the controller, not measured" in found[0].text
    assert found[0].caps == 1
    measured = [name.replace("target_q", "actual_current_as_torque") for name in names]
    assert read(tmp_path, measured, range(len(names))).tau[0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("name", "value"),
    [("temperature", 20.0), ("temp [K]", 293.15), ("motor_temperature_K", 293.15), ("Temperature [°C]", 20.0)],
)
def test_one_temperature_is_that_of_all_joints(tmp_path, name, value):
    names, values = ["t", "q1", "q2", "tau1", "tau2", name], [0, 1, 2, 3, 4, value]
    log = read(tmp_path, names, values)
    np.testing.assert_allclose(log.temperature, 20.0)
    assert any(f"the temperature {name!r} is used for all joints" in note for note in log.notes)
    columns = "".join(f'[{x}]\npattern = "{y}{{n}}"\n' for x, y in (("position", "q"), ("torque", "tau")))
    mapping = f'[time]\ncolumn = "t"\n{columns}[temperature]\ncolumns = ["{name}"]\n'
    np.testing.assert_allclose(read(tmp_path, names, values, mapping).temperature, 20.0)


GERMAN = ["Zeit [ms]", "Achse1 [deg]", "Achse2 [deg]", "Moment1 [Nm]", "Moment2 [Nm]"]


def test_the_template_has_the_units_of_the_header(tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path, GERMAN, [4, 90, 0, 1, 2])
    template = caught.value.template
    log = read(tmp_path, GERMAN, [4, 90, 0, 1, 2], template)  # nothing is left to fill in
    assert log.t[0] == 0.004
    np.testing.assert_allclose(log.q[0], [np.pi / 2, 0.0])
    assert log.tau[0].tolist() == [1.0, 2.0]
    assert 'unit = "deg"' in Mapping.skeleton(["x", "Arm [deg]", "Hand [deg]"], ARM)


@pytest.mark.parametrize(
    ("right", "wrong", "section"),
    [('unit = "ms"', 'unit = "s"', "time"), ('unit = "deg"', 'unit = "rad"', "position"), ('"Nm"', '"kN m"', "torque")],
)
def test_a_unit_that_contradicts_the_name_of_the_column_is_refused(tmp_path, right, wrong, section):
    mapping = Mapping.skeleton(GERMAN, ARM)
    assert right in mapping
    with pytest.raises(InputError, match=rf"\[{section}\] has the unit .*, but the column is named '.*'; set unit = "):
        read(tmp_path, GERMAN, [4, 90, 0, 1, 2], mapping.replace(right, wrong))


def test_columns_in_a_mapping_without_units_have_those_of_their_names(tmp_path):
    names = ["Zeit [ms]", "a_deg", "b_deg", "c [Nmm]", "d [Nmm]"]
    mapping = (
        '[time]\ncolumn = "Zeit [ms]"\n[position]\ncolumns = ["a_deg", "b_deg"]\n[torque]\ncolumns = ["c [Nmm]", "d [Nmm]"]'
    )
    log = read(tmp_path, names, [4, 180, 0, 1000, 0], mapping)
    assert log.t[0] == 0.004
    np.testing.assert_allclose([log.q[0], log.tau[0]], [[np.pi, 0.0], [1.0, 0.0]])


@pytest.mark.parametrize("current", ["i{} [A]", "Strom{} [A]"])
def test_the_template_of_a_log_with_currents_has_their_section(tmp_path, current):
    names = ["t", "q1", "q2", *(current.format(k) for k in (1, 2))]
    with pytest.raises(InputError) as caught:
        read(tmp_path, names, [0, 1, 2, 3, 4])
    template = caught.value.template
    assert "[current]\ncolumns = " in template
    assert "\n[torque]" not in template
    gains = template.replace('gains = ["…", "…"]', "gains = [10.0, 20.0]")
    assert gains != template
    assert read(tmp_path, names, [0, 1, 2, 3, 4], gains).tau[0].tolist() == [30.0, 80.0]


@pytest.mark.parametrize("kind", ["Istmoment", "M_ist_", "trq_ist_j"])
def test_commanded_signals_are_not_taken_for_measured_ones(tmp_path, kind):
    kinds = ("soll_q", kind.replace("Ist", "Soll").replace("ist", "soll"), "ist_q", kind)
    log = read(tmp_path, ["t", *(f"{kind}{k}" for kind in kinds for k in (1, 2))], range(9))
    assert (log.q[0].tolist(), log.tau[0].tolist()) == ([5.0, 6.0], [7.0, 8.0])


def test_system_variables_in_degrees_may_have_another_unit_in_a_mapping(tmp_path):
    names = ["t", *(f"{kind}{k}" for kind in ("AXIS_ACT_MEAS_A", "tau") for k in (1, 2))]
    mapping = '[position]\npattern = "AXIS_ACT_MEAS_A{n}"\n[torque]\npattern = "tau{n}"\n'
    np.testing.assert_allclose(read(tmp_path, names, [0, 90, 0, 1, 1], mapping).q[0], [np.pi / 2, 0.0])
    assert read(tmp_path, names, [0, 1, 0, 1, 1], mapping.replace("[torque]", 'unit = "rad"\n[torque]')).q[0, 0] == 1.0


def test_the_template_has_the_columns_that_words_tell(tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path, ["t", "a", "b", "Drehmoment A1", "Drehmoment A2"], range(5))
    assert 'columns = ["Drehmoment A1", "Drehmoment A2"]' in caught.value.template


MOTORS = ["t [s]", "motor_pos_A1 [rev]", "motor_pos_A2 [rev]", "motor_torque_A1 [Nm]", "motor_torque_A2 [Nm]"]


def test_the_template_of_columns_of_motors_has_their_side_and_a_transmission(tmp_path):
    text = Mapping.skeleton(MOTORS, ARM)
    ratios = '[transmission]\n# ratios: turns of each motor per turn of its joint, negative if opposite\nratios = ["…", "…"]'
    assert ratios in text
    log = read(tmp_path, MOTORS, [0, 50, 25, 1, 2], text.replace('"…", "…"', "100, -50"))
    assert (log.side_of("q"), log.side_of("tau")) == ("motor", "motor")
    np.testing.assert_allclose(np.linalg.solve(log.transmission["R"], log.q[0]), [np.pi, -np.pi])


@pytest.mark.parametrize(
    ("columns", "sides"),
    [
        (["A1 [deg]", "A2 [deg]", "Antrieb 1 [Nm]", "Antrieb 2 [Nm]"], ("joint", "motor")),
        (["MotPos1 [deg]", "MotPos2 [deg]", "tau1 [Nm]", "tau2 [Nm]"], ("motor", "motor")),
        (["MotPos1 [deg]", "MotPos2 [deg]", "i1 [A]", "i2 [A]"], ("motor", "motor")),
    ],
)
def test_each_signal_of_a_template_has_the_side_of_its_names(columns, sides):
    text = Mapping.skeleton(["t", *columns], ARM).replace('"…", "…"', "1, 2")
    mapping = Mapping.parse(text.replace("…", "t"))
    assert tuple(mapping.signals[name].side for name in mapping.signals) == sides
    assert mapping.transmission is not None


def test_motors_of_prismatic_joints_turn(tmp_path):
    robot = dy.load("scara")
    names = ["t [s]", *(f"motor {x}{k} [{unit}]" for x, unit in (("pos", "rev"), ("torque", "Nm")) for k in range(1, 5))]
    text = Mapping.skeleton(names, robot)
    assert 'unit = "rev"' in text
    assert "turn (rad per m)" in text
    (tmp_path / "run.csv").write_text(",".join(names) + "\n0,1,2,3,4,5,6,7,8\n0.01,1,2,3,4,5,6,7,8\n")
    log = read_log(tmp_path / "run.csv", robot, Mapping.parse(text))
    np.testing.assert_allclose(log.q[0], 2.0 * np.pi * np.arange(1, 5))
    assert log.transmission["ratios"][2] == robot.description.joints[2].drive.gear_ratio
    with pytest.raises(InputError, match="'rev' is not a unit of the prismatic joint 'joint3'"):
        read_log(tmp_path / "run.csv", robot, Mapping.parse(text.replace('"motor"', '"joint"')))


def test_the_template_of_columns_of_joints_has_no_transmission():
    drives = ARM.description
    for joint, name in zip(drives.joints, ("drive_a1", "drive_a2"), strict=True):
        joint.name = name
    named = ["t", "drive_a1 pos [deg]", "drive_a2 pos [deg]", "drive_a1 torque [Nm]", "drive_a2 torque [Nm]"]
    currents = ["t", "q1", "q2", "motor_current_1", "motor_current_2"]
    found = {"position": currents[1:3], "current": currents[3:]}
    for text in (Mapping.skeleton(named, dy.Robot(drives)), Mapping.skeleton(currents, ARM, found)):
        assert "[transmission]" not in text
        assert 'side = "motor"' not in text


def test_the_template_of_columns_of_motors_has_the_ratios_of_the_gears_in_the_file():
    geared = ARM.description
    for joint, ratio in zip(geared.joints, (100.0, -50.5), strict=True):
        joint.drive.gear_ratio = ratio
    assert "ratios = [100.0, -50.5]" in Mapping.skeleton(MOTORS, dy.Robot(geared))


@pytest.mark.parametrize(
    "columns",
    [
        ["A1_Ist [deg]", "A2_Ist [deg]", "A1_Last [Nm]", "A2_Last [Nm]"],
        ["Achse 1 Istwert [°]", "Achse 2 Istwert [°]", "Achse 1 Last [Nm]", "Achse 2 Last [Nm]"],
    ],
)
def test_the_template_has_the_columns_that_their_units_tell(columns):
    mapping = Mapping.parse(Mapping.skeleton(["Zeit [ms]", *columns, "A1_Soll [deg]", "A2_Soll [deg]"], ARM))
    assert mapping.signals["position"].columns == tuple(columns[:2])
    assert mapping.signals["torque"].columns == tuple(columns[2:])


def _toml(table):
    return "".join(f"[{name}]\n" + "".join(f"{key} = {value!r}\n" for key, value in x.items()) for name, x in table.items())


@pytest.mark.parametrize(
    ("time", "position", "torque"),
    [
        ("Zeit [s]", "Winkel A{} [°]", "Drehmoment A{} [Nmm]"),
        ("tempo", "posizione_giunto_{}_deg", "coppia_giunto_{}_Nmm"),
        ("Time", "J{} Position (deg)", "J{} Torque (Nmm)"),
        ("t", "IstPos_A{} [deg]", "IstMoment_A{} [Nmm]"),
        ("χρόνος", "γωνία {} [deg]", "ροπή {} [Nmm]"),
        ("t", "joint_positions_joint{} [deg]", "joint_efforts_joint{} [Nmm]"),
    ],
)
def test_words_of_other_languages_are_recognised(tmp_path, time, position, torque):
    names = [
        time,
        *(position.format(k) for k in (1, 2)),
        *(f"SollPos_A{k}" for k in (1, 2)),
        *(torque.format(k) for k in (1, 2)),
    ]
    (tmp_path / "run.csv").write_text(",".join(names) + "\n0,90,0,1,1,1000,0\n0.01,90,0,1,1,1000,0\n", encoding="utf-8")
    log = read_log(tmp_path / "run.csv", ARM)
    np.testing.assert_allclose(log.q[0], [np.pi / 2, 0.0])
    np.testing.assert_allclose(log.tau[0], [1.0, 0.0])


def test_words_with_another_meaning_are_not_recognised(tmp_path):
    (tmp_path / "run.csv").write_text("t,current position 1,current position 2,target torque 1,target torque 2\n0,1,1,1,1\n")
    with pytest.raises(InputError, match="no columns of position"):
        read_log(tmp_path / "run.csv", ARM)


def of_a_scara(tmp_path, positions, torques):
    """A log whose third joint is prismatic."""
    ends = {"q": positions, "tau": torques}
    names = ["t", *(f"{x}{k + 1}{unit}" for x, units in ends.items() for k, unit in enumerate(units))]
    (tmp_path / "run.csv").write_text("\n".join([",".join(names), *[",".join("012345678")] * 2]))
    return read_log(tmp_path / "run.csv", dy.load("scara"))


@pytest.mark.parametrize("force", ["_N", " (N)", " [kN]", "_kN", ""])
def test_forces_of_prismatic_joints_have_their_unit_in_the_name(tmp_path, force):
    log = of_a_scara(tmp_path, ["", "", "", ""], ["_Nm", "_Nm", force, "_Nm"])
    assert log.tau[0].tolist() == [5.0, 6.0, 7000.0 if "k" in force else 7.0, 8.0]


def test_degrees_in_the_name_of_a_prismatic_joint_are_refused(tmp_path):
    log = of_a_scara(tmp_path, ["_deg", "_deg", "_mm", "_deg"], [""] * 4)
    np.testing.assert_allclose(log.q[0], [np.pi / 180.0, np.pi / 90.0, 0.003, np.pi / 45.0])
    with pytest.raises(InputError, match="'deg' is not a unit of the prismatic joint 'joint3'; rename the column"):
        of_a_scara(tmp_path, ["_deg"] * 4, [""] * 4)


def test_the_template_has_the_units_of_prismatic_joints():
    columns = ["t", "q1_deg", "q2_deg", "lift", "q4_deg", *(f"x{k}" for k in range(4))]
    text = Mapping.skeleton(columns, dy.load("scara"), {"position": ["q1_deg", "q2_deg", None, "q4_deg"]}, ("t", "s"))
    assert 'units = ["deg", "deg", "m", "deg"]' in text
    assert 'units = ["N m", "N m", "N", "N m"]' in text
    Mapping.parse(text.replace("…", "x0"))


def test_torques_in_per_cent_of_a_rated_one_are_read_as_currents_and_refused_as_torques(tmp_path):
    names = ["t", "q1", "q2", "torque_1 [%]", "torque_2 [%]"]
    with pytest.raises(InputError) as caught:
        read(tmp_path, names, [0, 1, 2, 30, 40])
    template = str(caught.value)
    assert '[current]\ncolumns = ["torque_1 [%]", "torque_2 [%]"]' in template
    assert "1/100 of the rated torque of each drive" in template
    columns = '[position]\npattern = "q{n}"\n[SIGNAL]\ncolumns = ["torque_1 [%]", "torque_2 [%]"]\n'
    for unit in ("N m", "%"):
        with pytest.raises(InputError, match=r"of a rated torque.*give them as currents"):
            read(tmp_path, names, [0, 1, 2, 30, 40], columns.replace("SIGNAL", "torque") + f'unit = "{unit}"\n')
    log = read(tmp_path, names, [0, 1, 2, 30, 40], columns.replace("SIGNAL", "current") + "gains = [2.0, 0.5]\n")
    assert log.tau[0].tolist() == [60.0, 20.0]
