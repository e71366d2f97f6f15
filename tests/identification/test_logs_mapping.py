"""Mappings: what columns hold, from several files, in other units and orders; and every mistake in them named."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.logs import Mapping, log_chunks, read_log

ARM = dy.load("planar_2r_melchiorri")
STANFORD = dy.load("stanford")
BASE = '[position]\npattern = "p{n}"\n[torque]\npattern = "m{n}"\n'


def write(folder, count=9):
    rng = np.random.default_rng(1)
    q, tau = rng.normal(size=(count, 2)), rng.normal(size=(count, 2))
    np.savetxt(folder / "pos.csv", q, delimiter=",", header="J_1,J_2", comments="", fmt="%.17g")
    np.savetxt(folder / "cur.csv", tau, delimiter=";", header="J_1;J_2", comments="", fmt="%.17g")
    return q, tau


TWO_FILES = """
rate = 500
[position]
file = "pos.csv"
pattern = "J_{n}"
unit = "deg"
side = "motor"
[torque]
file = "cur.csv"
columns = ["J_1", "J_2"]
unit = "mN·m"
signs = [1, -1]
[joints]
order = ["joint2", "joint1"]
[transmission]
ratios = [100, -50]
zero = [0.1, 0.2]
coupling = [["joint1", "joint2", 7]]
"""


def test_signals_come_from_several_files_in_other_units_and_orders(tmp_path):
    q, tau = write(tmp_path)
    (tmp_path / "run.toml").write_text(TWO_FILES)
    log = read_log(tmp_path / "run.toml", ARM)
    assert np.allclose(log.q, np.radians(q[:, ::-1]))
    assert np.allclose(log.tau, (tau * [1e-3, -1e-3])[:, ::-1])
    assert np.array_equal(log.t, np.arange(9) / 500)
    assert log.side == "motor"
    # of the first column 100, which is joint 2: motor of joint 1 also moves with joint 2
    assert np.array_equal(log.transmission["R"], [[-50, 7], [0, 100]])
    assert np.array_equal(log.transmission["zero"], [0.2, 0.1])
    assert log.column("q", 0) == "J_2"
    assert log.where(0) == "'pos.csv, cur.csv' line 2"
    for given in (tmp_path, tmp_path / "pos.csv"):
        again = read_log(given, ARM, tmp_path / "run.toml")
        assert np.array_equal(again.q, log.q)
    parts = list(log_chunks(tmp_path, ARM, Mapping.read(tmp_path / "run.toml"), size=4))
    assert [len(p) for p in parts] == [4, 4, 1]
    assert np.array_equal(np.concatenate([p.t for p in parts]), log.t)
    assert np.array_equal(np.concatenate([p.tau for p in parts]), log.tau)


def test_files_of_different_lengths_are_refused(tmp_path):
    write(tmp_path)
    (tmp_path / "run.toml").write_text(TWO_FILES)
    with (tmp_path / "cur.csv").open("a") as file:
        file.write("1;2\n")
    with pytest.raises(InputError, match=r"different lengths: at row 9 'pos\.csv' ends, 'cur\.csv' continues"):
        read_log(tmp_path / "run.toml", ARM)


def test_a_matrix_is_named_by_its_name_alone(tmp_path):
    q = np.arange(8.0).reshape(4, 2)
    np.savez(tmp_path / "run.npz", clock=np.arange(4), place=q, push=-q)
    mapping = Mapping.parse(
        '[time]\ncolumn="clock"\nunit="ms"\n[position]\ncolumns="place"\n[torque]\ncolumns=["push[0]","push[1]"]'
    )
    log = read_log(tmp_path / "run.npz", ARM, mapping)
    assert np.array_equal(log.q, q)
    assert np.array_equal(log.tau, -q)
    assert np.allclose(log.t, np.arange(4) / 1e3)


def test_currents_become_torques_by_their_gains(tmp_path):
    (tmp_path / "run.csv").write_text("t,q1,q2,i1,i2\n0,1,2,3000,4000\n1,1,2,3000,4000\n")
    text = '[position]\npattern="q{n}"\n[current]\npattern="i{n}"\nunit="mA"\n'
    log = read_log(tmp_path / "run.csv", ARM, Mapping.parse(text + "gains=[2, 0.5]"))
    assert np.array_equal(log.tau[0], [6.0, 2.0])
    assert np.array_equal(log.current[0], [3.0, 4.0])
    with pytest.raises(InputError, match="gains"):
        read_log(tmp_path / "run.csv", ARM, Mapping.parse(text))


def test_a_mapping_of_the_rate_alone_leaves_the_columns_to_their_names(tmp_path):
    (tmp_path / "run.csv").write_text("q1,q2,tau1,tau2\n1,2,3,4\n1,2,3,4\n")
    assert np.array_equal(read_log(tmp_path / "run.csv", ARM, Mapping(rate=10.0)).t, [0.0, 0.1])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("rate = 5\nx = = 3", r"'mapping' is not TOML: .*line 2"),
        ("rate = -5", "rate: must be a sampling rate"),
        ("raet = 5", "no key named 'raet'; did you mean 'rate'"),
        ("[torqe]", "did you mean 'torque'"),
        ('[torque]\ncolums = ["a"]', r"\[torque\] no key named 'colums'; did you mean 'columns'"),
        ("[torque]", "either columns"),
        ('[torque]\ncolumns = ["a"]\npattern = "a{n}"', "either columns"),
        ('[torque]\npattern = "a"', r"\{n\} \(from 1\)"),
        ('[torque]\npattern = "a{n}"\nunit = "Nmn"', r"\[torque\]: no unit of torque named 'Nmn'"),
        ('[torque]\npattern = "a{n}"\nsigns = [1, 2]', "must be 1 or -1"),
        ('[torque]\npattern = "a{n}"\nside = "left"', "'joint' or 'motor'"),
        ('[torque]\npattern = "a{n}"\ngains = [1]', "no key named 'gains'"),
        ("position = 3", "must be a section"),
        ("[time]\nunit = 's'", "has no column"),
        ("[time]\ncolumn = 't'\nunit = 'h'", "no unit of time named 'h'"),
        ("[transmission]\nratios = [1, 0]", "one non-zero number per motor"),
        ("[transmission]\nratios = [1, true]", "finite number, got True"),
        ("[transmission]\nratios = [1, 2]\nzero = [1]", "1 number for 2 ratios"),
        ("[transmission]\nratios = [1, 2]\ncoupling = [[1, 3, 2.0]]", "3 is not a joint: use a number from 1 to 2"),
        ("[transmission]\nratios = [1, 2]\ncoupling = [[1, 1, 2.0]]", "to its own joint"),
        ("[transmission]\nratios = [1, 2]\ncoupling = [1]", "must be .motor, joint, value."),
        ("a = " + "[" * 5000, "not TOML"),
    ],
)
def test_mistakes_in_a_mapping_are_named(text, match):
    with pytest.raises(InputError, match=match):
        Mapping.parse(text)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (BASE + '[joints]\norder = ["joint1", "joint3"]', r"\[joints\] order: no joint named 'joint3'"),
        (BASE + '[joints]\norder = ["joint1", "joint1"]', "'joint2' missing"),
        ('[position]\ncolumns=["p1"]\n[torque]\npattern="m{n}"', "has 1 column, but the robot needs 2"),
        ('[position]\npattern="p{i}"\n[torque]\npattern="m{n}"', "no column named 'p0'; did you mean"),
        (BASE + '[time]\ncolumn="T"', "no column named 'T'"),
        (BASE + "[transmission]\nratios=[1, 2, 3]", "3 numbers, but the robot has 2 joints"),
        ('[position]\npattern="p{n}"\nunits=["deg","deg","rad"]\n[torque]\npattern="m{n}"', "3 entries for 2 columns"),
        (
            '[position]\npattern="p{n}"\nunit="mm"\n[torque]\npattern="m{n}"',
            "'mm' is not a unit of the revolute joint 'joint1'",
        ),
        ('[position]\npattern="p{n}"', r"(?s)no columns of torque.*\[torque\]"),
    ],
)
def test_mappings_that_do_not_fit_robot_or_file_are_named(tmp_path, text, match):
    (tmp_path / "run.csv").write_text("t,p1,p2,m1,m2\n0,1,2,3,4\n")
    with pytest.raises(InputError, match=match):
        read_log(tmp_path / "run.csv", ARM, Mapping.parse(text))


def test_degrees_are_not_for_sliding_joints(tmp_path):
    (tmp_path / "run.csv").write_text(
        "t," + ",".join(f"{x}{k}" for x in ("p", "m") for k in range(1, 7)) + "\n" + ",".join("1" * 13) + "\n"
    )
    with pytest.raises(InputError, match="'deg' is not a unit of the prismatic joint 'boom'"):
        read_log(tmp_path / "run.csv", STANFORD, Mapping.parse(BASE.replace('"p{n}"', '"p{n}"\nunit = "deg"')))
    units = '["deg", "deg", "mm", "deg", "deg", "deg"]'
    log = read_log(tmp_path / "run.csv", STANFORD, Mapping.parse(BASE.replace('"p{n}"', f'"p{{n}}"\nunits = {units}')))
    assert np.isclose(log.q[0, 2], 1e-3)


def test_the_skeleton_is_a_mapping_once_filled_in(tmp_path):
    text = Mapping.skeleton(['odd "name"', "b"], ARM)
    filled = text.replace("…", "b")
    assert Mapping.parse(filled).order == ARM.coordinate_names
    assert 'odd \\"name\\"' in text


def test_the_lines_of_a_long_skeleton_fit_a_terminal_of_80_columns():
    columns = [f"/joint_states/position[{k}].filtered" for k in range(60)]
    text = Mapping.skeleton(columns, dy.load("go2"))
    assert max(map(len, text.splitlines())) < 80
    assert '"/joint_states/position[39].filtered", and 20 more' in text.replace("\n#   ", " ")
    assert len(Mapping.parse(text.replace("…", "b")).order) == 12


def test_files_that_are_no_mapping_are_refused(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "b.toml").write_text("#" * 2_000_000)
    for name, match in (("a.toml", "not UTF-8"), ("b.toml", "too large for a mapping"), ("c.toml", "cannot be read")):
        with pytest.raises(InputError, match=match):
            Mapping.read(tmp_path / name)
    with pytest.raises(InputError, match="does not name the file of its columns"):
        (tmp_path / "d.toml").write_text(BASE)
        read_log(tmp_path / "d.toml", ARM)


@pytest.mark.parametrize(
    "text",
    ["rate = {huge}", "rate = {long}", "[transmission]\nratios = [{huge}]", "[transmission]\nratios = [1]\ncoupling = [[1, 2, {huge}]]",
     "[transmission]\nratios = [1]\ncoupling = [[{huge}, 1, 1]]", "[position]\ncolumns = ['a']\nsigns = [1{zeros}]"],
)  # fmt: skip
def test_numbers_beyond_all_measure_are_refused(text):
    numbers = {"huge": "0x" + "f" * 5000, "long": "9" * 5000, "zeros": "0" * 400}
    with pytest.raises(InputError, match="mapping'"):
        Mapping.parse(text.format(**numbers))


@pytest.mark.parametrize(("unit", "factor"), [("N m", 1.0), ("N·m", 1.0), ("mN m", 1e-3), ("kN m", 1e3), ("mN·m", 1e-3)])
def test_units_of_torque_are_read_with_a_space_or_a_point(unit, factor):
    from dynamis.identification.logs.units import TORQUES

    assert TORQUES[unit] == factor


def geared(position, torque):
    return BASE.replace("[torque]", f"{position}[torque]") + f"{torque}[transmission]\nratios = [100, 50]\n"


@pytest.mark.parametrize(
    ("position", "torque", "sides"),
    [("", 'side = "motor"\n', ("joint", "motor")), ('side = "motor"\n', 'side = "joint"\n', ("motor", "joint")),
     ('side = "motor"\n', "", ("motor", "motor"))],
)  # fmt: skip
def test_positions_are_those_of_joints_unless_their_side_is_given(tmp_path, position, torque, sides):
    (tmp_path / "run.csv").write_text("t,p1,p2,m1,m2\n0,1,2,3,4\n0.1,1,2,3,4\n")
    text = geared(position, torque)
    log = read_log(tmp_path / "run.csv", ARM, Mapping.parse(text))
    assert (log.side_of("q"), log.side_of("tau")) == sides
    assert bool(log.notes) == (torque == "")


def test_torques_beside_a_transmission_need_a_side(tmp_path):
    (tmp_path / "run.csv").write_text("t,p1,p2,m1,m2\n0,1,2,3,4\n")
    with pytest.raises(InputError, match=r'\[torque\] has no side; set side = "motor" or side = "joint" there'):
        read_log(tmp_path / "run.csv", ARM, Mapping.parse(geared("", "")))


def test_the_template_of_a_mapping_contains_what_was_recognised(tmp_path):
    (tmp_path / "run.csv").write_text("time_ms,q1,q2,load1,load2\n0,1,2,3,4\n")
    with pytest.raises(InputError) as error:
        read_log(tmp_path / "run.csv", ARM)
    template = str(error.value).partition("such as:\n")[2]
    assert 'column = "time_ms"\nunit = "ms"' in template
    assert 'columns = ["q1", "q2"]' in template
    assert '[torque]\ncolumns = ["…", "…"]' in template


def test_joints_that_a_log_lacks_are_named_with_the_cure(tmp_path):
    robot = dy.load("ur5e")
    names = [f"{word}{k}" for word in ("q", "tau") for k in range(1, 6)]
    (tmp_path / "run.csv").write_text(",".join(["t", *names]) + "\n" + ",".join(["0"] * 11) + "\n")
    with pytest.raises(InputError, match=r"robot\.reduced\(\{'wrist_3_joint': …\}\)"):
        read_log(tmp_path / "run.csv", robot)
    assert read_log(tmp_path / "run.csv", robot.reduced({"wrist_3_joint": 0.0})).n == 5
