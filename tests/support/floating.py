"""Library robots on a floating base, without the warning that their massless root link makes the mass matrix singular."""

from __future__ import annotations

import dynamis as dy
from dynamis.model.build import with_floating_base


def floating(name):
    return dy.Robot(with_floating_base(dy.load(name).description))
