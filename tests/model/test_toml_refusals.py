from __future__ import annotations

import re
import textwrap
import time

import numpy as np
import pytest

import dynamis as dy

VALUES = ["true", '"x"', '""', "[]", "{}", "[1]", '["a", "b", "c"]', "[[1], 2, 3]", "[1, 2, 3, 4]", "[nan, 0, 0]", "[true, 0, 0]",
          "nan", "inf", "-inf", "1e400", "1979-05-27", "07:32:00", "{ kind = 1 }", '{ kind = ["box"] }', '{ kind = "box" }',
          '{ joint = [] }', '{ lower = "x" }', '{ lower = nan }', "{ xx = [] }", '"nan"', '"inf"', '"1,5"', '"0x10"', '"1_0"',
          '{ kind = "sphere", radius = -1 }', '[{ kind = "box", rgba = "red" }]', '[{ kind = "box", rgba = 1 }]',
          '[{ kind = "box", rgba = [1, nan, 0, 1] }]', '[{ kind = "mesh", size = ["m", 1, 1] }]', '[{ kind = [] }]', "[1, {}, []]"]  # fmt: skip
KEYS = {
    "robot": ["name", "about", "source", "gravity"],
    "parameters": ["l"],
    "base": ["name", "mass", "com", "inertia", "solid", "shapes"],
    "[link]": ["link", "parent", "xyz", "rpy", "axis", "axis2", "pitch", "tail", "mass", "com", "inertia", "solid", "shapes", "joint",
               "type", "limits", "mimic", "viscous", "coulomb", "rotor_inertia", "gear_ratio", "stiffness", "rest", "motor_link",
               "motor_axis", "actuator"],
    "[dh]": ["a", "alpha", "d", "theta", "type"],
    "[mdh]": ["a", "alpha", "d", "theta", "type"],
    "[poe]": ["xyz", "rpy", "screw", "type"],
    "[frame]": ["link", "parent", "joint", "xyz", "rpy"],
}  # fmt: skip

HANGS = 60.0  # seconds of processor time: what is meant takes far less, what is guarded against far more


@pytest.mark.parametrize(("section", "key"), [(s, k) for s, keys in KEYS.items() for k in keys])
def test_a_value_of_any_type_in_any_place_loads_or_is_refused_by_our_own_errors(save, quiet_load, section, key):
    for value in VALUES:
        path = save(f"[{section}]\n{key} = {value}\n", "robot.toml")
        report = dy.check(path)
        if report.ok:
            quiet_load(path)
        else:
            with pytest.raises(dy.ModelError):
                dy.load(path)


WRONG_TYPES = {
    "name": ('name = "two links"', "name = 5", "name"),
    "name list": ('name = "two links"', 'name = ["a"]', "name"),
    "link name": ('link = "upper"', "link = 5", "link"),
    "link table": ('link = "upper"', "link = { a = 1 }", "link"),
    "joint name": ('joint = "shoulder"', "joint = true", "joint"),
    "shapes": ("viscous = 0.1", 'shapes = "box"', "shapes"),
    "mass bool": ('mass = "m"', "mass = true", "mass"),
    "mass list": ('mass = "m"', "mass = [2]", "mass"),
    "mass of thousands": ('mass = "m"', "mass = [" + "1, " * 3000 + "]", "mass"),
    "com number": ('com = ["l/2", 0, 0]', "com = 1", "com"),
    "com two": ('com = ["l/2", 0, 0]', "com = [1, 2]", "com"),
    "com string": ('com = ["l/2", 0, 0]', 'com = "1 2 3"', "com"),
    "gravity": ("gravity = [0, -9.81, 0]", "gravity = -9.81", "gravity"),
    "inertia": ('solid = { kind = "box", x = 0.5, y = 0.1, z = 0.1 }', "inertia = [1, 1, 1]", "inertia"),
    "limits": ("limits = { lower = -2, upper = 2 }", "limits = [-2, 2]", "limits"),
    "limit nan": ("lower = -2", "lower = nan", "lower"),
    "viscous": ("viscous = 0.1", "viscous = [0.1, 0.2]", "viscous"),
    "coulomb three": ("viscous = 0.1", "coulomb = [0.1, 0.2, 0.3]", "coulomb"),
    "parameter": ("l = 0.5", "l = [1]", "'l'"),
    "mimic": ("viscous = 0.1", 'mimic = "shoulder"', "mimic"),
    "solid kind": ('kind = "box"', 'kind = "bax"', "bax"),
    "solid key": ('kind = "box", x', 'kind = "box", X', "solid"),
    "solid negative": ("x = 0.5", "x = -0.5", "negative"),
    "zero axis": ("viscous = 0.1", "axis = [0, 0, 0]", "axis"),
    "type": ("viscous = 0.1", 'type = "revolut"', "revolute"),
    "negative mass": ('mass = "m"\ncom = ["l/2", 0, 0]\ninertia', "mass = -1\ninertia", "-1 kg"),
    "huge integer": ('mass = "m"', f"mass = 1{'0' * 400}", "mass"),
    "solid and inertia": (
        "x = 0.5, y = 0.1, z = 0.1 }",
        "x = 0.5, y = 0.1, z = 0.1 }\ninertia = { zz = 1 }",
        "remove inertia, which the solid has",
    ),
    "no pitch": ("viscous = 0.1", 'type = "helical"', "add pitch = "),
    "role": ("viscous = 0.1", 'shapes = [{ kind = "box", role = "x><y" }]', "role"),
}


@pytest.mark.parametrize("case", WRONG_TYPES)
def test_a_wrong_type_is_refused_with_the_line_of_its_table_and_the_key(two_links, refused, case):
    old, new, word = WRONG_TYPES[case]
    message = str(refused(two_links(old, new), "robot.toml"))
    assert "robot.toml:" in message
    assert word in message
    assert len(message) < 2000


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ('mass = "m"', 'mas = "m"', "'mass'"),
        ("[robot]", "[robto]", "'robot'"),
        ("[parameters]", "[parameter]", "'parameters'"),
        ("[[frame]]", "[[frames]]", "'frame'"),
        ("lower = -2", "low = -2", "'lower'"),
        ('kind = "box", x = 0.5, y = 0.1, z = 0.1', 'kind = "cylinder", r = 0.1, length = 1', "did you mean 'radius'?"),
        ("viscous = 0.1", "viscos = 0.1", "'viscous'"),
        ("viscous = 0.1", 'mimic = { join = "shoulder" }', "'joint'"),
        ("viscous = 0.1", "tail = { xzy = [0, 0, 0] }", "'xyz'"),
        ("zz =", "zx =", "'xz'"),
        ('mass = "m"', 'mass = "mm"', "'m'"),
        ('com = ["l/2"', 'com = ["sqr(l)"', "'sqrt'"),
        ("gravity = [0, -9.81, 0]", "gravty = [0, -9.81, 0]", "'gravity'"),
    ],
)
def test_an_unknown_key_is_refused_with_the_near_names(two_links, refused, old, new, hint):
    message = str(refused(two_links(old, new), "robot.toml"))
    assert "did you mean" in message
    assert hint in message


@pytest.mark.parametrize(
    ("old", "new", "cure"),
    [
        ('mass = "m"\ncom', 'mass = "k"\ncom', 'declare k under [parameters], as a number or "symbol"'),
        ("viscous = 0.1", 'type = "revolut"', 'write type = "revolute"'),
        ("x = 0.5", 'x = "500 mm"', "write 0.5 instead of 500 mm"),
        ("x = 0.5", 'x = "90deg"', "give the length in m"),
        ('mass = "m"\ncom', 'mass = "2deg"\ncom', "give the value in SI units"),
    ],
)
def test_the_cure_is_the_corrected_text(two_links, refused, old, new, cure):
    assert cure in str(refused(two_links(old, new), "robot.toml"))


def test_degrees_are_a_unit_of_angles_only(save, refused):
    def text(entry, joint="j"):
        return f'[[link]]\njoint = "{joint}"\nsolid = {{ kind = "sphere", radius = 0.1, density = 1e3 }}\n{entry}\n[appearance]\npose = {{ {joint} = "30deg" }}\n'

    assert "xyz" in str(refused(text('xyz = ["90deg", 0, 0]'), "robot.toml"))
    turned = dy.load(save(text('xyz = ["cos(60deg)", 0, 0]'), "robot.toml"))
    assert turned.description.joints[0].origin.p[0] == pytest.approx(0.5)
    assert dy.load(save(text("", "x"), "robot.toml")).description.appearance.pose["x"] == pytest.approx(np.pi / 6)


DEGREES = {
    "alpha": ('[[dh]]\nsolid = { kind = "sphere", radius = 1, density = 1 }\nalpha = 90\n', "alpha is 90", 'write "90deg"'),
    "theta": ('[[mdh]]\nsolid = { kind = "sphere", radius = 1, density = 1 }\ntheta = 45\n', "theta is 45", 'write "45deg"'),
    "rpy": (
        '[[link]]\nsolid = { kind = "sphere", radius = 1, density = 1 }\nrpy = [0, -90, 0]\n',
        "rpy is (0, -90, 0)",
        'write "-90deg"',
    ),
    "home": (
        '[[poe]]\nsolid = { kind = "sphere", radius = 1, density = 1 }\nrpy = [0, 90, 0]\n',
        "rpy is (0, 90, 0)",
        'write "90deg"',
    ),
    "solid": (
        '[[link]]\nmass = 1\nsolid = { kind = "rod", length = 1, rpy = [0, 90, 0] }\n',
        "rpy is (0, 90, 0)",
        'write "90deg"',
    ),
}


@pytest.mark.parametrize("case", DEGREES)
def test_an_angle_of_more_than_a_turn_is_reported_and_the_cure_removes_the_warning(save, case):
    text, found, cure = DEGREES[case]
    (problem,) = dy.check(save(text, "robot.toml"))
    assert problem.code == "angle-unit"
    assert problem.line == 3
    assert found in problem.found
    assert cure in problem.repair
    written = cure.removeprefix("write ")
    assert not list(dy.check(save(text.replace(written.strip('"').removesuffix("deg"), written), "cured.toml")))


def test_a_solid_in_millimetres_is_reported_as_lengths(save):
    (problem,) = dy.check(
        save('[[link]]\nsolid = { kind = "cylinder", density = 2700, radius = 100, length = 1000 }\n', "robot.toml")
    )
    assert "divide the lengths of the solid by 1000" in problem.repair


@pytest.mark.parametrize("solid", ['kind = "sphere"', 'kind = "sphere", radius = 1, colour = 2', 'kind = "point", density = 3'])
def test_a_wrong_solid_is_refused_in_words_of_the_file_not_of_python(refused, solid):
    message = str(refused(f"[[link]]\nmass = 1\nsolid = {{ {solid} }}\n", "robot.toml"))
    assert "argument" not in message
    assert "()" not in message


@pytest.mark.parametrize("name", ["θ", "a b", "1a", "a-b", "", "a.b", "l\\u0000", "import os;"])
def test_a_parameter_whose_name_is_no_identifier_is_refused(two_links, refused, name):
    message = str(refused(two_links("l = 0.5", f'l = 0.5\n"{name}" = 1'), "robot.toml"))
    assert "letters, digits and _" in message
    assert ("robot.toml:5" if "\\" in name else "robot.toml:7") in message  # an escaped name is found with its table only


@pytest.mark.parametrize(
    "text",
    ["[robot\nname = 1", "x = ", "= 1", "[robot]\n[robot]", "a = 1\na = 2", "[[link]]\nx = 1\n[link]", "name = 'a\nb'", "\x00"],
)
def test_broken_toml_is_refused_with_its_line(refused, text):
    error = refused(text, "robot.toml")
    assert isinstance(error, dy.FormatError)
    assert "not TOML" in str(error)
    assert "at line" in str(error) or "at end of document" in str(error)


def test_an_integer_of_too_many_digits_is_refused(refused):
    assert isinstance(refused(f"[robot]\ngravity = [0, 0, {'9' * 5000}]", "robot.toml"), dy.ModelError)


@pytest.mark.parametrize("text", ["", "\n \n", "# nothing\n"])
def test_an_empty_toml_file_is_refused(refused, text):
    assert "empty" in str(refused(text, "robot.toml"))


def test_toml_cut_off_anywhere_loads_or_is_refused_by_our_own_errors(two_links, save, quiet_load):
    data = two_links().encode()
    for end in range(0, len(data), 5):
        path = save(data[:end], "robot.toml")
        if dy.check(path).ok:
            quiet_load(path)
        else:
            with pytest.raises(dy.ModelError):
                dy.load(path)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"L": 1.0}, dy.NameLookupError),
        ({1: 1.0}, dy.DynamisError),
        ({"l": float("nan")}, dy.DynamisError),
        ({"l": float("inf")}, dy.DynamisError),
        ({"l": None}, dy.DynamisError),
        ({"l": [1.0]}, dy.DynamisError),
        ({"l": "open('x')"}, dy.DynamisError),
        (["l"], dy.InputError),
        (5, dy.InputError),
        ("l", dy.InputError),
    ],
)
def test_wrong_parameters_are_refused(two_links, save, parameters, error):
    with pytest.raises(error):
        dy.load(save(two_links(), "robot.toml"), parameters=parameters)


def test_parameters_may_be_numpy_numbers(two_links, save, same_dynamics):
    path = save(two_links(), "robot.toml")
    expected = dy.load(path, parameters={"l": 2.0, "m": 3.0})
    same_dynamics(expected, dy.load(path, parameters={"l": np.int64(2), "m": np.float32(3)}))


def test_a_parameter_may_be_given_as_equations_print_it(save):
    text = """
        [parameters]
        m1 = "symbol"
        lc1 = 0.2
        [[link]]
        mass = "m1"
        com = ["lc1", 0, 0]
        [[link]]
        mass = 1.7
        com = [0.1, 0, 0]
        xyz = [1, 0, 0]
        """
    path = save(textwrap.dedent(text), "robot.toml")
    symbolic = dy.load(path)
    assert "1.7 + m_1 kg" in symbolic._repr_html_()
    assert dy.load(path, parameters={"m_1": 2.0, "l_c1": 0.4}).mass == 3.7
    with pytest.raises(dy.InputError, match="twice, under two spellings: m_1, m1"):
        dy.load(path, parameters={"m_1": 2.0, "m1": 2.0})


def test_parameters_for_a_urdf_are_refused(arm, save):
    with pytest.raises(dy.InputError, match="toml"):
        dy.load(save(arm()), parameters={"l": 1.0})


@pytest.mark.parametrize("kind", ["prismatic", "spherical", "universal"])
def test_a_type_that_contradicts_its_screw_is_refused(refused, kind):
    message = str(refused(f'[[poe]]\ntype = "{kind}"\nscrew = [0, 0, 0, 0, 0, 1]\nmass = 1\n', "robot.toml"))
    assert kind in message
    assert "screw" in message


def test_thousands_of_rows_are_read_in_time(save):
    path = save("[[dh]]\n" * 8000, "robot.toml")
    start = time.process_time()
    dy.check(path)
    assert time.process_time() - start < HANGS


def test_thousands_of_unknown_names_are_reported_in_time(save):
    names = "".join(f"parameter_{k} = {k}\n" for k in range(1000))
    rows = "".join(f'[[dh]]\na = "parametre_{k}x"\n' for k in range(200))
    start = time.process_time()
    assert not dy.check(save(f"[parameters]\n{names}{rows}", "robot.toml")).ok
    assert time.process_time() - start < HANGS


def test_an_integer_of_thousands_of_digits_is_refused(two_links, refused):
    for number in ("9" * 5000, "0x" + "f" * 5000):
        for key in ("viscous = 0.1", 'xyz = ["l", 0, 0]'):
            new = f"viscous = {number}" if key.startswith("v") else f"xyz = [{number}]"
            assert len(str(refused(two_links(key, new), "robot.toml"))) < 1000


def test_a_chain_of_followers_whose_ratios_vanish_is_refused(refused):
    rows = ['[[link]]\njoint = "j1"\nmass = 1\nlimits = { lower = -1, upper = 1 }\n']
    rows += [
        f'[[link]]\njoint = "j{k}"\nmass = 1\nlimits = {{ lower = -1, upper = 1 }}\nmimic = {{ joint = "j{k - 1}", ratio = 1e-300 }}\n'
        for k in (2, 3)
    ]
    message = str(refused("".join(rows), "robot.toml"))
    assert "ratio becomes" in message


@pytest.mark.parametrize("value", ["1e200", "1e51"])
def test_a_number_no_robot_has_is_refused_without_another_complaint(two_links, refused, value):
    for old, new in (
        ("x = 0.5, y", f"x = {value}, y"),
        ("viscous = 0.1", f"viscous = {value}"),
        ('com = ["l/2", 0, 0]', f"com = [{value}, 0, 0]"),
    ):
        assert "up to 1e+50" in str(refused(two_links(old, new), "robot.toml"))


def test_a_file_with_more_links_than_any_robot_has_is_refused(two_links, save, refused, monkeypatch):
    monkeypatch.setattr("dynamis.model.readers.toml.MAX_ROWS", 3)
    assert dy.load(save(two_links(), "robot.toml")).n == 2
    monkeypatch.setattr("dynamis.model.readers.toml.MAX_ROWS", 2)
    assert "3 links" in str(refused(two_links(), "robot.toml"))


@pytest.mark.parametrize(
    ("row", "words"),
    [('type = "revolute"\nscrew = [0, 0, 1, 0, 0, 0]', "prismatic joint's, but the type says revolute"),
     ('type = "prismatic"\nscrew = [0, 0, 0, 0, 0, 1]', "but the type says prismatic"),
     ("screw = [0, 0, 1.00001, 0, 0, 0]", "it must be 1"), ("screw = [0, 0, 0, 0, 0, 0.99999]", "it must be 1"),
     ('screw = ["-l", 0, 0, 0, 0.5, 0]', "has length 0.5, it must be 1"),
     ('screw = ["-l", 0, 0, 0, "l", 0]', "has a length that depends on l, it must be 1"),
     ("screw = [0, 0, 0, 0, 0, 0]", "the screw is zero")],
)  # fmt: skip
def test_a_screw_that_is_not_of_unit_length_or_of_another_type_is_refused(refused, row, words):
    assert words in str(refused(f'[parameters]\nl = "symbol"\n[[poe]]\n{row}\nmass = 1\n', "robot.toml"))


@pytest.mark.parametrize(
    ("entry", "found", "allowed"),
    [
        ('shapes = "box"', "shapes = 'box'", "shapes = [{ … }, …]"),
        ("inertia = 5", "inertia = 5", "inertia = { xx, xy, xz, yy, yz, zz }"),
    ],
)
def test_a_value_in_the_place_of_a_table_is_reported_with_a_code_for_scripts(two_links, save, entry, found, allowed):
    old = "viscous = 0.1" if entry.startswith("shapes") else 'inertia = { zz = "m*l^2/12", yy = "m*l^2/12" }'
    report = dy.check(save(two_links(old, entry), "robot.toml"))
    assert [(e.code, e.found, e.allowed) for e in report.errors] == [("table", found, allowed)]


def test_a_syntax_error_is_given_whole(save):
    (found,) = dy.check(save('[robot]\nname = "arm"\n[base\n', "broken.toml"))
    assert "Expected ']' at the end of a table declaration (at line 3, column 6)" in found.found


def test_findings_about_mass_and_limits_name_the_line_of_their_key(save):
    text = '[robot]\nname = "arm"\n[base]\n[[link]]\nlink = "arm"\nmass = -1\nlimits = { lower = 2, upper = 1 }\nviscous = -1\n'
    lines = {p.code: p.line for p in dy.check(save(text, "arm.toml"))}
    assert (lines["negative-mass"], lines["limits-swapped"], lines["negative-drive"]) == (6, 7, 8)


@pytest.mark.parametrize(("written", "meant"), [
    (".1", "0.1"), ("-.5e3", "-0.5e3"), ("1.", "1.0"), ("{ xx = .1 }", "0.1"), ("[1., 2]", "1.0"),
    ("[1.5, .25]", "0.25"), ("2.e3", "2.0e3"),
])  # fmt: skip
def test_a_number_without_a_digit_beside_its_point_has_its_cure(written, meant):
    with pytest.raises(dy.FormatError, match=re.escape(f"To repair: write {meant} instead of ")):
        dy.load(f"[[link]]\nmass = {written}\n")


def test_other_faults_of_the_syntax_are_not_mistaken_for_numbers():
    with pytest.raises(dy.FormatError, match="To repair: correct the syntax there"):
        dy.load("[[link]]\nmass = = 1 # .1\n")
