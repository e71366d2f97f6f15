"""What a robot may be loaded from: text, open files, folders, archives, modules of robot_descriptions, robots of other packages."""

from __future__ import annotations

import io
import os
import re
import sys
import types
import warnings
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

import dynamis as dy
from dynamis.model import sources


def test_text_and_open_files(arm, two_links, save, tmp_path):
    path = save(arm())
    for stream in (io.StringIO(arm()), io.BytesIO(arm().encode()), io.StringIO(two_links())):
        assert dy.load(stream).n == 2
    with path.open() as text, path.open("rb") as binary:
        assert dy.load(text).joint_names == dy.load(binary).joint_names == ("shoulder", "elbow")
    with pytest.raises(dy.FormatError, match=r"^open file:\d+: error"):
        dy.load(io.StringIO(arm().replace("</robot>", "")))
    with pytest.raises(dy.InputError, match="expected str or bytes"):
        dy.load(SimpleNamespace(read=lambda _: 3))
    with pytest.raises(dy.InputError, match="give a path or a robot's name, got int"):
        dy.load(3)


def test_bytes_texts_and_open_archives_are_read_as_their_files(arm, two_links, tmp_path):
    sdf = '<sdf version="1.9"><model name="m"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent>a</parent><child>b</child><axis/></joint></model></sdf>'
    xacro = arm().replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ').replace(
        "</robot>", '<xacro:property name="x" value="1"/></robot>'
    )  # fmt: skip
    for text, n in ((arm(), 2), (two_links(), 2), (sdf, 1), (xacro, 2)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dy.ModelWarning)
            loaded = [dy.load(x).n for x in (text, text.encode(), bytearray(text.encode()), io.BytesIO(text.encode()))]
        assert loaded == [n] * 4
    assert dy.load(arm().encode("utf-16")).n == 2
    assert dy.load(two_links(), parameters={"l": 2.0}).n == 2
    path = tmp_path / "arm.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("urdf/arm.urdf", arm())
    with path.open("rb") as stream:
        assert dy.load(stream).n == 2
    assert dy.load(path.read_bytes()).n == dy.load(io.BytesIO(path.read_bytes())).n == 2
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("arm.urdf", arm('mass value="2"', 'mass value="two"'))
    assert str(dy.check(path.read_bytes()).errors[0]).startswith("archive.zip/arm.urdf:")
    with pytest.raises(dy.ModelError, match=r"^TOML text:\d+: error"):
        dy.load(two_links('mass = "m"', 'mas = "m"'))
    with pytest.raises(dy.InputError, match="4 bytes are not the content of a robot's file"):
        dy.load(b"ur5e")


def test_a_folder_and_an_archive_with_one_robot(arm, two_links, tmp_path):
    folder = tmp_path / "my_arm"
    (folder / "urdf").mkdir(parents=True)
    with pytest.raises(dy.FormatError, match="is a folder; there is no robot in it"):
        dy.load(folder)
    (folder / "urdf" / "arm.urdf").write_text(arm())
    (folder / "package.xml").write_text("<package/>")
    (folder / "settings.toml").write_text("[tool]\nx = 1\n")
    assert dy.load(folder).n == 2
    archive = tmp_path / "my_arm.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.write(folder / "urdf" / "arm.urdf", "a/arm.urdf")
    assert dy.load(archive).joint_names == ("shoulder", "elbow")
    (folder / "arm.toml").write_text(two_links())
    with pytest.raises(dy.FormatError, match=r"is a folder; give one of its 2 robots: 'arm\.toml', 'urdf/arm\.urdf'"):
        dy.load(folder)
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("arm.urdf", arm('mass value="2"', 'mass value="two"'))
    assert str(dy.check(archive).errors[0]).startswith(f"{archive}/arm.urdf:")
    with pytest.raises(dy.ModelError, match=r"my_arm\.zip/arm\.urdf:\d+: error"):
        dy.load(archive)


@pytest.mark.parametrize("name", ["../arm.urdf", "/tmp/arm.urdf", "a/../../arm.urdf", "C:/arm.urdf", "a\\arm.urdf"])
def test_an_archive_cannot_write_elsewhere(name, arm, tmp_path):
    archive = tmp_path / "r.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr(zipfile.ZipInfo(name), arm())
    with pytest.raises(dy.FormatError, match=r"leads out of the archive|no robot in it"):
        dy.load(archive)
    assert list(tmp_path.iterdir()) == [archive]


def test_archives_that_are_damaged_or_too_large(arm, tmp_path, monkeypatch):
    archive = tmp_path / "r.zip"
    archive.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(dy.FormatError, match="is not a ZIP archive"):
        dy.load(archive)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("zeros", bytes(3 << 20))
        out.writestr("arm.urdf", arm())
    assert dy.load(archive).n == 2
    monkeypatch.setattr(sources, "MAX_UNPACKED", 2 << 20)
    with pytest.raises(dy.FormatError, match="unpacks to more than 2 MiB"):
        dy.load(archive)


def test_modules_of_robot_descriptions_by_themselves_and_by_name(arm, save, monkeypatch):
    module = types.ModuleType("robot_descriptions.arm_description")
    module.URDF_PATH = str(save(arm()))
    assert dy.load(module).n == 2
    with pytest.raises(dy.InputError, match="has none of URDF_PATH, MJCF_PATH"):
        dy.load(types.ModuleType("robot_descriptions.nothing"))
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    with pytest.raises(dy.MissingExtraError, match="pip install robot_descriptions"):
        dy.load("robot_descriptions.arm_description")
    package = types.ModuleType("robot_descriptions")
    package.__spec__ = SimpleNamespace(loader=None)
    monkeypatch.setitem(sys.modules, "robot_descriptions", package)
    monkeypatch.setitem(sys.modules, "robot_descriptions.arm_description", module)
    assert dy.load("robot_descriptions.arm_description").n == dy.load("arm_description").n == 2


def dh_robot(name, modified):
    """What from_roboticstoolbox uses of a DHRobot, from a table of ours."""
    d = dy.load(name).description
    rows = []
    rng = np.random.default_rng(1)
    for link in d.links[1:4]:
        m = link.mass_properties
        rows.append(SimpleNamespace(
            theta=0.0, d=rng.uniform(), a=rng.uniform(), alpha=rng.uniform(), offset=rng.uniform(), isprismatic=len(rows) == 1, flip=False,
            m=m.mass, r=m.com, I=m.tensor, G=10.0, B=1e-3, Jm=2e-4, Tc=[0.4, -0.3], qlim=np.array([-1.0, 2.0]),
        ))  # fmt: skip
    return SimpleNamespace(links=rows, name="dh", mdh=modified, gravity=np.array([0.0, 0.0, -9.81]), base=None, tool=None)


@pytest.mark.parametrize("modified", [False, True])
def test_a_table_of_the_robotics_toolbox_is_our_table(modified, save, same_dynamics):
    theirs = dh_robot("ur5e", modified)
    rows = []
    for link in theirs.links:
        I, kind = link.I, "prismatic" if link.isprismatic else "revolute"
        table = f"a = {link.a}\nalpha = {link.alpha}\nd = {link.d + link.offset * link.isprismatic}\ntheta = {link.offset * (not link.isprismatic)}\n"
        inertia = (
            f"inertia = {{ xx = {I[0, 0]}, yy = {I[1, 1]}, zz = {I[2, 2]}, xy = {I[0, 1]}, xz = {I[0, 2]}, yz = {I[1, 2]} }}"
        )
        drive = "viscous = 0.1\ncoulomb = [4.0, 3.0]\nrotor_inertia = 2e-4\ngear_ratio = 10\nlimits = { lower = -1, upper = 2 }"
        rows.append(
            f"[[{'mdh' if modified else 'dh'}]]\ntype = '{kind}'\n{table}mass = {link.m}\ncom = {list(map(float, link.r))}\n{inertia}\n{drive}\n"
        )
    ours = dy.load(save("[robot]\nname = 'r'\n" + "\n".join(rows), "r.toml"))
    robot = dy.from_roboticstoolbox(theirs)
    same_dynamics(ours, robot)
    np.testing.assert_allclose(robot.model.coulomb, ours.model.coulomb)
    np.testing.assert_allclose(robot.limits["upper"], ours.limits["upper"])
    with pytest.raises(dy.InputError, match="takes a robot of roboticstoolbox, got dict"):
        dy.from_roboticstoolbox({})


def test_a_robot_of_the_plane_of_the_robotics_toolbox_is_refused():
    link = type("Link2", (), {})()
    planar = SimpleNamespace(links=[link], name="flat", gravity=np.zeros(3))
    with pytest.raises(dy.ConversionError, match=r"'flat' moves in the plane, in SE\(2\).*ET in place of ET2"):
        dy.from_roboticstoolbox(planar)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "<!DOCTYPE html>\n<html><body/></html>",
            "a web page (HTML); allowed: a robot's file. To repair: download the raw file",
        ),
        ("\n<html lang='en'></html>", "a web page (HTML)"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS, not the file"),
        ("404: Not Found", "the file contains no element, only text: '404: Not Found'"),
    ],
)
@pytest.mark.parametrize("suffix", ["urdf", "sdf"])
def test_what_a_download_left_in_place_of_a_robot_is_named(save, suffix, text, words):
    with pytest.raises(dy.FormatError, match=re.escape(words)):
        dy.load(save(text, f"robot.{suffix}"))


def test_a_device_is_not_said_to_be_missing():
    with pytest.raises(dy.FormatError, match="is a device or a pipe"):
        dy.load(os.devnull)
