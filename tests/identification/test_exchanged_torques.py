"""Columns in another order, of torques or of whole joints, are named with the order in which the model explains them."""

from dataclasses import replace

import pytest
from campaign_params import few_of
from spoiled_logs import ARMS, answer, simulated

ORDERS = {"cycle": [1, 2, 0], "cycle of links": [0, 2, 3, 1], "every second": [0, 3, 2, 5, 4, 1], "two pairs": [1, 0, 3, 2]}
CASES = [(name, order) for name in ARMS for order in ORDERS]


@pytest.mark.parametrize(("name", "order"), few_of(CASES, [("ur5e", "cycle"), ("ur5e", "every second")]))
def test_exchanged_torque_columns_are_named_in_their_order(name, order):
    robot, log = simulated(name, 7)
    given = [*ORDERS[order], *range(len(ORDERS[order]), robot.n)]
    grade, said, _ = answer(robot, replace(log, tau=log.tau[:, given]))
    moved = [k for k in range(robot.n) if given[k] != k]
    here, there = ([f"'tau.{robot.coordinate_names[k]}'" for k in own] for own in (moved, [given.index(k) for k in moved]))
    lists = [f"{', '.join(own[:-1])} and {own[-1]}" for own in (here, there)]
    assert grade == "refused"
    assert f"columns {lists[0]} seem to be exchanged: in the order {lists[1]}" in said


JOINT_ORDERS = {"backwards": [5, 4, 3, 2, 1, 0], "last joint first": [5, 0, 1, 2, 3, 4], "any": [4, 0, 2, 1, 5, 3]}


@pytest.mark.parametrize("order", few_of(JOINT_ORDERS, ["any"]))
def test_joints_whose_positions_and_torques_are_in_another_order_are_named_in_their_order(order):
    robot, log = simulated("ur5e", 7)
    given = JOINT_ORDERS[order]
    grade, said, _ = answer(robot, replace(log, q=log.q[:, given], tau=log.tau[:, given]))
    moved = [k for k in range(6) if given[k] != k]
    here, there = ([f"'q.{robot.coordinate_names[k]}'" for k in own] for own in (moved, [given.index(k) for k in moved]))
    lists = [f"{', '.join(own[:-1])} and {own[-1]}" for own in (here, there)]
    assert grade == "refused"
    assert f"columns {lists[0]}, and those of their torques, seem to be exchanged: in the order {lists[1]}" in said
    assert said.count("seem to be") == 1
