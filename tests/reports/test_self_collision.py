"""The table of self-collisions in the report: reproducible, and absent where coal is."""

import importlib.util

import pytest

import dynamis as dy
from dynamis.documents.blocks import Section, Table
from dynamis.reports.self_collision import add_self_collision


def table_of(robot):
    section = Section("Workspace", "workspace")
    add_self_collision(robot, section)
    return section, [block for block in section.blocks if isinstance(block, Table)]


def test_the_table_is_the_same_every_time_and_its_share_is_that_of_the_scene():
    pytest.importorskip("coal", reason="coal is not installed: pip install 'dynamis[collision]'")
    robot = dy.load("puma560")
    (section, (table,)), (_, (again,)) = table_of(robot), table_of(robot)
    assert (table.rows, table.note) == (again.rows, again.note)
    scene = dy.collision.Scene(robot)
    shares = {tuple(row[:2]): float(row[2].split()[0]) for row in table.rows}
    assert set(shares) <= set(scene.pairs)
    assert "scene.in_collision(q[:300])" in section.reproduce
    assert f"{len(scene.pairs)} pairs" in table.note
    assert "Links without shapes: flange" in table.note


def test_there_is_no_table_without_shapes_or_without_the_library(monkeypatch):
    assert table_of(dy.load("planar_2r_melchiorri"))[1] == []
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert table_of(dy.load("puma560"))[1] == []
