"""Closed forms that several files check answers against."""

import pytest
from textbook_robots import CART_POLE

import dynamis as dy


@pytest.fixture(scope="module")
def arm():
    return dy.load("planar_2r").closed_form()


@pytest.fixture(scope="module")
def cart_pole():
    return dy.load(CART_POLE).closed_form()
