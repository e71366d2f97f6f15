"""Small robots as TOML files, with symbols for parameters."""

CART_POLE = """
[robot]
gravity = [0, 0, "-g"]
[parameters]
M = "symbol"
m = "symbol"
l = "symbol"
g = "symbol"
[[link]]
joint = "x"
type = "prismatic"
axis = [1, 0, 0]
mass = "M"
[[link]]
joint = "theta"
type = "revolute"
axis = [0, 1, 0]
mass = "m"
com = [0, 0, "l"]
"""
RP_ARM = """
[robot]
gravity = [0, "-g", 0]
[parameters]
m_1 = "symbol"
m_2 = "symbol"
l_1 = "symbol"
g = "symbol"
[[link]]
type = "revolute"
axis = [0, 0, 1]
mass = "m_1"
com = ["l_1", 0, 0]
[[link]]
type = "prismatic"
axis = [1, 0, 0]
mass = "m_2"
"""
GEARED_PENDULUM = """
[robot]
gravity = [0, 0, "-g"]
[parameters]
g = "symbol"
I = "symbol"
m = "symbol"
l = "symbol"
J = "symbol"
n = "symbol"
[[link]]
type = "revolute"
axis = [0, 1, 0]
mass = "m"
com = [0, 0, "-l"]
inertia = { yy = "I" }
rotor_inertia = "J"
gear_ratio = "n"
"""
