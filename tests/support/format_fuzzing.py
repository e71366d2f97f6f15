"""Xacro, SDF and MJCF files, sound ones broken at random: loaded, or refused in our words, in bounded time."""

from __future__ import annotations

import importlib.util
import random
import time
import warnings
from pathlib import Path

import dynamis as dy

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
XACRO = f"""{HEAD}
<xacro:arg name="mass" default="2"/>
<xacro:property name="r" value="0.1"/>
<xacro:property name="I" value="${{0.4 * $(arg mass) * r**2}}"/>
<xacro:property name="names" value="${{['upper', 'fore']}}"/>
<xacro:macro name="part" params="name mass:=1 *origin">
<link name="${{name}}"><inertial><xacro:insert_block name="origin"/><mass value="${{mass}}"/>
<inertia ixx="${{I}}" iyy="${{I}}" izz="${{I}}" ixy="0" ixz="0" iyz="0"/></inertial></link>
</xacro:macro>
<link name="base"/>
<xacro:part name="${{names[0]}}" mass="$(arg mass)"><origin xyz="0 0 ${{sin(pi/6)}}"/></xacro:part>
<xacro:if value="${{len(names) > 1}}">
<xacro:part name="fore"><origin xyz="0 0 0.1"/></xacro:part>
<joint name="elbow" type="prismatic"><parent link="upper"/><child link="fore"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</xacro:if>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 ${{2 - 1}} 0"/></joint>
</robot>
"""
SDF = """<sdf version="1.9">
<model name="m">
<frame name="tool" attached_to="arm::tip"><pose>0 0 0.1 0 0 0</pose></frame>
<frame name="mount"><pose>1 2 3 0 0 1.57</pose></frame>
<link name="base"><inertial><mass>1</mass></inertial></link>
<model name="arm"><pose relative_to="mount">0 0 0 0 0 0</pose>
<link name="tip"><pose>0 0 1 0 0 0</pose><inertial><pose>0.5 0 0 0 0 0</pose><mass>2</mass></inertial>
<visual name="v"><geometry><capsule><radius>1</radius><length>2</length></capsule></geometry></visual></link>
</model>
<link name="last"><pose relative_to="slide">0 0 0 0 0 0</pose><inertial><mass>0.5</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
<joint name="hinge" type="revolute"><parent>base</parent><child>arm::tip</child>
<axis><xyz expressed_in="base">0 1 0</xyz><limit><lower>-1</lower><upper>2</upper></limit><dynamics><damping>0.1</damping></dynamics></axis>
</joint>
<joint name="slide" type="prismatic"><pose relative_to="arm::tip">0 0 0.2 0 0 0</pose><parent>arm::tip</parent><child>last</child>
<axis><xyz>0 0 1</xyz></axis></joint>
<joint name="hold" type="fixed"><parent>world</parent><child>base</child></joint>
</model>
</sdf>
"""
MJCF = """<mujoco model="small">
<compiler angle="radian"/>
<option gravity="0 1 -9"/>
<worldbody>
<body name="cart" pos="0.1 0.2 0.3" euler="0.1 0.2 0.3">
<joint name="x" type="slide" axis="1 0 0" ref="0.2" range="-1 1" stiffness="3"/>
<joint name="turn" axis="0 1 1" pos="0.1 0 0.05" frictionloss="0.2" armature="0.1"/>
<geom type="box" size="0.1 0.2 0.05" mass="2" pos="0.03 0.02 0.01"/>
<site name="grip" pos="0 0 0.1"/>
<body name="ball" pos="0 0 0.2">
<joint name="socket" type="ball"/>
<geom type="capsule" size="0.03 0.1" mass="0.5"/>
</body>
</body>
</worldbody>
</mujoco>
"""
TEXTS = {"xacro": XACRO, "sdf": SDF, "mjcf": MJCF}
PIECES = (
    "nan", "inf", "1e400", "-1", "0", "1e308", "1,5", "", " ", "9" * 300, "<", ">", "&", "&#0;", "\x00", "../../x", "base", "upper", "arm::tip", "__model__",
    "world", "tip", "fixed", "free", "ball", "universal", "revolute2", "screw", "gearbox", "hinge", "<link/>", "</robot>", "<model name='arm'>", "<frame/>",
    "<xacro:part/>", "<xacro:include filename='/etc/passwd'/>", "<xacro:include filename='robot.xacro'/>", "<xacro:m/>", "${", "}", "$(", ")", "$(find x)",
    "${names}", "${[1]*9**9}", "${().__class__}", "${part}", "${xacro.load_yaml('x')}", "$(arg", "*", "**origin", "^|", "1.9", "0 0 0", "0 0 0 0 0 0", "<!DOCTYPE r>",
    "<include><uri>model://x</uri></include>", "<include file='/etc/passwd'/>", "<include file='robot.mjcf'/>", "<replicate count='100000000'>", "</replicate>",
    "<replicate count='300'/>", "<size nkey='100000000' memory='1E'/>", "<flexcomp name='f' count='999 999 999'/>", "<asset><model file='robot.mjcf'/></asset>",
    "<asset><texture name='t' builtin='flat' width='100000000' height='100000000'/></asset>", "<attach model='small' prefix='p'/>", "<key/>", "name", "]]>", "\U0001f916",
)  # fmt: skip
SECONDS = 5.0  # of processor time for one file


def broken(seed, text):
    """The text with up to four edits; every eighth is whole."""
    rng = random.Random(seed)
    for _ in range(rng.randint(0, 4) if seed % 8 else 0):
        lines = text.split("\n")
        k, j, at = rng.randrange(len(lines)), rng.randrange(len(lines)), rng.randrange(len(text) + 1)
        match rng.randrange(7):
            case 0:
                del lines[k]
            case 1:
                lines.insert(k, lines[j])
            case 2:
                lines[k], lines[j] = lines[j], lines[k]
            case 3 | 4:
                parts = lines[k].split('"')
                if len(parts) > 1:
                    parts[rng.randrange(len(parts) // 2) * 2 + 1] = rng.choice(PIECES)
                    lines[k] = '"'.join(parts)
            case 5:
                lines = (text[:at] + rng.choice(PIECES) + text[at + rng.randint(0, 5) :]).split("\n")
            case 6:
                word = rng.choice(
                    ("upper", "base", "arm", "tip", "0", "1", "mass", "name", "joint", "xacro:", "part", "origin")
                )
                lines = text.replace(word, rng.choice(PIECES)).split("\n")
        text = "\n".join(lines)
    return text


def check(kind, seeds, folder):
    """(complaints, accepted) of the files of these seeds."""
    if kind == "mjcf" and importlib.util.find_spec("mujoco") is None:
        return [], 0
    path, complaints, accepted = Path(folder) / f"robot.{kind}", [], 0
    for seed in seeds:
        path.write_bytes(broken(seed, TEXTS[kind]).encode("utf-8", "surrogatepass"))
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", dy.ModelWarning)
                ok = dy.check(path).ok
                try:
                    dy.load(path).write(path.with_name("again.toml"))
                    accepted += 1
                    if not ok:
                        complaints.append((seed, "check finds errors in a file that loads"))
                except dy.ConversionError:
                    pass
                except dy.DynamisError as error:
                    if ok:
                        complaints.append((seed, f"check finds no error, load: {error}"[:300]))
        except dy.DynamisError:
            pass  # a file without problems of its own, such as one that is not there
        except Exception as error:
            complaints.append((seed, f"{type(error).__name__}: {error}"[:300]))
        if time.process_time() - start > SECONDS:
            complaints.append((seed, "slow"))
    return complaints, accepted
