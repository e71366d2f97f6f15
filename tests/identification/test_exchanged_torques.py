"""Torque columns in another order, of any joints, are named with the order in which the model explains them."""

from dataclasses import replace

import pytest
from campaign_params import few_of
from spoiled_logs import ARMS, answer, simulated

ORDERS = {"cycle": [1, 2, 0], "cycle of links": [0, 2, 3, 1], "every second": [0, 3, 2, 5, 4, 1], "two pairs": [1, 0, 3, 2]}
CASES = [(name, order) for name in ARMS for order in ORDERS]


@pytest.mark.parametrize(
    ("name", "order"), few_of(CASES, [("ur5e", "cycle"), ("panda", "cycle of links"), ("ur5e", "every second")])
)
def test_exchanged_torque_columns_are_named_in_their_order(name, order):
    robot, log = simulated(name, 7)
    given = [*ORDERS[order], *range(len(ORDERS[order]), robot.n)]
    grade, said, _ = answer(robot, replace(log, tau=log.tau[:, given]))
    moved = [k for k in range(robot.n) if given[k] != k]
    here, there = ([f"'tau.{robot.coordinate_names[k]}'" for k in own] for own in (moved, [given.index(k) for k in moved]))
    lists = [f"{', '.join(own[:-1])} and {own[-1]}" for own in (here, there)]
    assert grade == "refused"
    assert f"columns {lists[0]} seem to be exchanged: in the order {lists[1]}" in said
