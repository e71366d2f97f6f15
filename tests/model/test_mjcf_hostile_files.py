"""MJCF files of strangers: refused before MuJoCo sees them, where they lead out of their folder or ask for too much."""

from __future__ import annotations

import pytest

import dynamis as dy
from dynamis.model.readers.mjcf_limits import check_mjcf

BODY = '<body><joint axis="0 1 0"/><inertial pos="0 0 0.1" mass="1" diaginertia="1 1 1"/></body>'
LIBRARY = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")


def model(worldbody="", more=""):
    return f"<mujoco>\n{more}\n<worldbody>\n{worldbody}</worldbody>\n</mujoco>"


def nested(count, levels):
    return f'<replicate count="{count}">\n' * levels + BODY + "</replicate>" * levels


ASKING_TOO_MUCH = {
    "replicate": model(nested(100_000_000, 1)),
    "nested replicates": model(nested(50, 4)),
    "bodies": model(BODY * 2001),
    "elements": model("<geom size='1'/>" * 10_001),
    "depth": model("<body>" * 300 + "</body>" * 300),
    "entities": '<!DOCTYPE m [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + model(),
    "texture": model(more='<asset><texture name="t" builtin="flat" width="100000000" height="10"/></asset>'),
    "textures": model(more='<asset><texture name="t" builtin="flat" type="2d" width="32768" height="32768"/></asset>'),
    "default texture": model(
        more='<default><texture width="30000" height="30000"/></default>\n<asset><texture name="t" builtin="flat"/></asset>'
    ),
    "height field": model(more='<asset><hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/></asset>'),
    "flexcomp": model('<flexcomp name="f" count="200 200 200"/>'),
    "composite": model('<composite prefix="f" count="100000000 1 1"/>'),
    "cells": model('<flexcomp name="f" count="3 3 3" cellcount="100 100 100"/>'),
    "mesh": model(more='<asset><mesh name="m" builtin="supersphere" params="1000 1 1"/></asset>'),
    "keyframes": model(more='<size nkey="1000000"/>'),
    "many keyframes": model(more="<keyframe>" + "<key/>" * 1001 + "</keyframe>"),
    "user data": model(more='<size nuser_body="100000000"/>'),
    "memory": model(more='<size memory="1T"/>'),
    "not a number": model(more='<size nkey="many"/>'),
    "sensor": model(more='<sensor><user name="u" dim="100000000"/></sensor>'),
    "samples": model(more="<actuator>" + '<motor joint="j" nsample="1000000"/>' * 200 + "</actuator>"),
    "length range": model(more='<compiler><lengthrange timestep="1e-9"/></compiler>'),
    "iterations": model(more='<option iterations="2000000000"/>'),
}


@pytest.mark.parametrize("kind", ASKING_TOO_MUCH)
def test_a_small_file_cannot_take_much_time_or_memory(kind, monkeypatch):
    monkeypatch.setattr(LIBRARY.MjModel, "from_xml_string", None)  # MuJoCo must not see it
    with pytest.raises(dy.FormatError, match=r"MJCF text:\d+: error: .*; .*(?:give|remove|text)"):
        dy.load(ASKING_TOO_MUCH[kind])


@pytest.mark.parametrize(
    "text",
    [
        model(more='<include file="../../etc/x"/>'),
        model(more='<include file="/etc/passwd"/>'),
        model(more='<include file="link.xml"/>'),
        model(more='<include file="sub/up.xml"/>'),
        model(more='<asset><mesh name="m" file="/etc/x.stl"/></asset>'),
        model(more='<asset><mesh name="m" file="../../x.stl"/></asset>'),
        model(more='<compiler meshdir="/etc"/><asset><mesh name="m" file="x.stl"/></asset>'),
        model(more='<compiler assetdir="../.."/><asset><mesh name="m" file="x.stl"/></asset>'),
        model(more='<compiler texturedir="../a"/><asset><texture name="t" type="2d" fileleft="../../x.png"/></asset>'),
        model(more='<asset><model name="m" file="../../x.xml"/></asset>'),
        model('<flexcomp name="f" type="mesh" file="http://x/y.obj"/>'),
    ],
)
def test_files_outside_of_the_models_folder_are_not_read(text, tmp_path, monkeypatch):
    monkeypatch.setattr(LIBRARY.MjModel, "from_xml_path", None)
    folder = tmp_path / "robots" / "arm"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    (folder / "link.xml").symlink_to(tmp_path / "secret.xml")
    (folder / "sub" / "up.xml").write_text('<mujoco>\n<include file="../../../secret.xml"/></mujoco>')
    (folder / "arm.xml").write_text(text)
    with pytest.raises(dy.FormatError, match=r"\.xml:[24]: error.*(?:leads out of|not a relative path).*model's folder"):
        dy.load(folder / "arm.xml")


def test_files_that_contain_themselves_are_refused(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(model(more='<include file="b.xml"/>'))
    (tmp_path / "b.xml").write_text('<mujoco>\n<include file="b.xml"/></mujoco>')
    with pytest.raises(dy.FormatError, match=r"b\.xml:2: error.*included a second time"):
        dy.load(path)
    path.write_text(model('<attach model="m" prefix="x"/>', '<asset><model name="m" file="arm.xml"/></asset>'))
    with pytest.raises(dy.FormatError, match=r"arm\.xml:2: error.*contains itself"):
        dy.load(path)
    for k in range(6):  # ten times ten times ...
        inner = f'<asset><model name="m" file="m{k + 1}.xml"/></asset>'
        (tmp_path / f"m{k}.xml").write_text(model("".join(f'<attach model="m" prefix="{i}"/>' for i in range(10)), inner))
    (tmp_path / "m6.xml").write_text(model(BODY))
    with pytest.raises(dy.FormatError, match=r"m\d\.xml:4: error.*more than \d+ (?:elements|bodies)"):
        dy.load(tmp_path / "m0.xml")


def test_an_image_is_measured_before_it_is_unpacked(tmp_path):
    header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (60_000).to_bytes(4, "big") * 2
    (tmp_path / "t.png").write_bytes(header)
    text = model(more='<asset><texture name="t" type="2d" file="t.png"/></asset>')
    with pytest.raises(dy.FormatError, match="pixels"):
        check_mjcf(text.encode(), "arm.xml", tmp_path)


def test_a_text_cannot_name_files():
    with pytest.raises(dy.FormatError, match="this model is given as text"):
        dy.load(model(more='<include file="x.xml"/>'))


def test_includes_assets_and_copies_within_bounds_load(tmp_path):
    folder = tmp_path / "mjcf"
    folder.mkdir()
    (tmp_path / "assets").mkdir()
    corners = "\n".join(f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1))
    (tmp_path / "assets" / "box.obj").write_text(corners + "\nf 1 2 3\nf 2 3 4\nf 5 6 7\nf 6 7 8\n")
    (folder / "part.xml").write_text(f"<mujocoinclude>{BODY}</mujocoinclude>")
    asset = '<compiler meshdir="../assets"/><asset><mesh name="m" file="box.obj"/></asset>'
    (folder / "arm.xml").write_text(
        model('<include file="part.xml"/><replicate count="3" sep="-">' + BODY + "</replicate>", asset)
    )
    assert dy.load(folder / "arm.xml").n == 4
    chain = model('<body pos="0 0 1"><joint/><geom size=".1"/>' * 100 + "</body>" * 100)
    assert dy.load(chain).n == 100
