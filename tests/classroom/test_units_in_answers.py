r"""Units behind a formula are no part of it, in all usual spellings; the names of the robot take precedence."""

import pytest

import dynamis as dy

MARKED = (
    r"\text{ Nm}", r"\,\mathrm{N\,m}", r"\mathrm{Nm}", r"\mathrm{N m}", r"\ \mathrm{N \cdot m}", r"\mathrm{N}\,\mathrm{m}",
    r"\cdot \mathrm{Nm}", r"{\rm Nm}", "[N m]", "[Nm]", r"\; [\mathrm{N\,m}]", r"\left[\mathrm{Nm}\right]", r"\unit{\newton\meter}",
    r"\si{\newton\metre}", r"\,\mathrm{kg\,m^2/s^2}", r"\mathrm{kg \cdot m^{2} \cdot s^{-2}}",
)  # fmt: skip
BARE = ("Nm", "N m", "N·m", "N*m", r"\, N \cdot m", "kg m^2/s^2", "kg·m²·s^{-2}")


@pytest.fixture(scope="module")
def in_numbers():
    return dy.load("planar_2r_melchiorri").closed_form()


@pytest.mark.parametrize("unit", [*MARKED, *BARE])
def test_units_are_ignored(arm, cart_pole, unit):
    for form, text in ((arm, r"g_2 = m_2 g l_2 c_{12}"), (cart_pole, r"g_2 = -m g l \sin\theta")):
        verdict = dy.check_answer(form, "gravity", f"{text} {unit}")
        assert verdict.correct, verdict.report()
        assert bool(verdict.notes) == (unit in BARE)  # a unit without any mark is quoted
    assert not dy.check_answer(arm, "gravity", rf"g_2 = 2 m_2 g l_2 c_{{12}} {unit}").correct


@pytest.mark.parametrize(
    "value",
    ["22.5 kg m^2", r"22.5\,\mathrm{kg\,m^2}", "22.5 kg·m²", "22.5 kgm^2", r"\SI{22.5}{kg.m^2}",
     r"\qty{22.5}{\kilo\gram\metre\squared}", r"\num{22.5}", "22.5 kg m^2 + 0 kg m^2", r"22.5 [kg m^2]"],
)  # fmt: skip
def test_units_of_numbers_are_ignored(in_numbers, value):
    assert dy.check_answer(in_numbers, "mass-matrix", f"M_{{22}} = {value}").correct
    assert not dy.check_answer(in_numbers, "mass-matrix", f"M_{{22}} = {value.replace('22.5', '23.5')}").correct


@pytest.mark.parametrize(
    "text",
    [r"g_1 = 735.75 \cos(q_1) N m + 245.25 cos(q_1+q_2) N m", "g = [735.75 c_1 + 245.25 c_12, 245.25 c_12] Nm",
     "g = [735.75 c_1 + 245.25 c_12 Nm, 245.25 c_12 Nm]", r"g_2 = 25 c_12 \cdot 9.81\,\mathrm{m/s^2}", "g_2 [Nm] = 245.25 c_12"],
)  # fmt: skip
def test_units_of_terms_entries_factors_and_names_are_ignored(in_numbers, text):
    assert dy.check_answer(in_numbers, "gravity", text).correct


@pytest.mark.parametrize("symbol", ["m", "g", "[m]", r"\mathrm{m}", r"\cdot g"])
def test_symbols_of_the_robot_are_no_units(cart_pole, symbol):
    (finding,) = dy.check_answer(cart_pole, "gravity", rf"g_2 = -m g l \sin\theta {symbol}").wrong
    assert finding.cause.startswith("a power: ")
    assert dy.check_answer(cart_pole, "gravity", rf"g_2 = -g l \sin\theta {symbol.replace('g', 'm')}").correct


def test_factors_before_a_unit_stay(cart_pole):
    assert dy.check_answer(cart_pole, "gravity", r"g_2 = -l \sin\theta m g N m").correct
    assert dy.check_answer(cart_pole, "gravity", r"g_2 = -l \sin\theta m g \mathrm{N\,m}").correct


def test_names_that_the_answer_defines_are_no_units(arm):
    assert dy.check_answer(arm, "gravity", r"N = m_2 g \\ g_2 = l_2 c_{12} N").correct
    assert dy.check_answer(arm, "gravity", r"Nm = m_2 g \\ g_2 = l_2 c_{12} Nm").correct
    assert not dy.check_answer(arm, "gravity", r"Nm = 2 m_2 g \\ g_2 = l_2 c_{12} Nm").correct


@pytest.mark.parametrize("name", ["m", r"\mathrm{m}", "N", "s", "V"])
def test_a_letter_without_number_before_it_is_an_unknown_name(arm, name):
    with pytest.raises(dy.FormatError, match="no quantity named"):
        dy.check_answer(
            arm, "gravity", f"g_2 = m_2 g l_2 c_{{12}} {name}" if "math" in name else f"g_2 = g l_2 c_{{12}} {name}"
        )


@pytest.mark.parametrize("value", ["22.5 g", "22.5 m", r"22.5\,\mathrm{g}"])
def test_a_parameter_that_the_robot_has_as_a_number_is_no_unit(in_numbers, value):
    with pytest.raises(dy.FormatError, match=r"symbol of this robot|no quantity named"):
        dy.check_answer(in_numbers, "mass-matrix", f"M_{{22}} = {value}")


@pytest.mark.parametrize("text", ["1 " + "N " * 4_000, "1" + r"\mathrm{N" * 4_000, "1 " + "[N" * 4_000])
def test_many_units_are_read_in_linear_time(arm, text):
    with pytest.raises(dy.FormatError):
        dy.check_answer(arm, "gravity", f"g_2 = {text} x")


@pytest.mark.parametrize(
    "value",
    [r"22500\,\mathrm{g\,m^2}", r"22500 \mathrm{g \cdot m^{2}}", r"22500 \text{ g m}^2", "22500 [g m^2]", "225000 kg cm^2",
     "225000 kgcm^2", r"22.5e6\,\mathrm{kg\,mm^2}", r"\SI{22500}{g.m^2}", r"\qty{22500}{\gram\metre\squared}",
     r"\SI{22500}{\gram\square\metre}", r"20\,\mathrm{kg\,m^2} + 2500\,\mathrm{g\,m^2}", "0.0225 kN m s^2"],
)  # fmt: skip
def test_units_with_prefixes_are_converted(in_numbers, value):
    assert dy.check_answer(in_numbers, "mass-matrix", f"M_{{22}} = {value}").correct
    assert not dy.check_answer(in_numbers, "mass-matrix", f"M_{{22}} = 1000 ({value})").correct


@pytest.mark.parametrize(
    "text",
    [r"g_2 = 0.24525 \cos(q_1+q_2)\,\mathrm{kN\,m}", "g_2 = 0.24525 c_12 kNm", r"g_2 = 245250 c_{12}\,\text{mJ}",
     "g = [0.73575 c_1 + 0.24525 c_12, 0.24525 c_12] kNm", "g_2 = 245250 c_12 Nmm", r"g_2 = 0.24525 c_{12}\,\mathrm{kJ}"],
)  # fmt: skip
def test_units_of_torques_with_prefixes_are_converted(in_numbers, text):
    assert dy.check_answer(in_numbers, "gravity", text).correct


@pytest.mark.parametrize("text", ["g_1 = 0.73575 c_1 + 0.24525 c_12 kNm", "g_2 [kNm] = 0.24525 c_12"])
def test_a_unit_with_a_prefix_behind_a_sum_or_a_name_is_refused(in_numbers, text):
    with pytest.raises(dy.FormatError, match=r"the unit .*kNm.* behind a"):
        dy.check_answer(in_numbers, "gravity", text)


def test_a_factor_between_units_is_wrong(in_numbers):
    assert not dy.check_answer(in_numbers, "mass-matrix", r"M_{22} = 22.5\,\mathrm{g\,m^2}").correct
    assert not dy.check_answer(in_numbers, "gravity", r"g_2 = 245.25 c_{12}\,\mathrm{kNm}").correct


@pytest.mark.parametrize("unit", [r"\,\mathrm{kN\,m}", "[mJ]", r"\text{ Nmm}"])
def test_a_formula_in_parameters_has_its_unit_by_them(arm, unit):
    assert dy.check_answer(arm, "gravity", rf"g_2 = m_2 g l_2 c_{{12}} {unit}").correct


@pytest.mark.parametrize(
    ("unit", "notes"),
    [(r"\,\mathrm{Nm}", ("the unit of M_22 is kg m², not Nm",)), (r"[N m]", ("the unit of M_22 is kg m², not N m",)),
     (r"\,\mathrm{kg\,m}", ("the unit of M_22 is kg m², not kg m",)), (r"\,\mathrm{kg\,m^2}", ()), (r"\text{ N m s}^2", ()),
     ("N", ("the unit of M_22 is kg m², not N",)), ("Nm", ("the unit of M_22 is kg m², not Nm",)), ("kg m^2", ()), ("kgm2", ())],
)  # fmt: skip
def test_the_unit_of_another_quantity_gets_a_note(in_numbers, unit, notes):
    verdict = dy.check_answer(in_numbers, "mass-matrix", f"M_{{22}} = 22.5 {unit}")
    assert verdict.correct
    assert verdict.notes == notes


@pytest.mark.parametrize("unit", ["kg cm^2", r"\text{ kg cm}^2", r"\,\mathrm{kg\,cm^2}"])
def test_a_unit_that_changes_the_value_gets_a_note(in_numbers, unit):
    for value, right in (("225000", True), ("22.5", False)):
        verdict = dy.check_answer(in_numbers, "mass-matrix", f"M_{{22}} = {value} {unit}")
        assert verdict.correct == right
        assert verdict.notes == ("read as a unit (line 1): kg cm^2 = 0.0001 kg m²",)


@pytest.mark.parametrize("unit", ["kgm2", "kg m2", "kgm^2", "Nms2"])
def test_powers_of_units_may_be_plain_digits(in_numbers, unit):
    assert dy.check_answer(in_numbers, "mass-matrix", f"M_22 = 22.5 {unit}").correct


@pytest.mark.parametrize("value", ["245.25 Nm", "245.25 N m", r"245.25 \text{ Nm}", "0.24525 kNm"])
def test_a_unit_may_stand_between_a_number_and_its_factors(in_numbers, value):
    assert dy.check_answer(in_numbers, "gravity", f"g_2 = {value} cos(q1+q2)").correct
    assert dy.check_answer(in_numbers, "gravity", f"g_2 = {value} * cos(q1+q2)").correct
