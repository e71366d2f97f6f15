"""Mass within the shapes of the links: boxes, the constraint of the estimator, and its options."""

import numpy as np
import pytest

import dynamis as dy
from dynamis import identification as ident
from dynamis.identification.link_boxes import MARGIN, link_boxes

INERTIAL = '<inertial><origin xyz="{}"/><mass value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>'
BAR = '<visual><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.1 0.06"/></geometry></visual>'
BALL = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'


def _arm(com="0.2 0 0", bar=BAR, ball=BALL):
    """Two bars, the second with a ball at its end; the origin of the file's centres of mass is given."""
    return dy.load(f"""<robot name="bars"><link name="base"/>
<link name="upper">{INERTIAL.format(com)}{bar}</link><link name="lower">{INERTIAL.format("0.2 0 0")}{bar}</link><link name="ball">{ball}</link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="end" type="fixed"><parent link="lower"/><child link="ball"/><origin xyz="0.5 0 0"/></joint></robot>""")


def _log(robot):
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 400, 2))
    return ident.Samples.of(q, v, a, robot.inverse_dynamics(q, v, a) + 0.01 * rng.normal(size=(400, 2)), period=0.01)


def _second_moments(found, link):
    """∫ (x − lower) (upper − x) dm along the axes of a link."""
    place = next(body.place for body in found.base.model.bodies if body.name == link)
    m, h, (Ixx, _, Iyy, _, _, Izz) = found.full[place][0], found.full[place][1:4], found.full[place][4:]
    low, high = link_boxes(found.base.model.robot)[link]
    squares = 0.5 * (Ixx + Iyy + Izz) - np.array([Ixx, Iyy, Izz])
    return (low + high) * h - low * high * m - squares


def test_the_box_encloses_visual_and_collision_shapes_of_links_that_are_fixed_together():
    boxes = link_boxes(_arm())
    room = 0.4 * MARGIN
    np.testing.assert_allclose(boxes["upper"], [[-room, -0.05 - room, -0.03 - room], [0.4 + room, 0.05 + room, 0.03 + room]])
    room = 0.55 * MARGIN
    np.testing.assert_allclose(boxes["lower"], [[-room, -0.05 - room, -0.05 - room], [0.55 + room, 0.05 + room, 0.05 + room]])


def test_the_mass_of_a_link_lies_within_its_shapes():
    log, file = _log(_arm()), _arm(com="0.2 0.3 0")  # torques about the first joint do not show the offset along its axis
    model = ident.LinearModel(file, friction=(), rotor=False)
    free = dy.identify(model, log, compare=())
    held = dy.identify(model, log, compare=(), constraints={"shapes": True})
    assert _second_moments(free, "upper").min() < -0.01
    assert min(_second_moments(held, link).min() for link in ("upper", "lower")) > -1e-9
    assert held.validation.held_out == pytest.approx(free.validation.held_out, rel=0.05)


def test_total_mass_and_masses_of_links_are_those_of_the_data_sheet():
    model = ident.LinearModel(_arm(com="0.3 0 0"), friction=(), rotor=False)
    found = dy.identify(model, _log(_arm()), compare=(), constraints={"total_mass": 4.5, "masses": {"lower": (1.0, 1.9)}})
    masses = [found.full[body.place][0] for body in model.bodies]
    assert sum(masses) == pytest.approx(4.5)
    assert masses[1] <= 1.9 + 1e-9


def test_what_cannot_be_satisfied_is_refused():
    model = ident.LinearModel(_arm(), friction=(), rotor=False)
    log = _log(_arm())
    with pytest.raises(dy.InputError, match="relax masses=, com=, total_mass=, shapes= or bounds="):
        dy.identify(model, log, constraints={"total_mass": 1.0, "masses": {"lower": (1.5, 1.9)}})
    with pytest.raises(dy.InputError, match="no moving link of 'bars' has one"):
        dy.identify(ident.LinearModel(_arm(bar="", ball="")), log, constraints={"shapes": True})
    with pytest.raises(dy.NameLookupError, match="'mass'"):
        dy.identify(model, log, constraints={"mass": 1.0})
    with pytest.raises(dy.InputError, match="not of 'weighted'"):
        dy.identify(model, log, estimator="weighted", constraints={"shapes": True})


def test_a_mesh_that_is_missing_is_named():
    mesh = '<visual><geometry><mesh filename="missing.stl"/></geometry></visual>'
    with pytest.raises(dy.InputError, match=r"missing\.stl"):
        link_boxes(_arm(bar=mesh, ball=""))
