from __future__ import annotations

import os

import pytest

import dynamis as dy
from dynamis.cli.summary import summarise
from dynamis.model.packages import resolve_mesh

HOSTILE = {
    "python": "__import__('os').system('true')",
    "c": '"); system("true"); //',
    "c comment": "*/ #include <x> /*",
    "latex": r"\input{/etc/passwd}$\write18{ls}%",
    "shell": "$(touch x); `ls` && rm -rf ~ | cat",
    "spreadsheet": "=cmd|'/C calc'!A1",
    "markup": "<script>&amp;\"'</script>",
    "rich": "[bold red]x[/bold red][/]",
    "format": "{0.__class__} %s %n {name}",
    "long": "n" * 5000,
    "emoji": "🤖\u200d👩‍🔧",
    "combining": "e\u0301\u0327",
    "right to left": "\u202eabc\u202c",
    "path": "../../etc/passwd",
    "windows path": "C:\\Windows\\..\\x",
    "space": "  two  spaces ",
    "tab and newline": "a\tb\nc\rd",
    "delete": "a\x7fb",
    "keyword": "class",
    "number": "1e400",
    "toml": 'x"""\n[[link]]\n#',
    "nonbreaking": "a\u00a0b\u2028c",
}
CONTROL = {
    "ansi": "\x1b[31mred\x1b[0m",
    "bell": "\x07",
    "nul": "a\x00b",
    "not a character": "a\uffffb",
    "not a character either": "\ufffe",
}


def rename(robot, name):
    d = robot.description
    old_link, old_joint = "upper", "shoulder"
    d.name = d.about = d.source = name
    for link in d.links:
        link.name = name if link.name == old_link else link.name
    for joint in d.joints:
        joint.name = name if joint.name == old_joint else joint.name
        joint.parent = name if joint.parent == old_link else joint.parent
        joint.child = name if joint.child == old_link else joint.child
    return dy.Robot(d)


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("form", ["urdf", "toml", "toml poe"])
def test_a_hostile_name_is_only_a_label(arm, save, tmp_path, same_dynamics, case, form):
    name = HOSTILE[case]
    suffix, _, kind = form.partition(" ")
    named = rename(dy.load(save(arm())), name)
    out = tmp_path / f"out.{suffix}"
    named.write(out, kind or "link")
    again = dy.load(out, strict=True)
    assert again.name == name
    assert name in again.link_names
    assert name in again.joint_names
    assert summarise(again)["joints"][0]["name"] == name
    same_dynamics(named, again, frames=named.link_names, compiled=form == "urdf")  # the name goes through the compiler too
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([out.name, "robot.urdf"])


@pytest.mark.parametrize("case", CONTROL)
def test_a_name_xml_cannot_hold_is_refused_by_the_urdf_writer_and_kept_by_toml(arm, save, tmp_path, case):
    named = rename(dy.load(save(arm())), CONTROL[case])
    with pytest.raises(dy.ConversionError) as caught:
        named.write(tmp_path / "out.urdf")
    assert str(caught.value).isprintable()
    assert "rename" in str(caught.value)
    assert not (tmp_path / "out.urdf").exists()
    named.write(tmp_path / "out.toml")
    assert CONTROL[case] in dy.load(tmp_path / "out.toml").link_names


@pytest.mark.filterwarnings("ignore:(.|\\n)*position limits on a spherical joint")
@pytest.mark.parametrize("case", [*HOSTILE, *CONTROL])
def test_messages_quote_hostile_names_in_printable_characters_and_bounded_length(arm, save, case):
    name = {**HOSTILE, **CONTROL}[case]
    robot = rename(dy.load(save(arm())), name)
    d = robot.description
    d.joint(name).type = "spherical"
    spherical = dy.Robot(d)
    attempts = [
        lambda: robot.pose([0, 0], name + "x"),
        lambda: robot.mass_matrix([0]),
        lambda: spherical.write(save("", "x.urdf")),
        lambda: spherical.write(save("", "x.toml"), "dh"),
        lambda: spherical.write(save("", "x.toml"), "poe"),
        lambda: dy.load(name),
    ]
    for attempt in attempts:
        with pytest.raises(dy.DynamisError) as caught:
            attempt()
        assert len(str(caught.value)) < 600
        assert str(caught.value).isprintable()
    assert str(repr(robot)).isprintable()


def test_names_made_by_the_urdf_writer_do_not_meet_names_of_the_robot(same_dynamics, quiet_load, tmp_path):
    tail = dy.Pose.translation([0.1, 0, 0])
    body = dy.solids.sphere(0.1, mass=1.0)
    d = dy.Description("r").add_link("base").add_link("a", "base", "revolute", joint_name="j", inertia=body, tail=tail)
    d.add_link("j/axis", "a", "revolute", joint_name="j/tail", inertia=body, origin=tail)
    robot = dy.Robot(d)
    robot.write(tmp_path / "r.urdf")
    same_dynamics(robot, quiet_load(tmp_path / "r.urdf"), frames=["a", "j/axis"])


MESH_ESCAPES = ["../secret.stl", "package://pkg/../../secret.stl", "package://../secret.stl", "package://pkg/link.stl", "link.stl",
                "file:///etc/passwd", "http://localhost/x.stl", "https://localhost/x.stl", "FTP://x/y", "data:text/plain,x", "C:/x.stl",
                "a\0b.stl", "..\\secret.stl", "package://pkg\\..\\x", "package://", "package://pkg", "package://pkg/", "", ".", "..",
                "package://other/mesh.stl", "missing.stl", "a" * 5000, "loop.stl", "\ud800.stl", "~/x.stl", "x\n.stl"]  # fmt: skip


@pytest.fixture
def package(tmp_path):
    root = tmp_path / "share"
    (root / "pkg").mkdir(parents=True)
    (tmp_path / "secret.stl").write_text("secret")
    (root / "pkg" / "mesh.stl").write_text("mesh")
    model = root / "pkg" / "urdf"
    model.mkdir()
    (model / "near.stl").write_text("near")
    for folder in (root / "pkg", model):
        (folder / "link.stl").symlink_to(tmp_path / "secret.stl")
        (folder / "loop.stl").symlink_to(folder / "loop.stl")
    return root, model


@pytest.mark.parametrize("name", MESH_ESCAPES)
def test_a_mesh_name_that_leads_out_of_its_package_or_nowhere_is_refused(package, name):
    root, model = package
    with pytest.raises(dy.InputError) as caught:
        resolve_mesh(name, model, [root])
    assert "mesh" in str(caught.value)


def test_an_absolute_mesh_name_is_refused_even_where_the_file_exists(package, tmp_path):
    root, model = package
    with pytest.raises(dy.InputError, match="leads out"):
        resolve_mesh(str(tmp_path / "secret.stl"), model, [root])


def test_a_mesh_name_stays_inside_its_package_not_only_beside_it(package):
    root, model = package
    (root / "other").mkdir()
    (root / "other" / "mesh.stl").write_text("other")
    for name in ("package://pkg/../other/mesh.stl", "package://pkg/urdf/../../other/mesh.stl", "package://./other/mesh.stl"):
        with pytest.raises(dy.InputError, match="mesh"):
            resolve_mesh(name, model, [root])


def test_a_package_that_is_a_link_is_found_by_the_name_of_the_link(package):
    root, model = package
    (root / "linked").symlink_to(root / "pkg")
    assert resolve_mesh("package://linked/mesh.stl", model, [root]).read_text() == "mesh"
    assert resolve_mesh("package://linked/mesh.stl", model, [root / "linked"]).read_text() == "mesh"


def test_mesh_names_inside_their_package_are_found(package):
    root, model = package
    assert resolve_mesh("package://pkg/mesh.stl", model, [root]).read_text() == "mesh"
    assert resolve_mesh("package://pkg/mesh.stl", model, [root / "pkg"]).read_text() == "mesh"
    assert resolve_mesh("near.stl", model).read_text() == "near"
    assert resolve_mesh("./near.stl", model).read_text() == "near"


@pytest.mark.parametrize(
    "source",
    ["", "\0", "a\0.urdf", ".", "..", "/", "missing.urdf", "folder/", "no_such_robot", "ur5", "UR5X", "a" * 300, "a" * 5000 + ".urdf",
     "x" * 5000, "../library/ur5e", "robot.mjb", "\ud800.urdf", "\ud800", "%n.urdf", None, 5, 1.5, [], {}, b"ur5e", object()],
)  # fmt: skip
def test_a_source_that_is_no_file_and_no_robot_is_refused(source):
    for function in (dy.load, dy.check):
        with pytest.raises(dy.DynamisError) as caught:
            function(source)
        assert len(str(caught.value)) < 600


def test_a_folder_or_a_file_of_unknown_ending_is_refused(tmp_path, arm):
    (tmp_path / "arm.urdf").mkdir()
    (tmp_path / "arm.txt").write_text("an arm")
    for path, words in ((tmp_path / "arm.urdf", "folder"), (tmp_path, "folder"), (tmp_path / "arm.txt", r"\.usd or \.toml")):
        with pytest.raises(dy.FormatError, match=words):
            dy.load(path)


def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.urdf")
    with pytest.raises(dy.FormatError):
        dy.load(tmp_path / "pipe.urdf")


@pytest.mark.parametrize(
    ("wrong", "near"), [("ur5", "ur5e"), ("pumma560", "puma560"), ("kuka", "kuka_iiwa14"), ("stanfort", "stanford")]
)
def test_an_unknown_robot_is_refused_with_the_near_names(wrong, near):
    with pytest.raises(dy.NameLookupError, match=near):
        dy.load(wrong)


@pytest.mark.parametrize("name", ["UR5e", "kuka-iiwa14", "Kuka iiwa14"])
def test_case_and_hyphens_of_a_library_name_do_not_matter(name):
    assert dy.load(name).n in (6, 7)


def test_a_wrong_base_is_refused():
    with pytest.raises(dy.InputError, match="floating"):
        dy.load("ur5e", base="float")


@pytest.mark.parametrize("out", ["x.txt", "x", "missing/x.urdf", "missing/x.toml", "folder.urdf", "a" * 300 + ".urdf"])
def test_a_robot_that_cannot_be_written_there_says_so(tmp_path, out):
    (tmp_path / "folder.urdf").mkdir()
    with pytest.raises(dy.DynamisError):
        dy.load("ur5e").write(tmp_path / out)


def test_an_unknown_form_is_refused(tmp_path):
    with pytest.raises(dy.InputError, match="link, dh, mdh or poe"):
        dy.load("ur5e").write(tmp_path / "x.toml", "dhh")
