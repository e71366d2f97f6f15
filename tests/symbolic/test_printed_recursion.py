"""The formulas of the Newton–Euler recursion that a derivation prints give the vectors and torques printed beside them."""

import numpy as np
import pytest
from random_trees import relative_error

import dynamis as dy
from dynamis.scalar import evaluate
from dynamis.spatial import Pose
from dynamis.symbolic.derivation.recursion_steps import ends_at_next_joint, newton_euler_quantities

CART = """
[[link]]
type = "prismatic"
axis = [0.6, 0, 0.8]
mass = 2
viscous = 0.3
stiffness = 5
[[link]]
xyz = [0.1, 0, 0.2]
axis = [0, 1, 0]
mass = 1
com = [0, 0.1, -0.4]
inertia = { xx = 0.1, yy = 0.2, zz = 0.15 }
[[link]]
xyz = [0.3, 0, 0]
type = "prismatic"
axis = [1, 0, 0]
mass = 0.5
com = [0.1, 0.05, 0]
inertia = { xx = 0.01, yy = 0.02, zz = 0.02 }
tail = { xyz = [0.2, 0, 0] }
"""
ROBOTS = {
    "planar arm": (lambda: dy.load("planar_2r_melchiorri"), True),
    "Stanford arm": (lambda: dy.load("stanford"), True),
    "cart, hinge, slide": (lambda: dy.load(CART), False),
}


@pytest.mark.parametrize("name", list(ROBOTS))
def test_the_printed_formulas_give_the_printed_vectors(name):
    robot, denavit_hartenberg = ROBOTS[name][0](), ROBOTS[name][1]
    form, rng = robot.closed_form(), np.random.default_rng(0)
    assert ends_at_next_joint(form) is denavit_hartenberg
    q, v, a = rng.normal(size=(3, robot.n))
    values = dict(zip([*form.q, *form.v, *form.a], [*q, *v, *a], strict=True))
    printed = [{k: evaluate(x, values) for k, x in each.items()} for each in newton_euler_quantities(form)]

    # frames of the bodies and of the vectors, in the world
    bodies = [body for _, body in robot.model.moving]
    links = [robot.model.frames[body.name].pose for body in bodies]
    ends = [Pose(*_split(robot.pose(q, body.name))) for body in bodies]
    origins = [end @ link.inverse() for end, link in zip(ends, links, strict=True)]
    frames = ends if denavit_hartenberg else origins
    w, w_dot, p_ddot, at = np.zeros(3), np.zeros(3), -robot.model.gravity, np.zeros(3)
    forces = []
    for k, (body, frame, own) in enumerate(zip(bodies, frames, printed, strict=True)):
        z, before, before_dot = origins[k].R @ (body.S[:3] + body.S[3:])[:, 0], w, w_dot
        turning = bool(body.S[3:].any())
        if turning:
            w, w_dot = w + z * v[k], w_dot + z * a[k] + np.cross(w, z * v[k])
        r = frame.p - at
        of, of_dot = (w, w_dot) if denavit_hartenberg else (before, before_dot)
        p_ddot = p_ddot + np.cross(of_dot, r) + np.cross(of, np.cross(of, r))
        if not turning:
            p_ddot = p_ddot + z * a[k] + 2 * np.cross(before, z * v[k])
        at = frame.p
        com = origins[k].R @ body.inertia.com + origins[k].p
        p_com = p_ddot + np.cross(w_dot, com - at) + np.cross(w, np.cross(w, com - at))
        for letter, x in ((r"\omega", w), (r"\dot\omega", w_dot), (r"\ddot p", p_ddot), (r"\ddot p_C", p_com)):
            assert relative_error(frame.R @ own[letter], x) < 1e-11, letter
        I = origins[k].R @ body.inertia.tensor_about_com @ origins[k].R.T
        forces.append((body.inertia.mass * p_com, I @ w_dot + np.cross(w, I @ w), com, z, turning))
    f, mu = np.zeros(3), np.zeros(3)
    torques = robot.inverse_dynamics(q, v, a) - robot.torque_ledger(q, v, a).rotor
    torques = torques - (robot.inverse_dynamics(q, v, 0 * a) - robot.replace(friction=0).inverse_dynamics(q, v, 0 * a))
    torques = torques - robot.torque_ledger(q, v, a).spring
    for k in reversed(range(robot.n)):
        force, moment, com, z, turning = forces[k]
        if k + 1 < robot.n:
            mu = mu + np.cross(origins[k + 1].p - origins[k].p, f)
        f, mu = f + force, mu + np.cross(com - origins[k].p, force) + moment
        assert relative_error(frames[k].R @ printed[k]["f"], f) < 1e-11
        assert relative_error(frames[k].R @ printed[k][r"\mu"], mu) < 1e-11
        assert z @ (mu if turning else f) == pytest.approx(torques[k], rel=1e-9, abs=1e-9)


def _split(X):
    return X[:3, :3], X[:3, 3]


def test_articulated_bodies_have_friction_and_springs():
    hinge = dy.load('[[link]]\ntype = "prismatic"\naxis = [1, 0, 0]\nmass = 1\nviscous = 0.3\n[[link]]\naxis = [0, 1, 0]\nmass = 2\n'
                    'com = [0, 0, -1]\nviscous = "c"\n[parameters]\nc = "symbol"\n')  # fmt: skip
    text = hinge.closed_form().derivation().markdown()
    assert "- b_i" in text
    bias = text.split(r"\hat b_1 = ")[1].split(r"\end{bmatrix}")[0]
    assert "c" in bias.replace("c_2", "").replace("bmatrix", "").replace("frac", "")


def test_rotors_on_links_are_not_called_mimic_joints():
    robot = dy.load(CART.replace("mass = 0.5", 'mass = 0.5\nrotor_inertia = 1e-4\ngear_ratio = 50\nmotor_link = "link1"'))
    text = robot.closed_form().derivation().markdown()
    assert "another (rotors mounted on links)" in text
    assert "mimic" not in text
