"""Numbers in the section on equations of a report."""

import pytest
import sympy
from report_contents import report_blocks

import dynamis as dy
from dynamis.documents.blocks import Table
from dynamis.reports.report import contents_of


@pytest.mark.parametrize("name", ["planar_2r", "scara", "stanford"])
def test_the_number_of_terms_of_an_entry_is_that_of_its_expanded_form(name):
    robot = dy.load(name)
    form = robot.closed_form()
    for entry in (entry for entry in form.M.flat if not entry.is_zero):
        expanded = sympy.sympify(entry.grouped("term").text().replace("^", "**"), {"I_1": sympy.Symbol("I_1")})
        assert entry.term_count == len(sympy.Add.make_args(sympy.expand(expanded)))


def test_the_structure_of_the_inertia_matrix_counts_terms_as_printed():
    tables = report_blocks(contents_of(dy.load("planar_2r"), sections=["equations"]), "equations", Table)
    structure = next(table for table in tables if table.title == "Structure of the inertia matrix")
    assert [row[1:] for row in structure.rows] == [("6 terms", "3 terms"), ("3 terms", "constant")]
