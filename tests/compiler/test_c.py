"""Generated C compiles without a warning, passes its own test under sanitizers, and carries no foreign text."""

import re
import shutil
import subprocess

import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
FLAGS = [
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover",
]


@pytest.mark.skipif(not COMPILERS, reason="no C compiler on this machine")
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("robot", "base", "function", "precision"),
    [
        ("stanford", "fixed", "forward_dynamics", "double"),
        ("puma560", "fixed", "bias", "float"),
        pytest.param("ur5e", "fixed", "inverse_dynamics", "double", marks=pytest.mark.campaign),
        pytest.param("ur5e", "fixed", "inverse_dynamics", "float", marks=pytest.mark.campaign),
        pytest.param("go2", "floating", "mass_matrix", "double", marks=pytest.mark.campaign),
        pytest.param("scara", "fixed", "kinetic_energy", "double", marks=pytest.mark.campaign),
    ],
)
def test_generated_c_passes_its_own_test(tmp_path, compiler, precision, robot, base, function):
    header, source = dy.load(robot, base=base).write_c(function, tmp_path, precision=precision)
    program = tmp_path / "selftest"
    flag = f"-DDYNAMIS_{function.upper()}_SELFTEST"
    subprocess.run([compiler, *FLAGS, flag, str(source), "-o", str(program), "-lm"], check=True, cwd=tmp_path)
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 wrong of 20" in run.stdout
    assert header.exists()


@pytest.mark.skipif(not COMPILERS, reason="no C compiler on this machine")
def test_the_self_test_can_fail(tmp_path):
    _, source = dy.load("ur5e").write_c("gravity", tmp_path)
    text = source.read_text()
    source.write_text(re.sub(r"out0\[1\] = v(\d+);", r"out0[1] = v\1 * 1.0001;", text, count=1))
    assert source.read_text() != text
    program = tmp_path / "selftest"
    subprocess.run([COMPILERS[0], "-DDYNAMIS_GRAVITY_SELFTEST", str(source), "-o", str(program), "-lm"], check=True)
    assert subprocess.run([str(program)], capture_output=True, check=False).returncode == 1


def test_only_generated_identifiers_and_a_short_list_of_functions_occur(tmp_path):
    d = dy.load("ur5e").description
    d.name = 'x */ system("id"); /* \\u202e "'
    for k, joint in enumerate(d.joints):
        joint.name = f'q; system("{k}") //'
    _, source = dy.Robot(d).write_c("inverse_dynamics", tmp_path)
    body = re.sub(r"/\*.*?\*/", "", source.read_text(), flags=re.S).split("#ifdef")[0]
    words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"\d[\d.]*(e[-+]?\d+)?", "0", body)))
    words = {w for w in words if not re.fullmatch(r"(v|in|out)\d*0?", w)}
    assert words <= {"include", "dynamis_inverse_dynamics", "h", "math", "void", "const", "double", "sin", "cos", "e"}


def test_export_and_show_on_the_command_line(tmp_path):
    run = CliRunner().invoke(cli, ["export", "ur5e", "gravity", "--to", "c", "--out", str(tmp_path)])
    assert run.exit_code == 0
    assert (tmp_path / "dynamis_gravity.c").exists()
    for form, sign in (("graph", "v6 ="), ("llvm", "define void @loop"), ("asm", "loop:"), ("c", "void dynamis_gravity(")):
        shown = CliRunner().invoke(cli, ["show", "ur5e", "gravity", "--as", form])
        assert shown.exit_code == 0
        assert sign in shown.output
    wrong = CliRunner().invoke(cli, ["export", "ur5e", "gravitation"])
    assert wrong.exit_code == 2
    assert "gravity" in wrong.output
