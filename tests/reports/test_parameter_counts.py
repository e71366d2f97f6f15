"""What a report says of the number of parameters."""

import dynamis as dy

CART = """
[[link]]
type = "prismatic"
axis = [1, 0, 0]
mass = 2
viscous = 0.3
stiffness = 5
[[link]]
axis = [0, 1, 0]
mass = 1
com = [0, 0, -0.4]
"""


def test_springs_are_no_inertial_parameters_of_links(tmp_path):
    dy.report(dy.load(CART), tmp_path / "cart.html", sections=["parameters"])
    page = (tmp_path / "cart.html").read_text(encoding="utf-8")
    expected = "of the 20 inertial parameters of the links and the 1 parameter of springs"
    assert f"Without friction, the joint torques depend on 5 linear combinations {expected}" in page
