"""Parameters of tests of which a few run every time and all in a campaign."""

from __future__ import annotations

import pytest


def seeds(usual, campaign):
    """0, 1, …, of which the first ``usual`` run every time."""
    return few_of(range(campaign), range(usual))


def few_of(every, usual):
    """Parameters, of which those in ``usual`` run every time."""
    usual = list(usual)
    return [
        x if x in usual else pytest.param(*(x if isinstance(x, tuple) else (x,)), marks=pytest.mark.campaign) for x in every
    ]
