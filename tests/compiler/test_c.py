"""Generated C compiles without a warning, passes its own test under sanitizers, and carries no foreign text."""

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.compiler import c_text
from dynamis.compiler.c_text import argument_names
from dynamis.compiler.kernel import Kernel

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover"]


@functools.cache
def sanitizers(compiler):
    """The options of sanitizers, unless their libraries are not installed with the compiler."""
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, *SANITIZERS, "-x", "c", "-", "-o", f"{folder}/program"]
        found = subprocess.run(command, input=b"int main(void) { return 0; }", capture_output=True, check=False)
    return SANITIZERS if found.returncode == 0 else []


@pytest.mark.skipif(not COMPILERS, reason="no C compiler on this machine")
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("robot", "base", "function", "precision"),
    [
        ("stanford", "fixed", "forward_dynamics", "double"),
        ("puma560", "fixed", "bias", "float"),
        ("puma560", "fixed", "jacobian", "double"),
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
    subprocess.run(
        [compiler, *FLAGS, *sanitizers(compiler), flag, str(source), "-o", str(program), "-lm"], check=True, cwd=tmp_path
    )
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 wrong of 20" in run.stdout
    assert header.exists()


@pytest.mark.skipif(not COMPILERS, reason="no C compiler on this machine")
def test_a_function_of_the_users_own_and_a_step_on_the_manifold_pass_their_tests(tmp_path):
    robot = dy.load("go2", base="floating")

    def two_things(robot, q, v, goal):
        return robot.difference(q, robot.integrate(q, v)) - goal, goal @ v

    for function, name in ((robot.compile(two_things, goal=robot.n), "two_things"), ("interpolate", "interpolate")):
        header, source = robot.write_c(function, tmp_path)
        assert header.name == f"dynamis_{name}.h"
        program = tmp_path / name
        flag = f"-DDYNAMIS_{name.upper()}_SELFTEST"
        subprocess.run(
            [COMPILERS[0], *FLAGS, *sanitizers(COMPILERS[0]), flag, str(source), "-o", str(program), "-lm"],
            check=True,
            cwd=tmp_path,
        )
        run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
        assert "0 wrong of 20" in run.stdout


@pytest.mark.skipif(not COMPILERS, reason="no C compiler on this machine")
def test_the_self_test_can_fail(tmp_path):
    _, source = dy.load("ur5e").write_c("gravity", tmp_path)
    text = source.read_text()
    source.write_text(re.sub(r" g\[1\] = v(\d+);", r" g[1] = v\1 * 1.0001;", text, count=1))
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
    body = re.sub(r"static inline.*?\n}\n", "", body, flags=re.S)  # sine and cosine
    words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"\d[\d.]*(e[-+]?\d+)?", "0", body)))
    words = {w for w in words if not re.fullmatch(r"(v|q|a|tau)\d*0?", w)}
    known = {"include", "dynamis_inverse_dynamics", "dynamis_inverse_dynamics_sincos", "h", "math"}
    assert words <= known | {"void", "const", "double", "sin", "cos", "e"}


def test_arguments_have_the_names_they_have_in_python(tmp_path):
    header, _ = dy.load("ur5e").write_c("forward_dynamics", tmp_path)
    prototype = "(const double q[6], const double v[6], const double tau[6], double a[6]);"
    assert f"void dynamis_forward_dynamics{prototype}" in header.read_text()


@pytest.mark.skipif(not COMPILERS, reason="no C compiler on this machine")
def test_the_function_and_its_files_have_the_name_that_was_chosen(tmp_path):
    run = CliRunner().invoke(cli, ["export", "planar_2r_melchiorri", "mass_matrix", "--name", "m", "-o", str(tmp_path)])
    assert run.exit_code == 0, run.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.c", "m.h"]
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-DM_SELFTEST"]
    subprocess.run([COMPILERS[0], *strict, str(tmp_path / "m.c"), "-o", str(tmp_path / "m"), "-lm"], check=True)
    assert subprocess.run([str(tmp_path / "m")], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", ["double", "main", "sinf", "tan", "powf", "abs", "read", "class", "Upper", "9", "", 3])
def test_a_name_that_c_does_not_allow_is_refused(tmp_path, name):
    with pytest.raises(dy.InputError, match="the C name"):
        dy.load("planar_2r_melchiorri").write_c("gravity", tmp_path, name=name)


def test_argument_names_that_c_does_not_allow_are_replaced():
    assert argument_names(["q", "double", "v12", "q", "gain", "\u03c4"], "in", {"gain"}) == [
        "q",
        "in1",
        "in2",
        "in3",
        "in4",
        "in5",
    ]


def test_a_full_disk_leaves_the_files_that_were_there(tmp_path, monkeypatch):
    arm = dy.load("planar_2r_melchiorri")
    paths = arm.write_c("gravity", tmp_path)
    before = [path.read_bytes() for path in paths]

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dynamis.files.atomic_write.os.fsync", full)
    with pytest.raises(dy.InputError, match="No space left"):
        arm.write_c("gravity", tmp_path, precision="float")
    assert [path.read_bytes() for path in paths] == before
    assert sorted(tmp_path.iterdir()) == sorted(paths)


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


@pytest.mark.skipif(not COMPILERS, reason="no C compiler on this machine")
@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O3", "-march=native"]], ids=" ".join)
def test_sines_and_cosines_hold_everywhere(tmp_path, flags):
    """Over all quadrants, next to multiples of π/2, beyond the range of the reduction, and where there is no angle."""
    rng = np.random.default_rng(0)
    near = np.arange(-40_000, 40_000, 7) * (np.pi / 2)
    angles = [rng.uniform(-10.0, 10.0, 20_000), near, np.nextafter(near, np.inf), rng.uniform(-1e5, 1e5, 20_000)]
    x = np.concatenate([*angles, rng.uniform(-1e12, 1e12, 1000), [0.0, 5e-324, 1e5, -1e5, np.nextafter(1e5, 2e5)]])
    code = Kernel([lambda x: np.array([np.sin(x[0]), np.cos(x[0])])], [("x", 1)], "pair").code
    _, source = c_text.write_pair(tmp_path, "pair", c_text.render(code, "pair", "double", "pair", []))
    library = tmp_path / "pair.so"
    subprocess.run([COMPILERS[0], *flags, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
    function = ctypes.CDLL(str(library)).pair
    result = np.empty(2)
    found = []
    for angle in np.append(x, [np.nan, np.inf]):
        given = np.array([angle])
        function(ctypes.c_void_p(given.ctypes.data), ctypes.c_void_p(result.ctypes.data))
        found.append(result.copy())
    found = np.array(found)
    expected = np.stack([np.sin(x), np.cos(x)], axis=-1)
    assert np.all(np.abs(found[:-2] - expected) <= 2 * np.spacing(np.abs(expected)))
    assert np.all(np.isnan(found[-2:]))


@pytest.mark.parametrize("jacobian", [False, True])
def test_the_self_test_uses_states_at_which_the_function_is_finite(tmp_path, jacobian):
    robot = dy.load("planar_2r_melchiorri")
    for name, function in (("root", lambda robot, q: np.sqrt(q)), ("logarithm", lambda robot, q: np.log(q[0]) * q)):
        files = robot.write_c(function, tmp_path, name=name, jacobian=jacobian)
        for source in files[1::2]:
            if not COMPILERS:
                continue
            flag = f"-D{source.stem.upper()}_SELFTEST"
            subprocess.run([COMPILERS[0], *FLAGS, flag, str(source), "-o", str(tmp_path / "test"), "-lm"], check=True)
            assert (
                "0 wrong of 20" in subprocess.run([str(tmp_path / "test")], capture_output=True, text=True, check=True).stdout
            )
    arm = dy.load("ur5e")
    (tmp_path / "laws").mkdir()
    dy.control.write_c(robot, lambda robot, t, q, v: np.sqrt(q) - v, tmp_path / "laws", name="law")
    with pytest.warns(
        dy.ModelWarning, match="not finite at most states .* self-test of the C code has no states, and is left out"
    ):
        _, source = arm.write_c(lambda robot, q: np.log(q - 100.0), tmp_path, name="nowhere")
    assert "SELFTEST" not in source.read_text()
    for states in (0, -1, 2.5):
        with pytest.raises(dy.InputError, match=f"number of states of the self-test.* got {states}"):
            arm.write_c("gravity", tmp_path, states=states)
