"""Rotations, poses, twists, wrenches and inertias."""

from dynamis.spatial import solids
from dynamis.spatial.inertia import PARAMETER_NAMES, Inertia, steiner
from dynamis.spatial.pose import Pose, ad, force_cross, motion_cross
from dynamis.spatial.rotation import about_axis, cross, from_quaternion, from_rpy, skew, to_quaternion, to_rpy

__all__ = [
    "PARAMETER_NAMES",
    "Inertia",
    "Pose",
    "about_axis",
    "ad",
    "cross",
    "force_cross",
    "from_quaternion",
    "from_rpy",
    "motion_cross",
    "skew",
    "solids",
    "steiner",
    "to_quaternion",
    "to_rpy",
]
