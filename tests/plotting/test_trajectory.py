"""Pictures of a motion: panels, what is drawn in them, and files."""

import dataclasses

import numpy as np
import pytest
from small_machines import ball_joint, block, pendulum

import dynamis as dy
from dynamis.simulation.simulate import simulate

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'dynamis[plots]'")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture_is_written_where_asked(tmp_path, suffix):
    target = tmp_path / f"swing.{suffix}"
    simulate(pendulum(coulomb=0.5), 2.0, [1.0], points=101).plot(target)
    assert target.stat().st_size > 5000


def test_the_lines_are_the_motion_and_friction_is_dotted_beside_the_torque():
    motion = simulate(pendulum(coulomb=0.5), 5.0, [1.0], points=101)
    position, velocity, torque, energy, power, error = motion.plot()
    assert np.array_equal(position.lines[0].get_ydata(), motion.q[:, 0])
    assert np.array_equal(velocity.lines[0].get_ydata(), motion.v[:, 0])
    assert [line.get_linestyle() for line in torque.lines[:2]] == ["-", ":"]
    assert np.array_equal(torque.lines[1].get_ydata(), motion.friction[:, 0])
    assert torque.get_title(loc="left") == "torque, dry friction (dotted)"
    assert [t.get_text() for t in energy.get_legend().get_texts()] == ["kinetic", "potential", "total", "work"]
    assert len(energy.lines) == 4 + len(motion.events)
    assert motion.events
    assert [t.get_text() for t in power.get_legend().get_texts()] == ["friction", "stored (sum)"]
    assert np.array_equal(power.lines[1].get_ydata(), motion.power.stored)
    assert np.array_equal(error.lines[0].get_ydata(), motion.energy_error)


def test_joints_have_one_legend_and_torques_of_stops_are_drawn():
    robot = dy.load("panda")
    figure = simulate(robot, 0.5, [0, 0, 0, -1.5, 0, 1.5, 0], stops=dy.HardStops(), points=51).plot().figure
    assert [t.get_text() for t in figure.legends[0].get_texts()] == list(robot.coordinate_names)
    assert "stops (dash-dotted)" in figure.axes[2].get_title(loc="left")
    assert "-." in [line.get_linestyle() for line in figure.axes[2].lines]


def test_panels_without_torques_and_powers_are_omitted():
    panels = simulate(pendulum(), 1.0, [1.0], points=51).plot()
    assert [ax.get_title(loc="left") for ax in panels] == [
        "position", "velocity", "change of energy", "energy error: change − work",
    ]  # fmt: skip
    assert panels.figure.get_suptitle().endswith("all joint torques are zero")
    held = simulate(pendulum(coulomb=50.0), 0.1, [1.0], points=5).plot()  # friction without motion: torque, but no power
    assert [ax.get_title(loc="left").split(",")[0] for ax in held][2:4] == ["torque", "change of energy"]
    assert len(held) == 5
    assert [bool(ax.get_xlabel()) for ax in held] == [False, False, False, True, True]


def test_no_legend_lies_in_a_panel():
    panels = simulate(pendulum(coulomb=0.5), 1.0, [1.0], points=51).plot()
    panels.figure.draw_without_rendering()
    for ax in panels:
        if ax.get_legend() is not None:
            assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1 - 1.0
            assert not ax.get_legend().get_window_extent().overlaps(ax._left_title.get_window_extent())


def test_units_follow_the_joints():
    assert simulate(pendulum(), 0.1, points=3).plot()[0].get_ylabel() == "rad"
    assert "m" in simulate(block(), 0.1, points=3).plot()[0].get_ylabel()


def test_quaternions_have_a_panel_of_their_own():
    velocity, quaternion, *_ = simulate(ball_joint(), 0.1, points=3).plot()
    assert (velocity.get_title(loc="left"), quaternion.get_title(loc="left")) == ("velocity", "quaternion")
    assert [line.get_label() for line in quaternion.lines] == ["x", "y", "z", "w"]
    assert quaternion.get_ylabel() == ""


def test_joints_of_a_floating_robot_have_their_names_and_one_colour_each():
    robot = dy.load("go2", base="floating")
    motion = simulate(robot, 0.01, points=3, friction="none")
    position, velocity, place, quaternion, *_ = motion.plot()
    colours = {line.get_label(): line.get_color() for line in velocity.lines}
    assert list(colours) == list(robot.coordinate_names)
    assert [line.get_label() for line in position.lines] == list(robot.coordinate_names[6:])
    assert all(line.get_color() == colours[line.get_label()] for line in position.lines)
    assert np.array_equal(position.lines[0].get_ydata(), motion.q[:, 7])
    assert position.get_ylabel() == "rad"
    assert (place.get_title(loc="left"), place.get_ylabel()) == ("position of the base", "m")
    assert np.array_equal([line.get_ydata() for line in place.lines], motion.q[:, :3].T)
    assert np.array_equal([line.get_ydata() for line in quaternion.lines], motion.q[:, 3:7].T)


def test_a_place_or_a_kind_that_cannot_be_written_is_refused(tmp_path):
    motion = simulate(pendulum(), 0.1, points=3)
    for target in (tmp_path / "nowhere" / "swing.png", tmp_path / "swing.xyz"):
        with pytest.raises(dy.InputError, match="cannot be written"):
            motion.plot(target)


def test_a_long_status_is_wrapped_inside_the_figure_and_events_that_are_not_drawn_are_counted():
    motion = simulate(pendulum(coulomb=0.5), 5.0, [1.0], points=11)
    events = tuple(dataclasses.replace(motion.events[0], time=t) for t in np.linspace(0.0, 1.0, 100))
    status = "stopped at t = 1 s: " + "the reason takes a long sentence " * 6
    figure = dataclasses.replace(motion, events=events, status=status).plot().figure
    figure.draw_without_rendering()
    title = figure._suptitle
    assert title.get_window_extent().x1 < figure.bbox.x1
    assert "grey lines: the first 60 of 100 events" in title.get_text().replace("\n", " ")
