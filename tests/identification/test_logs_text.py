"""Text tables as other programs write them: dates, decimal commas, units below the names, encodings and lines above them."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification import Mapping, read_log
from dynamis.identification.logs import log_chunks

ARM = dy.load("planar_2r_melchiorri")


def of_two_rows(tmp_path, times, mark=",", values=("1.5", "2", "3", "4")):
    """The log of two rows with these times."""
    rows = [mark.join([time, *values]) for time in times]
    (tmp_path / "run.csv").write_text("\n".join([mark.join(["t", "q1", "q2", "tau1", "tau2"]), *rows, ""]))
    return read_log(tmp_path / "run.csv", ARM)


@pytest.mark.parametrize(
    "times",
    [
        ("04.03.2026 09:15:00,000", "04.03.2026 09:15:00,010"),
        ("31.12.2025 23:59:59.995", "1.1.2026 00:00:00.005"),
        ("2026-03-04 09:15:00.000", "2026-03-04 09:15:00.010"),
        ("2026/03/04 9:15:00,000", "2026/03/04 9:15:00,010"),
        ("2026-03-04T23:59:59.995+01:00", "2026-03-04T23:00:00.005Z"),
        ("3/4/2026 11:59:59.995 AM", "3/4/2026 12:00:00.005 PM"),
        ("12/31/2025 23:59:59.995", "1/1/2026 00:00:00.005"),
        ("31/12/2025 23:59:59.995", "01/01/2026 00:00:00.005"),
        ("03/04/2026 23:59:59.995", "03/05/2026 00:00:00.005"),
        ("04/03/2026 23:59:59.995", "05/03/2026 00:00:00.005"),
        ("12/03/2026 23:59:59.995", "13/03/2026 00:00:00.005"),
        ("23:59:59,000", "23:59:59,010"),
    ],
)
@pytest.mark.parametrize("values", [("1.5", "2", "3", "4"), ("1,5", "2,0", "3", "4")])
@pytest.mark.parametrize("mark", [";", "\t"])
def test_dates_are_read_beside_decimal_points_and_commas(tmp_path, times, mark, values):
    log = of_two_rows(tmp_path, times, mark, values)
    np.testing.assert_allclose(np.diff(log.t), 0.01, atol=1e-6)
    assert log.q[0].tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("time", "match"),
    [
        ("13/14/2026 09:15:00", "line 2, column 't' contains .*, which is not a date or a time of day; write dates as"),
        ("31.02.2026 09:15:00", "column 't' contains .*, which is not a date or a time of day; write dates as"),
        ("13:15:00 PM", "which is not a date or a time of day"),
    ],
)
def test_dates_that_do_not_exist_are_refused(tmp_path, time, match):
    with pytest.raises(InputError, match=match):
        of_two_rows(tmp_path, (time, time))


@pytest.mark.parametrize(("values", "order"), [(("1.5", "2", "3", "4"), "month/day"), (("1,5", "2", "3", "4"), "day/month")])
def test_the_order_of_day_and_month_is_noted(tmp_path, values, order):
    log = of_two_rows(tmp_path, ("3/4/2026 09:15:00", "3/4/2026 09:15:01"), ";", values)
    assert f"dates are read as {order}/year" in log.notes
    assert log.t.tolist() == [0.0, 1.0]


def test_columns_that_are_not_used_may_have_anything_like_dates(tmp_path):
    (tmp_path / "run.csv").write_text("part;t;q1;q2;tau1;tau2\n45/67/89;0;1,5;2;3;4\n13/14/2026;0,01;1,5;2;3;4\n")
    log = read_log(tmp_path / "run.csv", ARM)
    assert (log.t.tolist(), log.notes) == ([0.0, 0.01], ())


def test_dates_in_a_file_of_their_own_are_read(tmp_path):
    (tmp_path / "clock.csv").write_text("stamp\n2026-03-04T09:15:00\n2026-03-04T09:15:01\n")
    (tmp_path / "run.csv").write_text("q1,q2,tau1,tau2\n1,2,3,4\n1,2,3,4\n")
    mapping = '[time]\ncolumn="stamp"\nfile="clock.csv"\n[position]\npattern="q{n}"\n[torque]\npattern="tau{n}"'
    assert read_log(tmp_path / "run.csv", ARM, Mapping.parse(mapping)).t.tolist() == [0.0, 1.0]


UMLAUTS = "Zeit;Winkel A1 [°];Winkel A2 [°];Drehmoment A1 [Nm];Drehmoment A2 [Nm]\n0;90;0;1,5;2\n0,01;90;0;1,5;2\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_utf_8_utf_16_or_windows_1252(tmp_path, encoding):
    (tmp_path / "run.csv").write_bytes(UMLAUTS.encode(encoding))
    for log in (read_log(tmp_path / "run.csv", ARM), *log_chunks(tmp_path / "run.csv", ARM, size=2)):
        assert log.t.tolist() == [0.0, 0.01]
        np.testing.assert_allclose([log.q[1], log.tau[1]], [[np.pi / 2, 0.0], [1.5, 2.0]])
        assert log.where(0) == "'run.csv' line 2"
        assert any("Windows-1252" in note for note in log.notes) == (encoding == "cp1252")


@pytest.mark.parametrize(
    "above",
    ["Robot: AR6\nDatum;04.03.2026\n\n", "Robot AR6\nSerial 1234\n", "Date: 04.03.2026\nTime: 09:15:00\n# comment\n",
     "name;value;unit\nload;3,5;kg\n"],
)  # fmt: skip
def test_lines_above_the_names_are_left_out_and_said(tmp_path, above):
    (tmp_path / "run.csv").write_text(above + UMLAUTS + "0,02;90;0;1,5;2\n", encoding="utf-8")
    log = read_log(tmp_path / "run.csv", ARM)
    line = above.count("\n") + 1
    assert log.t.tolist() == [0.0, 0.01, 0.02]
    assert log.where(0) == f"'run.csv' line {line + 1}"
    assert log.notes == (f"2 lines above the column names, in line {line}, are left out",)


def test_rows_above_a_second_line_of_names_are_not_left_out(tmp_path):
    (tmp_path / "run.csv").write_text(UMLAUTS + "Zeit;a;b;c;d;e\n" + "0;1;2;3;4;5\n" * 9, encoding="utf-8")
    with pytest.raises(InputError, match="line 4 has 6 cells for 5 columns"):
        read_log(tmp_path / "run.csv", ARM)


@pytest.mark.parametrize("units", ["ms;Grad;°;Nm;kNm;V", "ms;deg;[deg];Nm;kNm;-", "(ms);(Grad);(Grad);(Nm);(kNm);(inc)"])
def test_a_mapping_names_columns_as_the_header_does(tmp_path, units):
    head = "Zeit;A1_Ist;A2_Ist;A1_Moment;A2_Moment;other\n"
    (tmp_path / "run.csv").write_text(f"{head}{units}\n0;90;0;1,5;2;0\n10;90;0;1,5;2;0\n", encoding="utf-8")
    signals = '[position]\npattern="A{n}_Ist"\n[torque]\ncolumns=["A1_Moment", "A2_Moment"]'
    for time in ("", '[time]\ncolumn="Zeit"\n'):
        log = read_log(tmp_path / "run.csv", ARM, Mapping.parse(time + signals))
        np.testing.assert_allclose(log.t, [0.0, 0.01])
        np.testing.assert_allclose([log.q[1], log.tau[1]], [[np.pi / 2, 0.0], [1.5, 2000.0]])


def test_a_unit_below_the_names_may_repeat_that_in_the_name_in_another_spelling(tmp_path):
    (tmp_path / "run.csv").write_text("t,q1 [°],q2,tau1,tau2\ns,deg,deg,Nm,Nm\n0,90,90,1,1\n", encoding="utf-8")
    np.testing.assert_allclose(read_log(tmp_path / "run.csv", ARM).q[0], np.pi / 2)


@pytest.mark.parametrize("torque", ["tau{}", "Moment A{}"])
@pytest.mark.parametrize("unit", ["%", "A", "‰"])
def test_torques_in_percent_are_not_taken_for_newton_metres(tmp_path, torque, unit):
    first, second = (torque.format(k) for k in (1, 2))
    for text in (f"t,q1,q2,{first},{second}\ns,rad,rad,{unit},{unit}\n", f"t,q1,q2,{first} [{unit}],{second} ({unit})\n"):
        (tmp_path / "run.csv").write_text(text + "0,1,1,1,1\n0.01,1,1,1,1\n", encoding="utf-8")
        with pytest.raises(InputError, match="no columns of torque"):
            read_log(tmp_path / "run.csv", ARM)
    rated = f'[time]\ncolumn="t"\n[position]\npattern="q{{n}}"\n[current]\ncolumns=["{first} [{unit}]", "{second} ({unit})"]\n'
    assert read_log(tmp_path / "run.csv", ARM, Mapping.parse(rated + "gains=[2, 0.5]")).tau[0].tolist() == [2.0, 0.5]


def test_a_line_of_units_below_the_names_counts(tmp_path):
    (tmp_path / "run.csv").write_text(
        "t,note,q1,q2,tau1,tau2\nms,-,mdeg,[deg],Nm,Nmm\n0,5,90e3,90,1,1000\n10,5,90e3,90,1,1000\n"
    )
    log = read_log(tmp_path / "run.csv", ARM)
    np.testing.assert_allclose(log.t, [0.0, 0.01])
    np.testing.assert_allclose(np.hstack([log.q[1], log.tau[1]]), [np.pi / 2, np.pi / 2, 1.0, 1.0])


def test_units_below_the_names_that_contradict_the_names_are_refused(tmp_path):
    (tmp_path / "run.csv").write_text("t [ms],q1,q2,tau1,tau2\ns,rad,rad,Nm,Nm\n0,1,1,1,1\n10,1,1,1,1\n")
    with pytest.raises(InputError, match=r"line 2 gives column 't \[ms\]' the unit 's'"):
        read_log(tmp_path / "run.csv", ARM)


@pytest.mark.parametrize("times", [["2026-01-31 23:59:59.995", "2026-02-01T00:00:00.005Z"], ["08:00:00.5", "08:00:00.510"]])
def test_dates_and_times_of_day_are_read(tmp_path, times):
    (tmp_path / "run.csv").write_text("t,q1,q2,tau1,tau2\n" + "".join(f"{t},1,1,1,1\n" for t in times))
    np.testing.assert_allclose(np.diff(read_log(tmp_path / "run.csv", ARM).t), 0.01, atol=1e-6)


def test_a_last_line_without_its_end_is_left_out_and_said(tmp_path):
    (tmp_path / "run.csv").write_text("t,q1,q2,tau1,tau2\n0,1,1,1,1\n0.01,1,1,1,1\n0.02,1,0.")
    log = read_log(tmp_path / "run.csv", ARM)
    assert log.t.tolist() == [0.0, 0.01]
    assert "the last line ends after 3 cells and is left out" in log.notes
