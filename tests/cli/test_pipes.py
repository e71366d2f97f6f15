"""Robots from standard input and from pipes."""

import os
import threading

import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli


@pytest.fixture(scope="module")
def urdf(tmp_path_factory):
    path = tmp_path_factory.mktemp("pipe") / "arm.urdf"
    dy.load("scara").write(path)
    return path.read_bytes()


def piped(data, *arguments):
    result = CliRunner().invoke(cli, arguments, input=data)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize("command", [("check", "-"), ("info", "-"), ("id", "-", "--q", "0,0,0,0"), ("compare", "scara", "-")])
def test_a_robot_is_read_from_standard_input(urdf, command):
    assert piped(urdf, *command).exit_code == piped(urdf, *("scara" if x == "-" else x for x in command)).exit_code == 0


def test_a_robot_from_standard_input_is_converted(urdf, tmp_path):
    assert piped(urdf, "convert", "-", str(tmp_path / "arm.toml")).exit_code == 0
    q = dy.load("scara").random(0)
    with pytest.warns(dy.ModelWarning, match="the mass is 0 kg"):  # of the wrist
        written = dy.load(tmp_path / "arm.toml")
    assert written.mass_matrix(q) == pytest.approx(dy.load("scara").mass_matrix(q))


def test_a_report_of_standard_input_is_named_after_the_robot(urdf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert piped(urdf, "report", "-", "--sections", "robot").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["scara-report.html"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_robot_is_read_from_a_named_pipe(urdf, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(urdf,), daemon=True)
    writer.start()
    assert "4 degrees of freedom" in piped(None, "info", str(tmp_path / "pipe")).output
    writer.join(10.0)


@pytest.mark.parametrize("data", [b"", b"hello\n", b"<robot", b"\x00" * 100, b"<!DOCTYPE html><html></html>"])
def test_what_is_no_robot_is_refused(data):
    result = piped(data, "info", "-")
    assert result.exit_code == 2
    assert "dynamis: " in result.output
