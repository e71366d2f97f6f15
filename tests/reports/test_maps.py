"""Maps of gravity torques, inertias and stiffness in a report."""

import numpy as np
import pytest
from report_contents import report_blocks

import dynamis as dy
from dynamis.documents.blocks import HeatMap
from dynamis.reports.report import contents_of


def test_the_centre_of_a_range_is_zero_in_the_text_of_maps():
    link = """<joint name="j{k}" type="revolute"><parent link="l{p}"/><child link="l{k}"/><origin xyz="{x} 0 0"/>
<axis xyz="0 1 0"/><limit lower="-3.14159265" upper="3.14159265" effort="99" velocity="9"/></joint>
<link name="l{k}"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    arm = dy.load(f'<robot name="arm"><link name="l0"/>{link.format(k=1, p=0, x=0)}{link.format(k=2, p=1, x=0.6)}</robot>')
    contents = contents_of(arm, sections=["maps"])
    summaries = [view.summary for figure in report_blocks(contents, "maps", HeatMap) for view in figure.views]
    assert any("j2 = 0 rad" in x for x in summaries), summaries
    assert not any("10⁻¹" in x for x in summaries)


@pytest.mark.parametrize("name", ["ur5e", "puma560", "planar_2r_melchiorri"])
def test_the_map_of_stiffness_has_no_empty_cell_among_others(name):
    (stiffness,) = report_blocks(contents_of(name, sections=["stiffness"]), "stiffness", HeatMap)
    empty = np.isnan(np.array(stiffness.views[0].values, float))
    around = np.pad(empty, 1, constant_values=True)
    beside = [around[1:-1, 2:], around[1:-1, :-2], around[2:, 1:-1], around[:-2, 1:-1]]
    assert not (empty & ~np.any(beside, axis=0)).any()
