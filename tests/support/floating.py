"""Library robots on a floating base, without the warning that their massless root link makes the mass matrix singular."""

from __future__ import annotations

import warnings

import dynamis as dy
from dynamis.model.build import with_floating_base


def floating(name):
    description = with_floating_base(dy.load(name).description)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)  # of planar arms with a massless base
        return dy.Robot(description)
