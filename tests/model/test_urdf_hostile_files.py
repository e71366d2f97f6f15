from __future__ import annotations

import random
import time

import pytest

import dynamis as dy

LAUGHS = '<!DOCTYPE r [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + k)} "{("&" + chr(97 + k) + ";") * 10}">' for k in range(12)
) + '<!ELEMENT x ANY>]><robot name="&m;"/>'  # fmt: skip
DOCUMENTS = {
    "laughs": LAUGHS,
    "external entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r"><link name="&x;"/></robot>',
    "parameter entity": '<!DOCTYPE r [<!ENTITY % p SYSTEM "http://localhost:1/x.dtd"> %p;]><robot name="r"/>',
    "external subset": '<!DOCTYPE robot SYSTEM "http://localhost:1/robot.dtd"><robot name="r"><link name="a"/></robot>',
    "public": '<!DOCTYPE robot PUBLIC "-//X//Y" "http://localhost:1/x"><robot name="r"><link name="a"/></robot>',
    "empty doctype": '<!DOCTYPE robot><robot name="r"><link name="a"/></robot>',
}

HANGS = 60.0  # seconds of processor time: what is meant takes far less, what is guarded against far more


@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_document_type_declaration_is_refused_at_once(refused, case):
    start = time.process_time()
    message = str(refused(DOCUMENTS[case]))
    assert time.process_time() - start < HANGS
    assert "DOCTYPE" in message
    assert "remove it" in message
    assert "root:" not in message


def test_an_undefined_entity_is_refused(refused):
    assert "entity" in str(refused('<robot name="&nbsp;"><link name="a"/></robot>'))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        (" \n\t ", ["empty"]),
        ("<robot", ["truncated"]),
        ("hello", ["only text", "hello"]),
        ('{"robot": 1}', ["only text"]),
        ('<robot name="a"/><robot name="b"/>', ["more than one root"]),
        ("<html><body/></html>", ["web page"]),
        ('<robot name="r" xmlns:xacro="x"><xacro:include filename="f"/></robot>', ["includes 'f'", "robot's folder"]),
        ('<robot name="r"><link name="${prefix}base"/></robot>', ["xacro", "expand"]),
        ('<robot name="r"><link name="$(arg p)base"/></robot>', ["xacro", "expand"]),
        ('<robot name="r" name="s"><link name="a"/></robot>', ["duplicate attribute"]),
        ('<robot name="r"><link name="a&"/></robot>', ["not well-formed"]),
        ('<robot name="r"><link name="a\x01"/></robot>', ["not well-formed"]),
    ],
)
def test_a_file_that_is_not_urdf_is_refused_with_what_it_is(refused, text, words):
    error = refused(text)
    assert isinstance(error, dy.FormatError)
    for word in words:
        assert word in str(error)


def test_xacro_in_utf_16_is_named_too(refused):
    text = '<?xml version="1.0" encoding="UTF-16"?><robot name="r"><xacro:include filename="f"/><link name="a"/></robot>'
    assert "it includes 'f'" in str(refused(text.encode("utf-16")))


def test_a_file_cut_off_anywhere_is_refused(arm, refused):
    data = arm().rstrip().encode()
    for end in range(0, len(data), 7):
        assert isinstance(refused(data[:end]), dy.FormatError)


@pytest.mark.parametrize("seed", range(20))
def test_binary_junk_is_refused(refused, seed):
    junk = random.Random(seed).randbytes(2000)
    assert isinstance(refused(junk), dy.FormatError)
    assert isinstance(refused(b"<robot name='a'>" + junk), dy.FormatError)
    assert isinstance(refused(junk, "robot.toml"), dy.FormatError)


ENCODINGS = {
    "invalid utf-8": lambda text: text.replace("tool", "to\xf6l").encode("latin-1"),
    "declared utf-8, is latin-1": lambda text: (
        text.replace('"1.0"', '"1.0" encoding="UTF-8"').replace("tool", "to\xf6l").encode("latin-1")
    ),
    "declared ascii, is not": lambda text: (
        text.replace('"1.0"', '"1.0" encoding="US-ASCII"').replace("tool", "to\xf6l").encode()
    ),
    "declared utf-16, is utf-8": lambda text: text.replace('"1.0"', '"1.0" encoding="UTF-16"').encode(),
    "unknown encoding": lambda text: text.replace('"1.0"', '"1.0" encoding="klingon"').encode(),
    "multi-byte encoding": lambda text: text.replace('"1.0"', '"1.0" encoding="shift_jis"').encode(),
    "not a text encoding": lambda text: text.replace('"1.0"', '"1.0" encoding="base64"').encode(),
    "rot13": lambda text: text.replace('"1.0"', '"1.0" encoding="rot13"').encode(),
    "idna": lambda text: text.replace('"1.0"', '"1.0" encoding="idna"').encode(),
    "utf-32": lambda text: text.encode("utf-32"),
    "utf-7": lambda text: text.replace('"1.0"', '"1.0" encoding="utf-7"').encode(),
}


@pytest.mark.parametrize("case", ENCODINGS)
def test_a_wrong_encoding_is_refused_with_the_advice_to_use_utf_8(arm, refused, case):
    error = refused(ENCODINGS[case](arm()))
    assert isinstance(error, dy.FormatError)
    assert "UTF-8" in str(error)


@pytest.mark.parametrize("encoding", ["latin-1", "iso-8859-15", "windows-1252", "utf-8", "utf-16"])
def test_a_declared_encoding_is_honoured(arm, save, encoding):
    text = arm('"1.0"', f'"1.0" encoding="{encoding}"', '"tool"', '"grö\u00dfe"')
    assert dy.load(save(text.encode(encoding))).link_names[-1] == "gr\u00f6\u00dfe"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_loads_right_or_is_refused(arm, save, encoding):
    path = save(arm().encode(encoding))
    try:
        robot = dy.load(path)
    except dy.FormatError as error:
        assert "UTF-8" in str(error)
    else:
        assert robot.link_names == ("base", "upper", "fore", "tool")


@pytest.mark.parametrize(
    "data",
    ["a = 'ö'".encode("latin-1"), "[robot]\nname = 'r'".encode("utf-16"), b"\xff\xfe\x00", b"[robot]\nname='\x80'"],
)
def test_toml_that_is_not_utf_8_is_refused_with_the_byte(refused, data):
    message = str(refused(data, "robot.toml"))
    assert "UTF-8 at byte" in message
    assert "save the file as UTF-8" in message


@pytest.mark.parametrize("tag", ["link", "a", "inertial"])
def test_nesting_without_end_is_refused(refused, tag):
    assert "nested" in str(refused('<robot name="r">' + f"<{tag}>" * 100_000))


def test_toml_nesting_without_end_is_refused(refused):
    assert isinstance(refused("a = " + "[" * 100_000, "robot.toml"), dy.FormatError)
    assert isinstance(refused("a = " + "[" * 100_000 + "]" * 100_000, "robot.toml"), dy.FormatError)


@pytest.mark.parametrize("name", ["robot.urdf", "robot.toml"])
def test_an_oversize_file_is_refused_with_the_size_allowed(refused, name):
    size = 16 * 2**20 + 1
    assert f"{size - 1} bytes" in str(refused(b" " * size, name))


@pytest.mark.parametrize("content", [b"\n" * 200_000, b" \n" * 100_000, b"\t" * 200_000, b"<!-- -->\n" * 20_000])
@pytest.mark.parametrize("name", ["robot.toml", "robot.urdf"])
def test_blank_files_are_refused_at_once(refused, content, name):
    assert isinstance(refused(content, name), dy.FormatError)
    with pytest.raises(dy.DynamisError):
        dy.load(content.decode())


def test_more_elements_than_any_robot_has_are_refused(refused):
    assert "200000 elements" in str(refused('<robot name="r">' + "<a/>" * 200_001 + "</robot>"))


def test_an_attribute_of_a_megabyte_gives_a_short_message(arm, refused):
    assert len(str(refused(arm('mass value="2"', f'mass value="{"9" * 1_000_000}"')))) < 1000


def test_many_duplicate_names_are_reported_in_time(refused):
    links = "".join(f'<link name="l{k // 2}"/>' for k in range(12_000))
    assert "2 links have this name" in str(refused(f'<robot name="r">{links}</robot>'))


def test_a_long_chain_of_followers_is_read_in_time(save):
    parts = ['<link name="l0"/>']
    for k in range(1, 5000):
        parts.append(f'<link name="l{k}"/><joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/>'
                     + (f'<mimic joint="j{k - 1}"/>' if k > 1 else "") + "</joint>")  # fmt: skip
    start = time.process_time()
    report = dy.check(save(f'<robot name="r">{"".join(parts)}</robot>'))
    assert report.ok
    assert time.process_time() - start < HANGS
