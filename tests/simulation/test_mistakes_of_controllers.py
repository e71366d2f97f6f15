"""Usual mistakes in controllers of users: each is answered with what is wrong and what to do."""

import warnings

import numpy as np
import pytest
from scipy.interpolate import interp1d

import dynamis as dy

ARM = dy.load("planar_2r_melchiorri")


class WithoutSize(dy.Controller):
    def __call__(self, robot, t, q, v, x):
        return x


class Law:
    def __call__(self, t, q, v):
        return -v


@pytest.mark.parametrize(
    ("controller", "answer"),
    [
        (lambda t, q, v, robot: q, r"of \(robot, t, q, v\)"),
        (lambda t, q, v, gain: q, "give it a default, or use parameters= of rollouts"),
        (WithoutSize(), "sets size to their number"),
        (Law, r"got the class Law: give an object of it, Law\(…\)"),
        (lambda t, q, v: "a", "returned str instead of 2 numbers"),
        (lambda t, q, v: {"tau": q}, "returned dict instead of 2 numbers"),
        (lambda t, q, v: 1j * v, "returned complex128 values instead of 2 numbers"),
    ],
    ids=["order", "argument", "size", "class", "text", "dictionary", "complex"],
)
def test_simulate_answers_a_mistake_with_its_remedy(controller, answer):
    with warnings.catch_warnings(), pytest.raises(dy.DynamisError, match=answer):
        warnings.simplefilter("error")
        dy.simulate(ARM, 0.01, controller=controller)


def test_torques_of_the_joints_alone_of_a_floating_robot_are_answered_with_those_of_the_base():
    with pytest.raises(dy.DynamisError, match=r"instead of \(18,\) \(the first six act on the free base"):
        dy.simulate(dy.load("go2", base="floating"), 0.01, controller=lambda t, q, v: np.zeros(12))


def test_starts_in_degrees_are_doubted_in_batches_too():
    with pytest.warns(dy.ReachWarning, match=r"numpy\.deg2rad"):
        dy.rollouts(dy.load("ur5e"), 0.002, np.full((2, 6), 90.0))
    with pytest.raises(dy.InputError, match=r"numpy\.deg2rad\(start\)"):
        dy.optimize.trajectory(ARM, [-90.0, 0.0], [90.0, 0.0], 1.0, nodes=40)


def test_warnings_of_rollouts_point_to_the_line_of_the_user():
    with pytest.warns(dy.PerformanceWarning) as found:
        dy.rollouts(ARM, 0.002, np.zeros(2), controller=lambda t, q, v: float(q[0]) * v)
    assert found[0].filename == __file__


def test_what_cannot_be_compiled_or_written_is_named(tmp_path):
    table = interp1d([0.0, 1.0], [0.0, 1.0])
    with pytest.raises(dy.InputError, match="the controller cannot be compiled: "):
        dy.control.write_c(ARM, lambda t, q, v: table(t) * q, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(dy.InputError, match="it is a file; give a folder"):
        dy.control.write_c(ARM, Law(), tmp_path / "file")
    with pytest.raises(dy.InputError, match=r"a function of \(robot, q, …\), not of \(q, …\)"):
        ARM.compile(lambda q: q)
    with pytest.raises(dy.InputError, match=r"rate > 0 .*got rate=0"):
        dy.Sampled(Law(), rate=0)
    move = dy.trajectories.joint_move(np.zeros(2), np.ones(2), duration=1.0)
    with pytest.raises(dy.InputError, match="then its reference; got PathMotion first"):
        dy.control.tracking(move, dy.simulate(ARM, 0.01))


def test_arguments_that_rollouts_does_not_have_are_named_with_the_right_ones():
    arm = dy.load("planar_2r_melchiorri")
    with pytest.raises(dy.InputError, match="give controller=lambda t, q, v"):
        dy.rollouts(arm, 0.1, np.zeros((3, 2)), torque=np.ones(2))
    with pytest.raises(dy.NameLookupError, match=r"did you mean .controller"):
        dy.rollouts(arm, 0.1, np.zeros((3, 2)), controler=None)


def test_a_controller_that_changes_its_variables_is_announced_during_the_first_steps():
    class Integral:
        def __init__(self):
            self.total, self.t = 0.0, 0.0

        def __call__(self, t, q, v):
            self.total, self.t = self.total + (t - self.t) * q[0], t
            return [-self.total, 0.0]

    law = Integral()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(dy.ModelWarning, match="changed its variable"):
            dy.simulate(dy.load("planar_2r_melchiorri"), 5.0, q0=[0.1, 0.2], controller=law)
    assert law.t < 0.5
