"""What `identify` refuses: samples without motion or torques, of absurd sizes, and settings that it does not know."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.identification import Samples

ARM = dy.load("planar_2r_melchiorri")
STILL, SOME = np.zeros((100, 2)), np.random.default_rng(0).normal(size=(100, 2))
TORQUE = ARM.inverse_dynamics(SOME, SOME, SOME)


@pytest.mark.parametrize(
    ("v", "tau", "message"),
    [
        (STILL, TORQUE, "the robot never moves"),
        (SOME, STILL, "all torques are zero"),
        (SOME, 1e100 * TORQUE, "check their unit"),
        (SOME, 1e-200 * TORQUE, "check their unit"),
    ],
)
def test_samples_that_tell_nothing_are_refused(v, tau, message):
    with pytest.raises(dy.InputError, match=message):
        dy.identify(ARM, Samples.of(SOME, v, v, tau, period=0.01))


def test_settings_are_arguments_of_what_they_set():
    run = Samples.of(SOME, SOME, SOME, TORQUE, period=0.01)
    with pytest.raises(dy.NameLookupError, match=r"of prepare in signals=.*did you mean 'parallel'"):
        dy.identify(ARM, run, signals={"paralel": 20.0})
    with pytest.raises(dy.NameLookupError, match="of PhysicallyConsistent in constraints="):
        dy.identify(ARM, run, constraints={"mass": 1.0})
    for name in ("signals", "constraints"):
        with pytest.raises(dy.InputError, match=f"{name}= takes a dictionary of"):
            dy.identify(ARM, run, **{name: ["parallel"]})


@pytest.fixture
def looped(tmp_path):
    """A five-bar whose file closes its loop."""
    dy.loops.five_bar().write(tmp_path / "five.toml")
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        return dy.load(tmp_path / "five.toml")


def test_the_equations_of_a_tree_are_not_fitted_to_a_mechanism_with_loops(looped):
    run = Samples.of(*np.random.default_rng(0).normal(size=(4, 100, 4)), period=0.01)
    with pytest.raises(dy.InputError, match=r"closes loops \(plane of .* so that τ = Y π does not hold: .*null space"):
        dy.identify(looped, run)
    d = looped.description
    d.closures.clear()
    with pytest.raises(dy.DynamisError) as refused:  # of this noise, but no longer for its loops
        dy.identify(dy.Robot(d), run)
    assert "loops" not in str(refused.value)


def test_no_motion_is_designed_that_would_tear_a_loop(looped):
    with pytest.raises(dy.InputError, match="a motion of all joints of the tree would tear: choose motions of the joints with"):
        dy.identification.design_excitation(looped, duration=2.0, restarts=1)
