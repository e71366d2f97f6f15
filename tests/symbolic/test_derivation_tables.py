"""The tables at the beginning of a derivation: variables of coupled joints, Denavit–Hartenberg rows, inertia tensors."""

import pytest

import dynamis as dy
from dynamis.documents.blocks import Table

FINGER = """
[robot]
name = "finger"
[parameters]
a = "symbol"
m = "symbol"
r = "symbol"
J = "symbol"
[[{table}]]
joint = "j1"
mass = "m"
{first}
[[{table}]]
joint = "j2"
mass = "m"
{second}
"""
PLACES = {"link": ("", 'xyz = ["a", 0, 0]'), "dh": ('a = "a"', 'a = "a"')}


def tables(text):
    blocks = dy.load(text).closed_form().derivation().sections[0].blocks
    return [block for block in blocks if isinstance(block, Table)]


@pytest.mark.parametrize("table", PLACES)
@pytest.mark.parametrize(
    ("mimic", "variable"),
    [
        ("ratio = -1", "-q"),
        ("ratio = 1.2345", "1.2345 q"),
        ("ratio = 0.5, offset = 0.1", r"\tfrac{1}{2} q + 0.1"),
        ("ratio = 1", "q"),
    ],
)
def test_a_follower_has_the_variable_of_its_leader_with_ratio_and_offset(table, mimic, variable):
    first, second = PLACES[table]
    text = FINGER.format(table=table, first=first, second=f'{second}\nmimic = {{joint = "j1", {mimic}}}')
    bodies, *rest = tables(text)
    assert [row[bodies.header.index("variable")] for row in bodies.rows] == ["$q$", f"${variable}$"]
    assert [row[-1] for dh in rest for row in dh.rows] == (["$q$", f"${variable}$"] if table == "dh" else [])


def test_the_offset_of_a_row_is_added_to_the_variable():
    rows = "".join(f'[[dh]]\na = 0.3\ntheta = "{angle}"\nmass = 1\n' for angle in ("pi/2", "-pi/2", "0"))
    _, dh = tables(f'[robot]\nname = "arm"\n{rows}')
    assert [row[-1] for row in dh.rows] == [r"$q_1 + \pi/2$", r"$q_2 - \pi/2$", "$q_3$"]


def test_a_rotor_turns_with_its_joint_times_the_gear_ratio():
    second = 'xyz = ["a", 0, 0]\nrotor_inertia = "J"\ngear_ratio = "r"\nmotor_link = "link1"'
    (bodies,) = tables(FINGER.format(table="link", first="", second=second))
    assert [row[2:4] for row in bodies.rows] == [("revolute", "$q_1$"), ("revolute", "$q_2$"), ("rotor", "$r q_2$")]


@pytest.mark.parametrize("length", [0.1, 0.15, 0.2, 0.3, 0.7])
def test_inertias_about_the_centre_of_mass_have_no_rounding_residues(length):
    robot = dy.load(f"""
[robot]
name = "pendulum"
[parameters]
m = "symbol"
[[link]]
mass = "m"
com = [{length}, 0.05, 0]
inertia = {{yy = 0.01, zz = 0.01}}
""")
    inertias = robot.closed_form().derivation().sections[1].blocks[1]
    assert inertias.rows[0][3] == "$I_{yy} = 0.01$, $I_{zz} = 0.01$"
