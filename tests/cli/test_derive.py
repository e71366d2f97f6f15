"""dynamis derive and dynamis check-answer, as a student types them."""

import pytest
from browsers import find_browser_or_skip
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli


def run(*arguments, text=None):
    return CliRunner().invoke(cli, list(arguments), input=text)


def test_equations_are_printed():
    result = run("derive", "motor_with_load")
    assert result.exit_code == 0
    assert result.output.strip() == "(I + I_m)*q'' + m*g*l*cos(q) = tau"


def test_equations_of_actuators_are_printed_behind_them(tmp_path):
    (tmp_path / "wheel.toml").write_text("""
[[link]]
mass = 1
inertia = { xx = 1, yy = 1, zz = 2 }
rotor_inertia = 0.5
actuator = { kind = "elastic", stiffness = 100, backlash = 0.25 }
""")
    lines = run("derive", str(tmp_path / "wheel.toml")).stdout.splitlines()
    assert lines[0] == "2*q'' = tau"
    assert lines[2:4] == ["1/2*theta_m'' + 100*(theta_m - q) = u", "tau = 100*(theta_m - q)"]
    assert "Backlash 1/4 rad" in lines[4]


def test_letters_are_chosen():
    assert "theta_1''" in run("derive", "planar_2r", "--letters", "rocco").output
    wrong = run("derive", "planar_2r", "--letters", "roco")
    assert wrong.exit_code == 2
    assert "did you mean 'rocco'" in wrong.output


@pytest.mark.parametrize("suffix", ["tex", "md", "html", "ipynb"])
def test_derivation_is_written(tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    result = run("derive", "cartesian_2p", "-o", str(path))
    assert result.exit_code == 0, result.output
    assert "wrote" in result.output
    assert path.stat().st_size > 2000


def test_a_derivation_is_printed_as_pdf_or_refused_before_the_work(tmp_path, monkeypatch):
    find_browser_or_skip()
    path = tmp_path / "arm.pdf"
    assert run("derive", "cartesian_2p", "-o", str(path)).exit_code == 0
    assert path.read_bytes().startswith(b"%PDF")
    monkeypatch.setenv("DYNAMIS_BROWSER", "/no/such/browser")
    assert "DYNAMIS_BROWSER" in run("derive", "cartesian_2p", "-o", str(tmp_path / "other.pdf")).output


@pytest.mark.parametrize(("form", "sign"), [("latex", r"\begin{document}"), ("markdown", "# The dynamic model"),
                                            ("html", 'class="math display"'), ("notebook", '"nbformat": 4')])  # fmt: skip
def test_derivation_is_printed(form, sign):
    assert sign in run("derive", "cartesian_2p", "--as", form).output


def test_a_robot_that_is_too_large_says_so():
    result = run("derive", "panda", "--seconds", "0")
    assert result.exit_code == 0
    assert "factored: the expanded form was not completed in 0 s" in result.output


def test_a_right_answer_ends_well(tmp_path):
    answer = tmp_path / "answer.tex"
    answer.write_text(r"$$M = \begin{bmatrix} m_1 + m_2 & 0 \\ 0 & m_2 \end{bmatrix}$$", encoding="utf-8")
    result = run("check-answer", "cartesian_2p", "--mass-matrix", str(answer))
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == "mass-matrix: correct"


def test_a_wrong_answer_ends_with_its_cause():
    result = run("check-answer", "planar_2r", "--gravity", "-", text="g_1 = m_1 g l_1 + m_2 g (a_1 c_1 + l_2 c_12)")
    assert "read as plain formulas, notation" in result.output
    assert result.exit_code == 1
    assert "g_1 (line 1): wrong. A missing cosine: c1 in m_1*g*l_1*c1" in result.output
    assert "not given: g_2" in result.output


def test_several_answers_are_checked_together(tmp_path):
    for name, text in (("m", "M_11 = m_1 + m_2\nM_12 = 0\nM_22 = m_2"), ("g", "g_1 = (m_1 + m_2) g\ng_2 = 0")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = run("check-answer", "cartesian_2p", "--mass-matrix", str(tmp_path / "m"), "--gravity", str(tmp_path / "g"))
    assert result.exit_code == 0, result.output
    assert "mass-matrix: correct" in result.output
    assert "gravity: correct" in result.output


def test_no_answer_says_how_to_give_one():
    result = run("check-answer", "planar_2r")
    assert result.exit_code == 2
    assert "name the quantity and the file with the answer, such as --mass-matrix answer.tex" in result.output


def test_a_right_part_of_an_answer_ends_well_and_says_what_was_not_given():
    result = run("check-answer", "planar_2r", "--gravity", "-", text="g_2 = m_2 g l_2 c_12")
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == "gravity: correct as far as given; not given: g_1"


@pytest.mark.parametrize("option", ["--gravity", "--gravity_vector", "--Gravity-Vector", "--g"])
def test_options_have_common_names(option):
    assert run("check-answer", "planar_2r", option, "-", text="g_2 = m_2 g l_2 c_12").exit_code == 0


def test_hints_do_not_tell_the_solution():
    result = run("check-answer", "planar_2r", "--gravity", "-", "--hint", text="g_2 = m_2 g l_2 c_1")
    assert result.exit_code == 1
    assert "Hint: an angle: look at c1" in result.output
    assert "c12" not in result.output
    facts = run("check-answer", "planar_2r", "--gravity", "-", "--hint", "--json", text="g_2 = m_2 g l_2 c_1").output
    assert "c12" not in facts


def test_an_unreadable_answer_names_file_line_and_cure(tmp_path):
    answer = tmp_path / "answer.txt"
    answer.write_text("g_1 = 0\ng_2 = zz_9", encoding="utf-8")
    result = run("check-answer", "planar_2r", "--gravity", str(answer))
    assert result.exit_code == 2
    assert "answer.txt:2:7" in result.output
    assert "To repair" in result.output


def test_a_quantity_of_one_link_takes_its_number():
    text = "T_1 = 1/2 m_1 d_1'^2"
    assert run("check-answer", "cartesian_2p", "--kinetic-energy-of-link", "-", "--link", "1", text=text).exit_code == 0
    assert (
        "give its number, from 1 to 2" in run("check-answer", "cartesian_2p", "--kinetic-energy-of-link", "-", text=text).output
    )


def test_help_shows_examples():
    for command in ("derive", "check-answer"):
        assert "Examples:" in run(command, "-h").output


def test_long_equations_are_printed_to_a_terminal_only_after_a_question(monkeypatch):
    monkeypatch.setattr("dynamis.cli.derive.on_terminal", lambda: True)
    asked = run("derive", "ur5e", text="n\n")
    assert asked.exit_code != 0
    assert "kB of text; -o FILE.html writes them as a typeset page" in asked.output
    assert len(asked.output) < 500
    assert len(run("derive", "ur5e", text="y\n").output) > 20_000
    assert "kB" not in run("derive", "planar_2r").output


def test_info_of_symbolic_robots_is_simplified():
    shown = run("info", "planar_2r").output
    assert "(l_1 - a_1, 0, 0)" in shown
    assert "(-d_c3, 0, 0)" in run("info", "planar_prp").output


def test_an_answer_with_numbers_is_checked_against_a_robot_with_these_numbers():
    answer = "g_2 = 9.81 m_2 l_2 c_12"
    assert run("check-answer", "planar_2r", "--gravity", "-", text=answer).exit_code == 1
    assert run("check-answer", "planar_2r", "--gravity", "-", "--set", "g=9.81", text=answer).exit_code == 0


@pytest.mark.parametrize("more", [["--json"], ["-o", "arm.html"]])
def test_options_that_exclude_each_other_are_refused(more):
    result = run("derive", "planar_2r", "--as", "latex", *more)
    assert result.exit_code == 2
    assert "--as latex prints to standard output" in result.output


def test_the_number_of_a_link_is_refused_for_quantities_of_the_whole_robot():
    text = "M_22 = I_2 + m_2 l_2^2"
    refused = run("check-answer", "planar_2r", "--mass-matrix", "-", "--link", "2", text=text)
    assert refused.exit_code == 2
    assert "mass-matrix concerns the whole robot, not a link: leave out --link" in refused.output
    with pytest.raises(dy.InputError, match="quantities of one link are kinetic-energy-of-link"):
        dy.check_answer(dy.load("planar_2r").closed_form(), "gravity", "g_2 = 0", body=1)


def test_a_link_is_that_of_the_quantities_of_one_link(tmp_path):
    energy = tmp_path / "energy.tex"
    energy.write_text(r"U_2 = m_2 g (a_1 s_1 + l_2 s_{12})", encoding="utf-8")
    arguments = ("--mass-matrix", "-", "--potential-energy-of-link", str(energy), "--link", "2")
    assert run("check-answer", "planar_2r", *arguments, text="M_22 = I_2 + m_2 l_2^2").exit_code == 0
