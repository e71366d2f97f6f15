"""What objects show in a notebook: well-formed, escaped, complete, and never an error."""

import dataclasses
import sys
import types
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import dynamis as dy
from dynamis.control.adapted_parameters import adapted_parameters
from dynamis.display import card, flat
from dynamis.display.tables import MAX_ROWS
from dynamis.display.text import MAX_REPR_CHARACTERS
from dynamis.kinematics.workspace import workspace_slice
from dynamis.task_space.feedback import Gains
from dynamis.task_space.task_state import TaskState

LIBRARY = ("ur5e", "planar_2r", "scara", "puma560", "rod_and_disc", "nine_body_tree", "motor_with_load", "baxter")


def parsed(shown):
    """The text of the cells, row by row; HTML that is not well-formed raises."""
    return [[cell.text or "" for cell in row] for row in ElementTree.fromstring(shown._repr_html_()).iter("tr")]


@pytest.mark.parametrize("name", LIBRARY)
def test_a_robot_has_a_row_for_each_degree_of_freedom(name):
    robot = dy.load(name)
    rows = parsed(robot)
    assert [row[0] for row in rows[1:]] == list(robot.coordinate_names)


def test_a_floating_robot_shows_its_base():
    assert len(parsed(dy.load("go2", base="floating"))) == 1 + 18


def test_the_numbers_of_a_robot_are_those_of_its_file():
    head, *rows = parsed(dy.load("ur5e"))
    row = dict(zip(head, rows[2], strict=True))
    assert row["joint"] == "elbow_joint"
    assert row["range"] == "−3.142 … 3.142 rad"
    assert row["effort limit"] == "150"


def test_names_from_files_are_escaped():
    d = dy.Description("<script>alert(1)</script>").add_link("base")
    d.add_link("a&b", "base", "revolute", inertia=dy.solids.sphere(0.1, mass=1.0))
    shown = dy.Robot(d)._repr_html_()
    assert "<script>" not in shown
    assert "a&amp;b" in shown


def test_a_long_table_is_cut_and_says_so():
    shown = card("many", [], ("row",), [(str(k),) for k in range(MAX_ROWS + 7)])
    assert shown.count("<tr>") == MAX_ROWS + 1
    assert "and 7 more" in shown


def test_a_motion_shows_where_it_went_and_how_it_ended():
    motion = dy.simulate(dy.load("planar_2r_melchiorri"), 0.1, points=11)
    shown = motion._repr_html_()
    assert "completed" in shown
    assert len(parsed(motion)) == 3
    floating = dy.simulate(dy.load("go2", base="floating"), 0.01, points=3)
    assert parsed(floating)[1][1:3] == ["", ""]  # the numbers of a quaternion are no coordinates


def test_base_parameters_show_themselves():
    base = dy.identification.base_parameters(dy.load("planar_2r_melchiorri"))
    assert len(parsed(base)) == 1 + base.rank


def test_an_identification_shows_every_parameter_with_its_error():
    arm, rng = dy.load("planar_2r_melchiorri"), np.random.default_rng(0)
    t = np.arange(0.0, 4.0, 0.004)
    phase = np.outer(t, [2.0, 3.1])
    q, v, a = np.sin(phase), np.cos(phase) * [2.0, 3.1], -np.sin(phase) * [4.0, 9.61]
    tau = arm.inverse_dynamics(q, v, a) + rng.normal(scale=0.5, size=q.shape)
    found = dy.identify(arm, dy.identification.Samples.of(q, v, a, tau, period=0.004))
    rows = parsed(found)
    assert rows[0][:3] == ["base parameter", "estimate", "standard error"]
    assert len(rows) == 1 + found.base.rank


@pytest.mark.parametrize(
    "make",
    [
        lambda: dy.check_answer(dy.load("planar_2r").closed_form(), "gravity", "g_2 = m_2 g l_2 s_{12}"),
        lambda: dy.workspace(dy.load("planar_2r_melchiorri"), samples=50),
        lambda: dy.control.ComputedTorque.designed(np.zeros(2), bandwidth=5.0).check(dy.load("planar_2r_melchiorri")),
    ],
    ids=["answer", "workspace", "stability"],
)
def test_what_prints_as_text_shows_as_that_text(make):
    made = make()
    shown = ElementTree.fromstring(made._repr_html_())
    assert "".join(shown.itertext()) == str(made)
    assert "\n" in str(made)
    assert shown.tag == "pre"
    assert "monospace" in shown.get("style")  # notebooks show <pre> in the proportional font of their text


def test_columns_of_numbers_are_aligned_right_and_long_text_wraps():
    long = " + ".join(f"0.1 link{k}.m" for k in range(40))
    shown = ElementTree.fromstring(card("mixed", [], ("name", "number", "text"), [("a", 1.5, long), ("b", "3 %", "short")]))
    name, number, text = (cell.get("style") for cell in next(shown.iter("tbody"))[0])
    assert "left" in name
    assert "right" in number
    assert "nowrap" in number
    assert "left" in text
    assert "white-space: normal" in text
    assert any("overflow-x: auto" in box.get("style", "") for box in shown.iter("div"))


def test_structural_bounds_have_a_row_for_each_bound():
    bounds = dy.structural_bounds(dy.load("planar_2r_melchiorri"), lower=-1.0, upper=1.0)
    head, *rows = parsed(bounds)
    assert head == ["", "meaning", "found", "proven from", "to", "status"]
    assert [row[0] for row in rows] == [bound.name for bound in bounds]
    assert f"{bounds.mu_2.upper:.6g}" in rows[1][4]


def test_modes_show_pairs_real_eigenvalues_and_small_damping():
    falling = parsed(dy.linearize(ARM, [np.pi / 2, 0]))
    assert [row[2] for row in falling[1:]] == ["5.257", "2.547", "−2.547", "−5.257"]
    hanging = dy.linearize(ARM, [-np.pi / 2, 0]).modes[0]
    assert parsed(hanging)[1][2] == "±2.547i"
    barely = dataclasses.replace(hanging, eigenvalue=-2e-5 + 2.547j, damping=7.853e-6, time_constant=5e4)
    assert "stable, 0.4054 Hz, damping 7.853e-06" in repr(barely)
    assert parsed(barely)[1][2] == "−2e−05 ± 2.547i"


def test_a_figure_shows_itself_without_pyplot():
    pytest.importorskip("matplotlib")
    arm = dy.load("planar_2r_melchiorri")
    for figure in (dy.simulate(arm, 0.1, points=11).plot(), dy.trajectories.joint_move([0, 0], [1, 1], duration=1.0).plot()):
        assert figure._repr_png_().startswith(b"\x89PNG")


ARM = dy.load("planar_2r_melchiorri")
AT, RNG = np.array([0.3, 0.8]), np.random.default_rng(0)
TASK = dy.task_space.Position(rows=(0, 1))
REDUNDANT = dy.load("planar_3r", parameters={f"{x}_{k}": 0.3 for x in "almI" for k in (1, 2, 3)} | {"g": 9.81})
BENT, REST, PUSH = [0.3, 0.8, 0.9], np.zeros(3), [1.0, 0.0]
HEAVIER = ARM.replace(payload=dy.solids.sphere(0.1, mass=1.0))
LOOP = dy.loops.four_bar()
CONTROL, STATICS, TASKS, MOVES, FOUND = dy.control, dy.statics, dy.task_space, dy.trajectories, dy.identification


def law():
    return CONTROL.PDGravity([0.5, -0.5], stiffness=4000.0, damping=900.0)


def samples():
    q, v, a = RNG.normal(size=(3, 80, 2))
    return FOUND.Samples.of(q, v, a, HEAVIER.inverse_dynamics(q, v, a) + RNG.normal(scale=0.1, size=q.shape))


def equations():
    return FOUND.equations(FOUND.base_parameters(ARM), samples())


def log():
    columns = {"q": ("angle_a", "angle_b"), "tau": ("moment_a", "moment_b")}
    q, tau = RNG.normal(size=(2, 50, 2))
    return FOUND.Log(np.arange(50) / 100, q, tau, names=ARM.coordinate_names, source="run.csv", columns=columns)


def static_estimate():
    q = RNG.normal(size=(30, 2))
    arm = ARM.replace(gravity=(0.0, -9.0, 0.0))
    return FOUND.identify_static(arm, q, arm.gravity(q) + RNG.normal(scale=0.1, size=q.shape))


# what is shown at a prompt: the object, words its line must have, and a word that its table or text must have
SHOWN = {
    "ledger": (lambda: ARM.torque_ledger(AT, AT, AT), ("2 joints", "gravity 814.1"), "814.1"),
    "ledgers": (lambda: ARM.torque_ledger([AT] * 3, [AT] * 3, [AT] * 3), ("gravity 814.1",), "3 states"),
    "torque derivatives": (lambda: ARM.inverse_dynamics_derivatives(AT, AT, AT), ("2 × 2",), "dq"),
    "acceleration derivatives": (lambda: ARM.forward_dynamics_derivatives(AT, AT, AT), ("dtau",), "dtau"),
    "articulated": (lambda: ARM.articulated_inertias(AT), ("3 bodies",), "M_bar"),
    "moving base": (dy.MovingBase.at_rest, ("twist=[0, 0, 0, 0, 0, 0]",), "twist"),
    "comparison": (lambda: dy.compare(ARM, HEAVIER, states=20), (ARM.name, "3 differences"), "centre of mass"),
    "no comparison": (lambda: dy.compare(ARM, dy.load("ur5e")), (ARM.name, "UR5e", "no correspondence"), "joint"),
    "difference": (lambda: dy.compare(ARM, HEAVIER, states=20).differences[0], ("link2", "%"), "effect"),
    "linearization": (lambda: dy.linearize(ARM, [-np.pi / 2, 0]), (ARM.name, "4 states", "undamped"), "0.8366"),
    "mode": (lambda: dy.linearize(ARM, [-np.pi / 2, 0]).modes[0], ("0.4054 Hz", "damping 0>"), "frequency"),
    "bound": (lambda: dy.structural_bounds(ARM, lower=-1.0, upper=1.0).mu_2, ("μ_2", "proven"), "largest"),
    "bounds": (lambda: dy.structural_bounds(ARM, lower=-1.0, upper=1.0), (ARM.name, "≤ M ≤"), "structural properties"),
    "workspace": (lambda: dy.workspace(ARM, samples=2000), (ARM.name, "2000 positions", "reach 2 m"), "moves in a plane"),
    "slice": (lambda: workspace_slice(ARM, samples=500), (ARM.name, "over xy", "best 1"), "median"),
    "duality": (lambda: STATICS.duality(ARM, AT, rows="xy"), (ARM.name, "rank 2", "regular"), "singular values"),
    "stiffness": (lambda: STATICS.stiffness(ARM, AT, 1e4), (ARM.name, "m/N", "stable"), "compliance"),
    "polytope": (lambda: STATICS.force_polytope(ARM, AT, torque_limits=1e3), (ARM.name, "4 vertices"), "vertex"),
    "largest force": (lambda: STATICS.largest_force(ARM, AT, [1, 0, 0], torque_limits=1e3), ("156.6 N",), "156.6"),
    "holding torque": (lambda: STATICS.static_torques(ARM, AT, torque_limits=1e3), ("81.4 % of the limit",), "joint2"),
    "virtual work": (lambda: STATICS.virtual_work(ARM, AT, [0.1, 0.1], AT), ("0.11", "J"), "wrench"),
    "deflection": (lambda: STATICS.deflection(ARM, AT, 5e4, (200.0, 100.0, 0.0)), ("mm", "stable"), "displacement"),
    "ellipsoid": (lambda: STATICS.velocity_ellipsoid(ARM, [0.0, 0.0]), ("[2.236, 0] m/s",), "2.236"),
    "joint stiffness": (lambda: STATICS.joint_stiffness_for(ARM, AT, 1e3 * np.eye(2)), ("residual",), "achieved"),
    "operational model": (lambda: dy.operational_space(ARM, AT, AT, TASK), ("x, y", "rank 2"), "Lambda"),
    "task state": (lambda: TaskState.of(ARM, AT, AT, TASK), ("2 × 2",), "drift"),
    "resolution": (lambda: TASKS.resolve(REDUNDANT, BENT, REST, TASK, PUSH), ("redundant", "cost"), "task_error"),
    "limited": (lambda: TASKS.limited_torque(REDUNDANT, BENT, REST, TASK, PUSH, torque_limits=99.0), ("within",), "feasible"),
    "prioritised": (lambda: TASKS.prioritised(REDUNDANT, BENT, REST, [(TASK, PUSH)]), ("1 level",), "levels"),
    "gains": (lambda: Gains.of(TASK), ("K_D=[20, 20]",), "[100, 100]"),
    "task": (lambda: TASK, ("Position(rows=(0, 1))",), "rows"),
    "tasks": (lambda: TASKS.Stacked(TASK, TASKS.Orientation(coordinates="rpy", rows=(2,))), ("rpy",), "parts"),
    "circle": (lambda: TASKS.Circle(0.2), ("radius=0.2",), "0.2"),
    "solution": (lambda: dy.inverse_kinematics(ARM, ARM.pose(AT)), ("found",), "position_error"),
    "joint move": (lambda: MOVES.joint_move([0, 0], [1, 2], duration=1.5), ("2 joints", "1.5 s"), "max. |velocity|"),
    "one number": (lambda: MOVES.polynomial(0.0, 1.0, 2.0), ("one variable", "2 s"), "max. |velocity|"),
    "line": (lambda: MOVES.line(np.eye(4), ARM.pose(AT), 1.0), ("m, ", "rad, 1 s"), "clock"),
    "motion": (lambda: dy.simulate(ARM, 0.1, points=3), (ARM.name, "3 points"), "completed"),
    "power": (lambda: dy.simulate(ARM, 0.1, points=3).power, ("3 points", "W"), "viscous"),
    "rollouts": (lambda: dy.rollouts(ARM, 0.01, [[0.0, 0.0]] * 3), ("3 motions × 11 instants", "0.01 s"), "q of joint2"),
    "log": (log, ("'run.csv': 50 samples of 2 joints, 0.49 s at 100 Hz",), "moment_b"),
    "law": (lambda: law(), ("stiffness=4000", "reference=[0.5, -0.5]"), "900"),
    "law with model": (lambda: law().with_model(ARM), (ARM.name, "PDGravity"), None),
    "law with states": (lambda: CONTROL.SlotineLi.designed(ARM, AT, bandwidth=5.0), ("bandwidth=5",), "6 parameters"),
    "trial": (
        lambda: CONTROL.compare_laws(ARM, "computed-torque", [0.5, -0.5], duration=0.1).runs[0],
        (ARM.name, "rad"),
        "bound",
    ),
    "tracking": (lambda: CONTROL.tracking(dy.simulate(ARM, 0.1, points=9), AT), ("largest error",), "rms"),
    "stability": (lambda: CONTROL.ComputedTorque.designed(AT, bandwidth=5.0).check(ARM), ("hold (proven)",), "25"),
    "adapted": (lambda: adapted_parameters(ARM), ("6 parameters", "link2.m"), "lump"),
    "collisions": (
        lambda: CONTROL.detect_collisions(dy.simulate(ARM, 0.1, points=50), threshold=1.0),
        ("0 in 50",),
        "no collision",
    ),
    "inertia": (lambda: dy.solids.sphere(0.1, mass=1.0), ("Inertia(mass=1, ", "0.004"), "0.004"),
    "symbolic inertia": (lambda: dy.load("planar_2r").model.moving[1][1].inertia, ("mass=m_2",), "m_2"),
    "pose": (lambda: dy.Pose.translation([1, 2, 3]), ("p=[1, 2, 3]",), "[1, 2, 3]"),
    "description": (lambda: ARM.description, (ARM.name, "3 links", "2 joints"), "revolute"),
    "link": (lambda: ARM.description.links[1], ("link1", "50 kg"), "mass_properties"),
    "joint": (lambda: ARM.description.joints[1], ("joint2", "from 'link1' to 'link2'"), "revolute"),
    "limits": (lambda: ARM.description.joints[0].limits, ("effort=inf",), "inf"),
    "drive": (lambda: ARM.description.joints[0].drive, ("gear_ratio=1",), "viscous"),
    "model": (lambda: ARM.model, (ARM.name, "2 degrees of freedom"), "coordinates"),
    "frame": (lambda: ARM.model.frame(), ("link2", "body 2"), "pose"),
    "motor": (lambda: dy.DCMotor(1.0, 0.1), ("resistance=1.0",), "supply"),
    "friction": (lambda: dy.LuGre(1.0, 2.0, 0.1, 1e5, 100.0), ("coulomb=1",), "100"),
    "push": (lambda: dy.Push([1, 0, 0, 0, 0, 0]), ("(1, 0, 0, 0, 0, 0)",), "world"),
    "sampled": (lambda: dy.Sampled(law().with_model(ARM), rate=500.0), ("rate=500",), "500"),
    "check": (lambda: dy.check("ur5e"), ("no errors or warnings",), "no errors or warnings"),
    "constrained robot": (lambda: LOOP, ("four-bar", "1 closure"), "coupler_end on rocker_end"),
    "closure": (lambda: LOOP.closures[0], ("frame_b='rocker_end'",), "rocker_end"),
    "independence": (lambda: LOOP.independence(LOOP.home()), ("1 degree of freedom",), "rank 2"),
    "reduced": (lambda: LOOP.reduced_dynamics(LOOP.home(), REST, REST), ("acceleration",), "mass_matrix"),
    "equations": (equations, ("160 rows", "6 parameters"), "joints"),
    "samples": (samples, ("80 samples",), "array(80, 2)"),
    "payload": (lambda: FOUND.identify_payload(ARM, samples()), (ARM.name, "kg at"), "kg"),
    "static estimate": (static_estimate, (ARM.name, "gravity parameters"), "30 poses"),
    "validation": (lambda: FOUND.cross_validate(FOUND.LeastSquares(), equations()), ("held out",), "held out"),
    "kernel": (lambda: ARM.kernel("gravity"), ("'gravity' of q (2)",), None),
    "notation": (lambda: dy.Notation("mine"), ("name='mine'",), "mine"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_ends_a_cell_shows_itself_in_a_line_and_as_a_table(name):
    make, words, shown = SHOWN[name]
    made = make()
    line = repr(made)
    assert "\n" not in line
    assert len(line) <= MAX_REPR_CHARACTERS
    assert "array([" not in line
    for word in words:
        assert word in line
    if shown is not None:
        assert shown in "".join(ElementTree.fromstring(made._repr_html_()).itertext())


@pytest.mark.parametrize(
    "make",
    [
        lambda robot: dy.linearize(robot, [0.1]),
        lambda robot: dy.compare(robot, robot, states=2),
        lambda robot: dy.workspace(robot, samples=50),
        lambda robot: STATICS.duality(robot, [0.1], rows="xy"),
        lambda robot: robot.description,
        lambda robot: robot.description.joints[0],
        lambda robot: robot.description.joints[0].limits,
        lambda robot: robot.model,
        lambda robot: dy.simulate(robot, 0.01, points=3),
    ],
)
def test_names_of_any_kind_stay_on_their_line_and_within_their_cell(make):
    d = dy.Description("<b>a\nb</b>" * 40).add_link("base")
    d.add_link("<i>&" + "x" * 300, "base", "revolute", inertia=dy.solids.box(0.1, 0.2, 0.3, mass=1.0))
    made = make(dy.Robot(d))
    assert "\n" not in repr(made)
    assert len(repr(made)) <= MAX_REPR_CHARACTERS
    ElementTree.fromstring(made._repr_html_())


def test_long_arrays_are_shown_by_their_shape_and_functions_by_their_name():
    assert flat(np.zeros((50, 3))) == "array(50, 3)"
    assert flat({"at": np.array([1.0, -0.0])}) == "{'at': [1, 0]}"
    assert flat(np.zeros((11, 3, 0))) == "array(11, 3, 0)"
    assert flat([np.zeros((6, 6))] * 2) == "array(6, 6), array(6, 6)"
    assert flat(np.array([77.53, -1.3e-15])) == "[77.53, 0]"
    assert flat(np.array([0.0, -1.3e-15])) == "[0, -1.3e-15]"
    assert flat(np.cos) == "cos"
    assert flat(2.0 + 1e-9j) == "2+1e-09j"
    assert repr(dy.Event(parsed)) == "Event(function=parsed, direction=0, stop=False)"


def test_panels_say_what_they_are():
    pytest.importorskip("matplotlib")
    assert repr(dy.simulate(ARM, 0.1, points=5).plot()) == "<Panels: 4 axes; the figure is .figure>"


def test_the_closed_form_of_statics_shows_its_formulas():
    shown = STATICS.static_formulas(dy.load("planar_2r"))
    assert repr(shown) == "<StaticFormulas of 2 joints, directions x, y>"
    assert shown._repr_latex_().startswith("$$")


def test_ledgers_show_joint_names_and_no_rounding_errors():
    robot = dy.load("ur5e")
    ledger = robot.torque_ledger(np.full(6, 0.3), np.zeros(6), np.ones(6))
    _, *rows = parsed(ledger)
    assert [row[0] for row in rows] == list(robot.coordinate_names)
    shown = [cell for row in rows for cell in row[1:]]
    assert not any("e-1" in cell.replace("−", "-") for cell in shown)
    assert all(len(cell) <= 10 for cell in shown)


def test_christoffel_symbols_show_as_equations_of_those_that_are_not_zero():
    shown = dy.load("planar_2r").closed_form().christoffel._repr_latex_()
    assert r"c_{112} = c_{121} = c_{122} &= -m_2 a_1 l_2 s_2" in shown
    assert "c_{222}" not in shown
    form = dy.load("planar_2r").closed_form()
    assert str(form.christoffel).splitlines()[0] == "c_112 = -m_2*a_1*l_2*s2"  # numbered as the formulas are
    assert dy.check_answer(form, "christoffel", str(form.christoffel)).correct
    assert str(dy.load("motor_with_load").closed_form().christoffel) == "0"
    assert "c_{ijk} = 0" in dy.load("motor_with_load").closed_form().christoffel._repr_latex_()


def test_an_explanation_prints_as_it_is_laid_out():
    told = dy.load("planar_2r_melchiorri").explain("gravity")
    assert repr(told) == str(told)
    assert "\n" in repr(told)
    assert "".join(ElementTree.fromstring(told._repr_html_()).itertext()) == str(told)


class Notebook:
    """What a kernel of Jupyter has, of what figures need: the event at the end of a cell, and a display."""

    def __init__(self, monkeypatch):
        self.kernel, self.events, self.after, self.displayed = object(), self, [], []
        ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        ipython.get_ipython, display.display = lambda: self, self.displayed.append
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def register(self, _event, function):
        self.after.append(function)

    def unregister(self, _event, function):
        self.after.remove(function)

    def end_of_cell(self):
        for function in list(self.after):
            function()


def test_a_notebook_shows_a_figure_whose_result_is_not_displayed(monkeypatch):
    pytest.importorskip("matplotlib", reason="pip install 'dynamis[plots]'")
    motion, notebook = dy.simulate(ARM, 0.1, points=5), Notebook(monkeypatch)
    figure = motion.plot()  # as in: motion.plot();
    assert not notebook.displayed  # changes of the axes in the same cell are shown
    notebook.end_of_cell()
    assert notebook.displayed == [figure]
    notebook.end_of_cell()
    assert notebook.displayed == [figure]


def test_a_notebook_shows_a_figure_once(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib", reason="pip install 'dynamis[plots]'")
    motion, notebook = dy.simulate(ARM, 0.1, points=5), Notebook(monkeypatch)
    motion.plot()._repr_png_()  # the result of the cell
    motion.plot(tmp_path / "motion.png")  # a file is not shown
    notebook.end_of_cell()
    assert not notebook.displayed
