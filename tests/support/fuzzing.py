"""Random robot files, sound and broken, for the URDF and TOML readers and the writers of every form.

Files are made from their structure (elements and tables with values of their kind), then some values and elements are
exchanged, so that most of the reader is reached and a good part of the files loads.
"""

from __future__ import annotations

import random
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
from written_models import round_trips

import dynamis as dy
from dynamis.model.build import build
from dynamis.model.load import read

SIZES = ("1e-320", "1e-300", "1e-160", "1e-30", "1e-12", "1e-7", "0", "-0.0", "1", "-1", "2.5", "1e3", "1e12", "1e30", "1e50", "1e51",
         "1e160", "1e300", "-1e300", "1.7976931348623157e308")  # fmt: skip
BAD_NUMBERS = (
    "",
    " ",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "0,5",
    "1;2",
    "0x10",
    "1_000",
    "٣",
    "true",
    "5 m",
    "${x}",
    "$(optenv A b)",
    "9" * 500,
)
NAMES = ("l0", "l1", "l2", "j1", "j2", "base", "", "nobody", "a b", "é", "x" * 300)
TYPES = (
    "revolute",
    "continuous",
    "prismatic",
    "fixed",
    "planar",
    "floating",
    "spherical",
    "helical",
    "cylindrical",
    "universal",
    "free",
    "",
    "slider",
)
PIECES = ("<", ">", "&", "&#0;", "]]>", "\x00", "\ufeff", "\n\n", '"', "'", "#", "=", "[[", "]]", "[[link]]", "[base]", "<!DOCTYPE r>", "</robot>", "<!--",
          "<xacro:if>", "<?xml version='1.0'?>", "0x" + "f" * 5000, "9" * 5000, "[1, 2]", "{}", "1e-300", "\U0001f916")  # fmt: skip


class Maker:
    """Random numbers, vectors and names as text; ``wild`` is how often one of them is out of the ordinary."""

    def __init__(self, seed, wild):
        self.rng, self.wild = random.Random(seed), wild
        usual = self.rng.random() < 0.7
        # robots of other sizes: lengths and masses by the thousand, the million and the billion
        self.length = 1.0 if usual else self.rng.choice((1e-6, 1e-3, 1e3, 1e6))
        self.weight = 1.0 if usual else self.rng.choice((1e-9, 1e-3, 1.0, 1e6))

    def odd(self):
        return self.rng.random() < self.wild

    def chance(self, probability):
        return self.rng.random() < probability

    def number(self, low=-1.0, high=1.0):
        if self.odd():
            return self.rng.choice(SIZES)
        if self.chance(0.3):
            return self.rng.choice(("0", "1", "0.5")) if low < 0 <= high or low >= 0 else "0"
        return repr(round(self.rng.uniform(low, high), self.rng.randint(1, 12)))

    def angle(self):
        return self.rng.choice(("0", "1.5707963267948966", "3.141592653589793", "-1.5707963", self.number(-3.2, 3.2)))

    def vector(self, low=-1.0, high=1.0):
        return [self.number(low, high) for _ in range(3)]

    def scaled(self, scale, low=-1.0, high=1.0):
        text = self.number(low, high)
        return text if scale == 1.0 or text in SIZES else repr(float(text) * scale)

    def place(self):
        return [self.scaled(self.length) for _ in range(3)]

    def mass(self):
        return self.scaled(self.weight, 0.1, 5)

    def axis(self):
        if self.odd():
            return self.vector()
        plain = self.rng.choice((("1", "0", "0"), ("0", "1", "0"), ("0", "0", "1"), ("0", "0", "-1"), ("1", "1e-9", "0")))
        return list(plain) if self.chance(0.7) else self.unit()

    def unit(self):
        x = np.array([self.rng.gauss(0, 1) for _ in range(3)])
        return [repr(float(c)) for c in x / np.linalg.norm(x)]

    def tensor(self):
        a, b = sorted(self.rng.uniform(0.01, 0.2) for _ in range(2))
        moments = [repr(x * self.weight * self.length**2) for x in (a, b, self.rng.uniform(b - a, a + b))]
        keys = ("xx", "yy", "zz", "xy", "xz", "yz")
        return (
            dict(zip(keys, [*moments, "0", "0", "0"], strict=True))
            if not self.odd()
            else {key: self.number(-0.1, 0.3) for key in keys}
        )

    def name(self, good):
        return self.rng.choice(NAMES) if self.odd() else good


def urdf_text(seed, wild=0.03):
    """A random URDF document."""
    m = Maker(seed, wild)
    parts, count = [], m.rng.randint(1, 5)
    for k in range(count + 1):
        parts.append(_urdf_link(m, f"l{k}"))
        if k:
            parts.append(_urdf_joint(m, k))
    if m.odd():
        m.rng.shuffle(parts)
    gravity = f'<dynamis gravity="{" ".join(m.vector(-10, 10))}"/>' if m.chance(0.1) else ""
    return (
        f'<?xml version="1.0"?>\n<robot name="{m.name("robot")}">\n{gravity}<!-- made at random -->\n'
        + "".join(parts)
        + "</robot>\n"
    )


def _urdf_origin(m):
    if m.chance(0.3):
        return ""
    rpy = f' rpy="{" ".join(m.angle() for _ in range(3))}"' if m.chance(0.6) else ""
    return f'    <origin xyz="{" ".join(m.place())}"{rpy}/>\n'


def _urdf_link(m, name):
    if m.chance(0.15):
        return f'  <link name="{m.name(name)}"/>\n'
    inertia = " ".join(f'i{key}="{value}"' for key, value in m.tensor().items())
    inertial = f'   <inertial>\n{_urdf_origin(m)}    <mass value="{m.mass()}"/>\n    <inertia {inertia}/>\n   </inertial>\n'
    inertial *= 2 if m.odd() else 1
    shape = (
        f'   <visual>\n{_urdf_origin(m)}    <geometry><box size="{" ".join(m.vector(0, 1))}"/></geometry>\n   </visual>\n'
        if m.chance(0.2)
        else ""
    )
    return f'  <link name="{m.name(name)}">\n{inertial}{shape}  </link>\n'


def _urdf_joint(m, k):
    kind = m.rng.choice(TYPES) if m.odd() else m.rng.choice(("revolute", "continuous", "prismatic", "revolute", "fixed"))
    parent = f"l{k - 1}" if m.chance(0.8) else f"l{m.rng.randrange(k)}"
    inner = [_urdf_origin(m), f'    <parent link="{m.name(parent)}"/>\n', f'    <child link="{m.name(f"l{k}")}"/>\n']
    inner.append(f'    <axis xyz="{" ".join(m.axis())}"/>\n' * (2 if m.odd() else 1))
    inner.append(
        f'    <limit lower="{m.number(-3, 0)}" upper="{m.number(0, 3)}" effort="{m.number(1, 9)}" velocity="{m.number(1, 9)}"/>\n'
    )
    if m.chance(0.4):
        inner.append(f'    <dynamics damping="{m.number(0, 1)}" friction="{m.number(0, 1)}"/>\n')
    if k > 1 and m.chance(0.15):
        inner.append(
            f'    <mimic joint="{m.name(f"j{m.rng.randrange(1, k)}")}" multiplier="{m.number(0.5, 2)}" offset="{m.number()}"/>\n'
        )
    if m.chance(0.2):
        motor = f' motor_link="{m.name(parent)}"' if m.chance(0.5) else ""
        inner.append(
            f'    <dynamis rotor_inertia="{m.number(0, 0.01)}" gear_ratio="{m.number(1, 50)}" stiffness="{m.number(0, 2)}"{motor}/>\n'
        )
    return f'  <joint name="{m.name(f"j{k}")}" type="{kind}">\n' + "".join(inner) + "  </joint>\n"


def toml_text(seed, wild=0.03):
    """A random TOML robot with rows of every kind."""
    m = Maker(seed, wild)
    out = ["[robot]", f'name = "{m.name("robot")}"', "[parameters]", 'p = "pi/2"', f"s = {m.number(0.1, 2)}", "[base]"]
    count = m.rng.randint(1, 5)
    kinds = (
        ("link",)
        if m.chance(0.3)
        else (m.rng.choice(("link", "dh", "mdh", "poe")),)
        if m.chance(0.7)
        else ("link", "dh", "mdh", "poe", "frame")
    )
    for k in range(1, count + 1):
        out += _toml_row(m, k, m.rng.choice(kinds))
    if m.chance(0.5):
        out += ["[[frame]]", 'link = "tool"', *_toml_pose(m)]
        out += (
            ["[[frame]]", 'link = "camera"', f'parent = "{m.rng.choice(("tool", f"l{count}", "base"))}"', *_toml_pose(m)]
            if m.chance(0.5)
            else []
        )
    return "\n".join([*out, ""])


def _list(values):
    return "[" + ", ".join(values) + "]"


def _toml_pose(m):
    lines = [f"xyz = {_list(m.place())}"] if m.chance(0.8) else []
    return lines + ([f"rpy = {_list([m.angle() for _ in range(3)])}"] if m.chance(0.6) else [])


def _toml_row(m, k, section):
    out = [f"[[{section}]]", f'link = "{m.name(f"l{k}")}"']
    if section == "frame":
        return out + _toml_pose(m)
    kind = m.rng.choice(TYPES) if m.odd() else m.rng.choice(("revolute", "revolute", "continuous", "prismatic", "fixed"))
    if section == "link" and m.chance(0.2):
        kind = m.rng.choice(("helical", "universal", "cylindrical", "spherical", "planar"))
    out.append(f'joint = "{m.name(f"j{k}")}"')
    if section == "poe":
        screw = (
            [*m.place(), *m.unit()]
            if m.chance(0.6)
            else ["0", "0", "0", *m.axis()]
            if m.chance(0.7)
            else [*m.unit(), "0", "0", "0"]
        )
        out += [*_toml_pose(m), f"screw = {_list(screw)}"] + ([f'type = "{kind}"'] if m.odd() else [])
    else:
        out.append(f'type = "{kind}"')
    if section in ("dh", "mdh"):
        angles = [m.rng.choice((m.angle(), '"p"', '"-p"', '"pi*s"')) for _ in range(2)]
        out += [f"a = {m.scaled(m.length)}", f"alpha = {angles[0]}", f"d = {m.scaled(m.length)}", f"theta = {angles[1]}"]
    if section == "link":
        out += [*_toml_pose(m), f"axis = {_list(m.axis())}", f"axis2 = {_list(m.unit())}"]
        out += [f"pitch = {m.number(-0.3, 0.3)}"] if m.chance(0.5) else []
        out += [f"tail = {{ xyz = {_list(m.place())}, rpy = {_list([m.angle() for _ in range(3)])} }}"] if m.chance(0.2) else []
    out += _toml_mass(m)
    out += [
        f"{key} = {m.number(0, 1)}" for key in ("viscous", "coulomb", "stiffness", "rest", "rotor_inertia") if m.chance(0.12)
    ]
    out += [f"gear_ratio = {m.number(1, 50)}"] if m.chance(0.1) else []
    out += [f'motor_link = "{m.name(f"l{max(k - 2, 1)}")}"'] if m.chance(0.08) else []
    out += [f"limits = {{ lower = {m.number(-3, 0)}, upper = {m.number(0, 3)} }}"] if m.chance(0.3) else []
    if k > 1 and m.chance(0.1):
        out.append(
            f'mimic = {{ joint = "{m.name(f"j{m.rng.randrange(1, k)}")}", ratio = {m.number(0.5, 2)}, offset = {m.number()} }}'
        )
    return out


def _toml_mass(m):
    if m.chance(0.1):
        return []
    if m.chance(0.2):
        solid = m.rng.choice(
            (
                f'kind = "box", x = {m.number(0, 1)}, y = {m.number(0, 1)}, z = {m.number(0, 1)}',
                f'kind = "sphere", radius = {m.number(0, 1)}',
            )
        )
        turn = f", rpy = {_list([m.angle() for _ in range(3)])}" if m.chance(0.3) else ""
        return [f"solid = {{ {solid}{turn} }}", f"mass = {m.mass()}", f"com = {_list(m.place())}"]
    inertia = ", ".join(f"{key} = {value}" for key, value in m.tensor().items())
    return [f"mass = {m.mass()}", f"com = {_list(m.place())}", f"inertia = {{ {inertia} }}"]


def mutated(text, seed):
    """The text with one to three values, lines or characters exchanged."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 3)):
        lines = text.split("\n")
        k, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                del lines[k]
            case 1:
                lines.insert(k, lines[j])
            case 2:
                lines[k], lines[j] = lines[j], lines[k]
            case 3:  # a value
                values = list(re.finditer(r'"[^"]*"|-?\d[\d.e-]*', lines[k]))
                if values:
                    old = rng.choice(values)
                    new = rng.choice((*SIZES, *BAD_NUMBERS, *NAMES, *TYPES))
                    quoted = f'"{new}"' if old[0].startswith('"') or rng.random() < 0.3 else new
                    lines[k] = lines[k][: old.start()] + quoted + lines[k][old.end() :]
            case 4:
                at = rng.randint(0, len(lines[k]))
                lines[k] = lines[k][:at] + rng.choice(PIECES) + lines[k][at:]
            case 5:
                at = rng.randint(0, len(lines[k]))
                lines[k] = lines[k][:at] + lines[k][at + rng.randint(1, 5) :]
        text = "\n".join(lines)
    return text


def file_text(seed):
    """(suffix, text) of the robot file with this seed: a third as made, the others made wilder or mutated."""
    rng = random.Random(seed)
    suffix = rng.choice(("urdf", "toml"))
    make = urdf_text if suffix == "urdf" else toml_text
    match rng.randrange(3):
        case 0:
            return suffix, make(seed, 0.0)
        case 1:
            return suffix, make(seed, rng.choice((0.01, 0.03, 0.1)))
    return suffix, mutated(make(seed, rng.choice((0.0, 0.02))), seed)


def complaint(suffix, text, folder):
    """What is wrong with how Dynamis treats a file, or "" and what became of it: (complaint, forms that were written)."""
    path = Path(folder) / f"robot.{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            description, report = read(path)
            if description is None or not report.ok:
                assert report.errors
                str(report)
                return "", ()
            model = build(description)
            return round_trips(description, model, path)
        except dy.DynamisError as error:
            return f"loading raised after the check found nothing: {error}", ()
        except Exception as error:
            return f"{type(error).__name__}: {error}", ()


def search(seeds):
    """(complaints by kind with the file that shows each, how many files loaded, how many forms were written)."""
    found, loaded, forms = {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            suffix, text = file_text(seed)
            wrong, written = complaint(suffix, text, folder)
            if wrong:
                kind = re.sub(r"'[^']*'|[-+]?\d[\d.e+-]*", "…", wrong)[:160]
                found.setdefault(kind, (seed, wrong, suffix, text))
            loaded += bool(written)
            forms += len(written)
    return found, loaded, forms
