"""Distances and collisions of real robots against Pinocchio's geometry models, pair by pair."""

import warnings

import numpy as np
import pytest

import dynamis as dy

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'dynamis[oracles]'")
pytestmark = pytest.mark.usefixtures("without_compilation")


def theirs(path, folder):
    model = pin.buildModelFromUrdf(str(path))
    geometry = pin.buildGeomFromUrdf(model, str(path), pin.COLLISION, package_dirs=[str(folder.parents[1])])
    for thing in geometry.geometryObjects:
        if isinstance(thing.geometry, pin.coal.BVHModelBase):
            thing.geometry.buildConvexHull(True, "Qt")
            thing.geometry = thing.geometry.convex
    geometry.addAllCollisionPairs()
    return model, geometry


def link_of(thing):
    return thing.name.rpartition("_")[0]


@pytest.mark.parametrize(
    ("path", "agree"),
    [
        ("a1_description/urdf/a1.urdf", 1e-9),
        ("anymal_b_simple_description/robots/anymal.urdf", 1e-9),
        ("ur_description/urdf/ur5_robot.urdf", 1e-6),  # meshes: vertices are single precision there
    ],
)
def test_distances_and_collisions_are_those_of_pinocchio(path, agree, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        robot = dy.load(folder / path)
    scene = dy.collision.Scene(robot)
    model, geometry = theirs(folder / path, folder)
    collision = {link_of(thing) for thing in geometry.geometryObjects}
    assert collision <= set(scene.links)  # which has those with visual shapes only, too
    place = [model.joints[model.getJointId(name)].idx_q for name in robot.joint_names]
    names = [{link_of(geometry.geometryObjects[i]) for i in (pair.first, pair.second)} for pair in geometry.collisionPairs]
    data, places = model.createData(), pin.GeometryData(geometry)
    ours = scene._part_pairs.query.request
    for request in places.distanceRequests:
        for key in ("gjk_tolerance", "gjk_max_iterations", "epa_tolerance", "epa_max_iterations"):
            setattr(request, key, getattr(ours, key))
    for q in robot.random(0, 4):
        there = np.empty(model.nq)
        there[place] = q
        pin.computeDistances(model, data, geometry, places, there)
        pin.computeCollisions(model, data, geometry, places, there, False)
        for pair, distance in zip(scene.pairs, scene.distances(q), strict=True):
            if not set(pair) <= collision:
                continue
            rows = [k for k, name in enumerate(names) if name == set(pair)]
            assert rows, pair
            accuracy = agree if distance > 0.0 else 2e-6  # of the depth of penetration
            assert distance == pytest.approx(min(places.distanceResults[k].min_distance for k in rows), abs=accuracy)
            assert (distance <= 0.0) == any(places.collisionResults[k].isCollision() for k in rows)


def test_an_srdf_leaves_the_pairs_that_it_leaves_in_pinocchio(folder):
    path, srdf = folder / "ur_description/urdf/ur5_robot.urdf", folder / "ur_description/srdf/ur5.srdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        robot = dy.load(path)
        scene = dy.collision.Scene(robot, srdf=srdf)
    model, geometry = theirs(path, folder)
    pin.removeCollisionPairs(model, geometry, str(srdf), False)
    left = {frozenset(link_of(geometry.geometryObjects[i]) for i in (p.first, p.second)) for p in geometry.collisionPairs}
    adjacent = {frozenset(pair) for pair, why in scene.excluded.items() if why == "adjacent"}
    assert {frozenset(pair) for pair in scene.pairs} == left - adjacent
