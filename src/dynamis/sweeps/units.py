"""SI units of the columns of a sweep."""

from __future__ import annotations

from dynamis.robot import Robot

# of each kind of column: for a revolute coordinate and for a prismatic one
OF_JOINTS = {
    "q": ("rad", "m"), "v": ("rad/s", "m/s"), "peak_velocity": ("rad/s", "m/s"), "peak_torque": ("N m", "N"),
    "q0": ("rad", "m"), "v0": ("rad/s", "m/s"), "torque": ("N m", "N"),
    "viscous": ("N m s/rad", "N s/m"), "coulomb": ("N m", "N"), "coulomb_bias": ("N m", "N"),
    # of a prismatic joint the unit depends on that of the gear ratio
    "rotor_inertia": ("kg m²", ""), "stiffness": ("N m/rad", "N/m"), "rest": ("rad", "m"),
}  # fmt: skip
OF_OTHERS = {"t": "s", "energy": "J", "energy_error": "J", "mass": "kg", "payload": "m", "gravity": "m/s²"}


def unit_of(column: str, robot: Robot) -> str:
    """The unit of a column such as ``q0.joint1`` or ``payload.mass``; empty if it has none or it is not known.

    >>> import dynamis as dy
    >>> unit_of("q0.joint1", dy.load("planar_2r_melchiorri")), unit_of("payload.mass", dy.load("planar_2r_melchiorri"))
    ('rad', 'kg')
    """
    kind, _, target = column.partition(".")
    if column == "payload.mass":
        return "kg"
    if kind not in OF_JOINTS:
        return OF_OTHERS.get(kind, "")
    coordinates = robot.model.coordinates
    if target == "*":
        mine = list(coordinates)
    elif kind == "q" and robot.nq != robot.n:
        mine = [c for c in coordinates if c.q_index is not None and f"q[{c.q_index}]" == target]
    else:
        mine = [c for c in coordinates if c.name == target]
    units = dict.fromkeys(OF_JOINTS[kind][0 if c.revolute else 1] for c in mine)
    return " or ".join(units) if all(units) else ""
