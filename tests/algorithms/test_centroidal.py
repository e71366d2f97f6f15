"""Centre of mass and centroidal momentum: against sums over the bodies, differences in time, and the laws of mechanics."""

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot, zoo_states

import dynamis as dy
from dynamis.algorithms import centroidal
from dynamis.model.description import Drive
from dynamis.model.writers.toml import write_toml
from dynamis.scalar import topological

H = 1e-6


def at(robot):
    q, v, a = (x[1] for x in zoo_states(robot, 2, seed=3))
    return q, v, a


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize("name", NAMES)
def test_rates_are_derivatives_in_time(name):
    robot = zoo_robot(name)
    q, v, a = at(robot)
    before, after = robot.integrate(q, -H * v), robot.integrate(q, H * v)

    def rate(function):
        return (function(after) - function(before)) / (2.0 * H)

    np.testing.assert_allclose(robot.center_of_mass_velocity(q, v), rate(robot.center_of_mass), atol=1e-8)
    np.testing.assert_allclose(robot.centroidal_matrix_dot(q, v), rate(robot.centroidal_matrix), atol=1e-6)
    momentum = robot.centroidal_matrix(q) @ v
    np.testing.assert_allclose(robot.centroidal_momentum(q, v), momentum, atol=1e-12)
    np.testing.assert_allclose(robot.center_of_mass_jacobian(q) @ v, robot.center_of_mass_velocity(q, v), atol=1e-12)
    mass = sum(body.inertia.mass for _, body in robot.model.moving)
    forces = robot.centroidal_matrix(q) @ a + robot.centroidal_matrix_dot(q, v) @ v
    np.testing.assert_allclose(mass * robot.center_of_mass_acceleration(q, v, a), forces[:3], atol=1e-10)


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize("name", ["screws", "flyer"])
def test_subtrees_add_up_to_the_whole(name):
    """Of the bodies on the base, each with what it carries: masses and first moments, linear momenta, Jacobians."""
    robot = zoo_robot(name)
    q, v, _ = at(robot)
    frames = {frame.body: frame.name for frame in reversed(robot.model.frames.values())}
    roots = [i for i, body in robot.model.moving if body.parent == 0]
    chosen = {i: centroidal.bodies_of(robot.model, robot.model.frame(frames[i])) for i in roots}
    masses = {i: centroidal.total_mass(bodies) for i, bodies in chosen.items()}
    total = sum(masses.values())
    for function in (robot.center_of_mass, robot.center_of_mass_jacobian):
        parts = sum(masses[i] * function(q, frames[i]) for i in roots)
        np.testing.assert_allclose(parts / total, function(q), atol=1e-13)
    parts = sum(robot.centroidal_momentum(q, v, frames[i])[:3] for i in roots)
    np.testing.assert_allclose(parts, robot.centroidal_momentum(q, v)[:3], atol=1e-12)


def test_a_single_body_has_its_own_inertia_and_momentum():
    d = dy.Description("ball").add_link("base").add_link("ball", "base", "free", inertia=dy.solids.box(0.2, 0.3, 0.4, mass=5.0))
    robot = dy.Robot(d)
    q, v = robot.random(1), np.array([1.0, -2.0, 0.5, 0.3, 0.1, -0.7])
    R = robot.pose(q, "ball")[:3, :3]
    tensor = dy.solids.box(0.2, 0.3, 0.4, mass=5.0).tensor
    np.testing.assert_allclose(robot.center_of_mass(q), q[:3], atol=1e-15)
    np.testing.assert_allclose(robot.centroidal_inertia(q), R @ tensor @ R.T, atol=1e-15)
    expected = np.concatenate([5.0 * R @ v[:3], R @ tensor @ v[3:]])
    np.testing.assert_allclose(robot.centroidal_momentum(q, v), expected, atol=1e-14)


def test_a_falling_robot_keeps_its_angular_momentum_and_falls_as_a_point():
    """Torques at the joints are internal: L is constant and the centre of mass accelerates with g, whatever they are."""
    robot = dy.load("go2", base="floating").replace(friction=0)
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.normal(size=robot.n)
    tau = np.concatenate([np.zeros(6), rng.normal(size=robot.n - 6)])
    a = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(robot.center_of_mass_acceleration(q, v, a), robot.model.gravity, atol=1e-9)
    rate = robot.centroidal_matrix(q) @ a + robot.centroidal_matrix_dot(q, v) @ v
    np.testing.assert_allclose(rate[3:], 0.0, atol=1e-9)


def test_potential_energy_is_that_of_the_whole_mass_at_its_centre():
    robot = dy.load("kuka_iiwa14")
    q = robot.random(5)
    mass = sum(body.inertia.mass for _, body in robot.model.moving)
    assert robot.potential_energy(q) == pytest.approx(-mass * robot.model.gravity @ robot.center_of_mass(q), rel=1e-12)


def test_the_centre_of_a_symbolic_arm_is_a_formula():
    robot = dy.load("planar_2r")
    q = np.array([dy.symbol("q1"), dy.symbol("q2")])
    mass = sum(body.inertia.mass for _, body in robot.model.moving)
    energy = -mass * (robot.model.gravity @ robot.center_of_mass(q))
    values = {x: 0.3 + 0.1 * k for k, x in enumerate(sorted(symbols_of(energy), key=str))}
    assert len(values) > 4
    assert dy.evaluate(energy, values) == pytest.approx(dy.evaluate(robot.potential_energy(q), values), rel=1e-14)


def symbols_of(x):
    return [n for n in topological([x]) if n.op == "symbol"]


def test_what_has_no_mass_has_no_centre():
    d = dy.Description("frame").add_link("base").add_link("arm", "base", "revolute", inertia=dy.solids.sphere(0.1, mass=1.0))
    d.add_link("needle", "arm", "revolute", axis=(1, 0, 0), drive=Drive(rotor_inertia=0.1))
    robot = dy.Robot(d)
    q = robot.neutral()
    assert robot.center_of_mass(q, "arm").tolist() == [0.0, 0.0, 0.0]
    for function in (robot.center_of_mass, robot.centroidal_matrix):
        with pytest.raises(dy.InputError, match="link 'needle' and what it carries have no mass"):
            function(q, "needle")
    with pytest.raises(dy.NameLookupError, match="did you mean 'needle'"):
        robot.center_of_mass(q, "needel")


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize("name", NAMES)
def test_local_axes_are_those_of_the_link(name):
    robot = zoo_robot(name)
    q, v, a = at(robot)
    heavy = [x.name for x in robot.model.frames.values() if x.body and centroidal.bodies_of(robot.model, x)]
    for link in (heavy[0], heavy[-1], robot.link_names[0]):
        R = robot.pose(q, link)[:3, :3]
        both = np.kron(np.eye(2), R)
        for function, state, turn in (
            (robot.center_of_mass_velocity, (q, v), R),
            (robot.center_of_mass_acceleration, (q, v, a), R),
            (robot.center_of_mass_jacobian, (q,), R),
            (robot.centroidal_momentum, (q, v), both),
            (robot.centroidal_matrix, (q,), both),
            (robot.centroidal_matrix_dot, (q, v), both),
        ):
            local, world = function(*state, link, axes="local"), function(*state, link)
            np.testing.assert_allclose(turn @ local, world, atol=1e-12)
            assert np.array_equal(function(*state, link, axes="world"), world)
        tensor = R @ robot.centroidal_inertia(q, link, axes="local") @ R.T
        np.testing.assert_allclose(tensor, robot.centroidal_inertia(q, link), atol=1e-12)


def test_local_axes_are_compiled_and_batched():
    robot = dy.load("go2", base="floating")
    q, v = robot.random(0, 50), np.random.default_rng(0).normal(size=(50, robot.n))
    momentum = robot.centroidal_momentum(q, v, "base", axes="local")
    matrix = robot.centroidal_matrix(q, "base", axes="local")
    np.testing.assert_allclose(np.einsum("kij,kj->ki", matrix, v), momentum, atol=1e-10)
    R = robot.pose(q, "base")[:, :3, :3]
    np.testing.assert_allclose(np.einsum("kij,kj->ki", R, momentum[:, :3]), robot.centroidal_momentum(q, v)[:, :3], atol=1e-10)


def test_local_axes_require_a_link():
    robot = dy.load("go2", base="floating")
    with pytest.raises(dy.InputError, match="axes='local' are those of a link: give link=, such as 'base'"):
        robot.centroidal_matrix(robot.neutral(), axes="local")
    with pytest.raises(dy.InputError, match="axes='body' is unknown; choose 'world' or 'local'"):
        robot.centroidal_inertia(robot.neutral(), "base", axes="body")


def test_a_fixed_base_is_part_of_the_mass_but_not_of_the_centre_of_mass():
    d = dy.Description("a").add_link("base").attach_payload(dy.Inertia.about_com(3.0, (1, 0, 0), np.eye(3)), "base")
    d.add_link("arm", "base", "revolute", inertia=dy.Inertia.about_com(1.0, (0, 0, 2), np.eye(3)))
    robot, free = dy.Robot(d), dy.load(write_toml(d), base="floating")
    assert robot.mass == free.mass == 4.0
    np.testing.assert_allclose(robot.center_of_mass([0.0]), [0, 0, 2])
    np.testing.assert_allclose(free.center_of_mass(free.neutral()), [0.75, 0, 0.5])
