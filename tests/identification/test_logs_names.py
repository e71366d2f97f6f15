"""Tables as other programs write them: decimal commas, names of columns."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.identification import Mapping, read_log


@pytest.mark.parametrize(
    ("position", "torque"),
    [
        ("Pos J{} [deg]", "Torque J{} [Nmm]"),
        ("angle_j{} [deg]", "mot_torque_{} [Nmm]"),
        ("q{} [deg]", "joint_moments_{} [Nmm]"),
    ],
)
def test_names_of_other_programs_are_recognised(tmp_path, position, torque):
    names = ["t", *(position.format(k) for k in (1, 2)), *(torque.format(k) for k in (1, 2))]
    (tmp_path / "run.csv").write_text(",".join(names) + "\n0,90,0,1000,0\n0.01,90,0,1000,0\n")
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


def _toml(table):
    return "".join(f"[{name}]\n" + "".join(f"{key} = {value!r}\n" for key, value in x.items()) for name, x in table.items())
