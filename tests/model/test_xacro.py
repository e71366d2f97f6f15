"""Xacro files: the same trees as the ROS package xacro gives, and nothing of what its Python expressions would allow."""

from __future__ import annotations

from pathlib import Path

import pytest

import dynamis as dy
from dynamis.model.diagnostics import Report
from dynamis.model.readers.xacro import expand_xacro

HEAD = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
INERTIA = '<inertia ixx="${I}" iyy="${I}" izz="${I}" ixy="0" ixz="0" iyz="0"/>'
ARM = (
    HEAD
    + """
  <xacro:arg name="mass" default="2"/>
  <xacro:arg name="prefix" default=""/>
  <xacro:property name="r" value="0.1"/>
  <xacro:property name="I" value="${0.4 * $(arg mass) * r**2}"/>
  <xacro:macro name="arm_link" params="name mass *origin"><link name="$(arg prefix)${name}"><inertial>
    <xacro:insert_block name="origin"/><mass value="${mass}"/>"""
    + INERTIA
    + """</inertial></link></xacro:macro>
  <link name="base"/>
  <xacro:arm_link name="upper" mass="$(arg mass)"><origin xyz="0 0 ${sin(pi/6)}" rpy="0 0 ${radians(90)}"/></xacro:arm_link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="$(arg prefix)upper"/><axis xyz="0 1 0"/></joint>
</robot>
"""
)
LANGUAGE = {
    "arithmetic": '<a b="${1/3} ${2**0.5} ${7//2} ${-7 % 3} ${1e-3} ${3*2} ${python.abs(-2.0)} ${round(2.567, 1)} ${pi} ${True and 0 or 5}"/>',
    "text": '<a b="$${x} $$(y) $ 5 ${\'q\' + str(3)} ${\'A b\'.lower().split()[1]} a${1}b"/>',
    "lists": '<xacro:property name="l" value="${[1, 2.5, \'x\']}"/><a b="${l[1]} ${len(l)} ${\'x\' in l} ${[i*2 for i in l[:2]]} ${max(l[0], 3)}"/>',
    "strings": """<xacro:property name="l" value="${['x', 'y']}"/><xacro:property name="n" value="arm_a"/>
        <a b="${'%.3f' % 0.12345} ${'%s_%02d%%' % (n, 7)} ${'%(k)5.1e' % dict(k=2)} ${'-'.join(l)} ${'+'.join(str(x) for x in [1, 2])}"/>
        <a b="${n.replace('a', 'b')} ${n.replace('a', 'b', 1)} ${n.upper()} ${n.startswith('arm')} ${n.endswith('b')} ${' q '.strip()}"/>""",
    "keywords": """<a b="${dict(a=1, b=2)['b']} ${dict(a=1, b=2)} ${round(2.567, ndigits=1)} ${sorted([1, 3, 2], reverse=True)}"/>""",
    "literals": '<xacro:property name="p" value="01"/><xacro:property name="s" value="\'x\'"/><xacro:property name="f" value="1_0"/><a b="${p} ${s} ${f}"/>',
    "lazy": '<xacro:property name="u" value="${w + 1}"/><xacro:property name="w" value="2"/><a b="${u}"/>',
    "conditions": '<xacro:property name="on" value="true"/><xacro:if value="${on}"><y/></xacro:if><xacro:unless value="${on}"><n/></xacro:unless><xacro:if value="0"><n/></xacro:if>',
    "defaults": '<xacro:property name="k" value="4"/><xacro:macro name="m" params="a b:=2 c:=^|9 k:=^"><z v="${a} ${b} ${c} ${k}"/></xacro:macro><xacro:m a="1"/><xacro:m a="5" b="6" c="7" k="8"/>',
    "blocks": '<xacro:macro name="m" params="*one **many"><w><xacro:insert_block name="one"/><xacro:insert_block name="many"/></w></xacro:macro><xacro:m><x q="${1+1}"/><y><z/><t/></y></xacro:m>',
    "recursion": '<xacro:macro name="m" params="n"><xacro:if value="${n}"><x n="${n}"/><xacro:m n="${n-1}"/></xacro:if></xacro:macro><xacro:m n="5"/>',
    "scopes": '<xacro:property name="v" value="1"/><xacro:macro name="m" params=""><xacro:property name="v" value="2"/><xacro:property name="g" value="3" scope="global"/><xacro:property name="o" value="4" scope="parent"/></xacro:macro><xacro:m/><a b="${v} ${g} ${o}"/>',
    "calls": '<xacro:macro name="m" params="x"><a b="${x}"/></xacro:macro><xacro:property name="which" value="m"/><xacro:call macro="${which}" x="3"/>',
    "elements": '<a><xacro:attribute name="k" value="${1+2}"/></a><xacro:element xacro:name="e${4}" f="2"/>',
    "argument": '<xacro:arg name="n" default="${1+1}"/><a b="$(arg n) ${int(\'$(arg n)\') + 1} $(eval 2*3)"/>',
    "text of elements": "<a>${1+1} m</a>",
}  # fmt: skip
HOSTILE = {
    "import": "${__import__('os').system('true')}",
    "class": "${().__class__.__base__.__subclasses__()}",
    "comprehension": "${[x.__class__ for x in [1]][0]}",
    "lambda": "${(lambda: 1)()}",
    "format": "${'{0.__class__}'.format(1)}",
    "type": "${python.type(1)}",
    "vars": "${python.vars(math)}",
    "open": "${open('/etc/passwd').read()}",
    "eval": "$(eval __import__('os'))",
    "environment": "$(env HOME)",
    "yaml": "${xacro.load_yaml('/etc/passwd')}",
    "yaml above": "${xacro.load_yaml('../../../../etc/passwd')}",
    "power": "${9**9**9}",
    "repetition": "${'a'*10**10}",
    "range": "${len(range(10**12))}",
    "percent": "${'%1000000000d' % 1}",
    "percent of a precision": "${'%.1000000000f' % 1}",
    "percent of a stated width": "${'%*d' % (1000000000, 1)}",
    "percent of a nested key": "${'%((a))1000000000d' % {'(a)': 1}}",
    "percent after zeros": "${'%0001000000000d' % 1}",
    "many percents": "${('%999d'*200) % tuple([1]*200)}",
    "a percent too long": "${('%999d'*30) % tuple([1]*30)}",
    "attributes by percent": "${'%(__class__)s' % 1}",
    "replacement": "${('a'*15000).replace('a', 'b'*15000)}",
    "replacement of nothing": "${('a'*15000).replace('', 'b'*15000)}",
    "joined strings": "${('a'*15000).join(['b']*5000)}",
    "format by name": "${'{a.__class__}'.format_map(dict(a=1))}",
    "class by getattr": "${getattr(1, '__class__')}",
    "names by stars": "${dict(**{'a': 1})['a']}",
    "key function": "${sorted(['a'], key=len)}",
    "translate": "${'a'.translate({97: 'b'})}",
    "round": "${round(1, -10**9)}",
    "factorial": "${math.factorial(10**6)}",
    "walrus": "${(x := 5)}",
    "long": "${" + "1+" * 3000 + "1}",
    "parentheses": "${" + "(" * 900 + "1" + ")" * 900 + "}",
    "signs": "${" + "-" * 1500 + "1}",
}


def tree(e):
    return (
        e.tag,
        {k: v for k, v in e.attributes.items() if not k.startswith("xmlns")},
        e.text.split(),
        [tree(c) for c in e.children],
    )


def theirs(node):
    text = "".join(c.data for c in node.childNodes if c.nodeType == node.TEXT_NODE).split()
    inner = [theirs(c) for c in node.childNodes if c.nodeType == node.ELEMENT_NODE]
    return node.tagName, {k: str(v) for k, v in node.attributes.items() if not k.startswith("xmlns")}, text, inner


@pytest.mark.parametrize("what", LANGUAGE)
def test_the_tree_is_that_of_the_ros_package(what, save):
    xacro = pytest.importorskip("xacro", reason="xacro is not installed: pip install 'dynamis[test]'")
    path = save(f"{HEAD}{LANGUAGE[what]}</robot>", "r.xacro")
    ours = expand_xacro(path.read_bytes(), str(path), path.parent, {}, Report(str(path))).root
    assert tree(ours) == theirs(xacro.process_file(str(path)).documentElement)


def test_a_xacro_file_loads_with_its_arguments(save):
    path = save(ARM, "arm.urdf.xacro")
    assert dy.load(path).mass_matrix([0.0])[0, 0] == pytest.approx(0.4 * 2 * 0.01 + 2 * 0.25)
    heavy = dy.load(path, xacro_args={"mass": 5, "prefix": "left_"})
    assert heavy.link_names == ("base", "left_upper")
    assert heavy.mass_matrix([0.0])[0, 0] == pytest.approx(0.4 * 5 * 0.01 + 5 * 0.25)
    plain = save(ARM, "arm.urdf")  # macros in a .urdf
    assert dy.load(plain, xacro_args={"mass": 5}).mass_matrix([0.0]) == pytest.approx(heavy.mass_matrix([0.0]))
    with pytest.raises(dy.InputError, match=r"no xacro argument named 'masss'; did you mean 'mass'\?"):
        dy.load(path, xacro_args={"masss": 5})
    with pytest.raises(dy.InputError, match="has no macros"):
        dy.load('<robot name="r"><link name="a"/></robot>', xacro_args={"mass": 5})


def test_included_files_packages_yaml_and_name_spaces(tmp_path, save):
    pytest.importorskip("yaml", reason="PyYAML is not installed: pip install pyyaml")
    package = tmp_path / "ws" / "my_arm"
    (package / "urdf" / "inc").mkdir(parents=True)
    (package / "package.xml").write_text("<package/>")
    (package / "urdf" / "inc" / "parts.xacro").write_text(
        f'{HEAD}<xacro:property name="w" value="7"/><xacro:macro name="one" params="n"><link name="${{n}}_${{w}}"/></xacro:macro></robot>'
    )
    (package / "mass.yaml").write_text("upper: {mass: 3.5, angle: !degrees 180}\n")
    main = package / "urdf" / "arm.xacro"
    main.write_text(
        f"""{HEAD}<xacro:include filename="$(find my_arm)/urdf/inc/parts.xacro" ns="p"/><xacro:include filename="inc/parts.xacro"/>
        <xacro:property name="m" value="${{xacro.load_yaml('$(find my_arm)/mass.yaml')}}"/>
        <xacro:p.one n="a${{p.w}}"/><xacro:one n="b"/><a b="${{m.upper.mass}} ${{m['upper']['angle']}}"/>
        <xacro:include filename="none.xacro" optional="true"/>
        <link name="c"><visual><geometry><mesh filename="file://$(find my_arm)/m.stl"/></geometry></visual></link></robot>"""
    )
    root = expand_xacro(main.read_bytes(), str(main), main.parent, {}, Report(str(main))).root
    assert [c.attributes.get("name") for c in root.children] == ["a7_7", "b_7", None, "c"]
    assert root.children[2].attributes["b"] == "3.5 3.141592653589793"
    assert root.children[3].children[0].children[0].children[0].attributes["filename"] == "package://my_arm/m.stl"
    for name in ("/etc/passwd", "../../../../../../etc/passwd", "$(find no_package)/x.xacro", "*.xacro", "none.xacro"):
        main.write_text(f'{HEAD}\n<xacro:include filename="{name}"/></robot>')
        with pytest.raises(
            dy.FormatError, match=r"arm\.xacro:2: error: file: it includes .* To repair: keep it in the robot's folder"
        ):
            dy.load(main)


def test_findings_name_the_file_and_the_line_of_the_macro(tmp_path, save):
    inc = save(
        f'{HEAD}\n\n<xacro:macro name="m" params="v">\n<link name="l"><inertial><mass value="${{v}}"/></inertial></link></xacro:macro></robot>',
        "inc.xacro",
    )
    path = save(f'{HEAD}<xacro:include filename="inc.xacro"/>\n<xacro:m v="heavy"/></robot>', "arm.xacro")
    report = dy.check(path)
    assert [(Path(p.file), p.line) for p in report.errors[:2]] == [(inc, 4), (inc, 4)]
    assert "'heavy'" in str(report.errors[1]) or "'heavy'" in str(report.errors[0])
    wrong = save(f'{HEAD}\n\n<a b="${{r * 2}}"/></robot>', "arm.xacro")
    with pytest.raises(dy.FormatError, match=r"arm\.xacro:3: .*the name 'r' is not defined.*To repair: define it"):
        dy.load(wrong)


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_expressions_are_refused_with_file_line_and_cure(what, refused):
    error = refused(f'{HEAD}\n<link name="{HOSTILE[what].replace("<", "&lt;")}"/></robot>', "r.xacro")
    assert isinstance(error, dy.FormatError)
    assert "r.xacro:2: error" in str(error)
    assert "To repair: " in str(error)


@pytest.mark.parametrize("body", [
    '<xacro:macro name="m" params=""><xacro:m/></xacro:macro><xacro:m/>',
    '<xacro:macro name="m" params="n"><xacro:m n="${n+1}"/><xacro:m n="${n+1}"/></xacro:macro><xacro:m n="0"/>',
    "".join(f'<xacro:macro name="m{k}" params=""><xacro:m{k + 1}/><xacro:m{k + 1}/></xacro:macro>' for k in range(60)) + '<xacro:macro name="m60" params=""><link/></xacro:macro><xacro:m0/>',
    '<xacro:property name="p0" value="xxxxxxxxxx"/>' + "".join(f'<xacro:property name="p{k + 1}" value="${{p{k}}}${{p{k}}}"/>' for k in range(60)) + '<a b="${p60}"/>',
    '<xacro:property name="p0" value="${[1, 1]}"/>' + "".join(f'<xacro:property name="p{k + 1}" value="${{[p{k}, p{k}]}}"/>' for k in range(60)) + '<a b="${p60}"/>',
    '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/><c d="${a}"/>',
    '<xacro:include filename="r.xacro"/>',
    "<xacro:nothing/>", "<xacro:if/>", '<xacro:if value="maybe"/>', '<xacro:property name="a b" value="1"/>', '<xacro:insert_block name="x"/>',
    '<xacro:macro name="m" params="a"/><xacro:m/>', '<xacro:macro name="m" params=""/><xacro:m z="1"/>', '<xacro:call/>', "<xacro:include/>",
])  # fmt: skip
def test_endless_and_faulty_macros_are_refused_in_bounded_time(body, refused):
    assert isinstance(refused(f"{HEAD}{body}</robot>", "r.xacro"), dy.FormatError)


def test_arguments_that_are_no_mapping_are_refused(tmp_path):
    file = tmp_path / "arm.urdf.xacro"
    file.write_text('<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"/></robot>')
    with pytest.raises(dy.InputError, match="must be a mapping"):
        dy.load(file, xacro_args=["a"])


@pytest.mark.parametrize("inside", ["", "<xacro:macro name='arm' params='p'><link name='${p}link'/></xacro:macro>"])
def test_a_file_whose_macro_is_never_called_says_so(inside):
    text = f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{inside}</robot>'
    (problem,) = dy.check(text).errors
    assert "macro was probably defined but not called" in problem.found
    assert "call the macro" in problem.repair
    (plain,) = dy.check('<robot name="r"/>').errors
    assert plain.repair == "add a link"
