"""Long equations are broken into lines, inside the brackets of long terms too."""

from balanced_latex import is_balanced

from dynamis.documents.blocks import MAX_LINE_CHARACTERS, equation


def test_a_term_longer_than_a_line_is_broken_inside_its_brackets():
    inside = " + ".join(f"0.123456 q_{k}^2 c_{k}" for k in range(12))
    for opening, closing in (("(", ")"), (r"\left(", r"\right)"), (r"\bigl(", r"\bigr)")):
        made = equation(r"\tau_1", rf"- 2 {opening}a_1 + \frac{{b + c}}{{d}} - (e + f) + {inside}{closing} \ddot{{q}}_1 + g_1")
        lines = made.splitlines()[1:-1]
        assert len(lines) > 2
        assert max(map(len, lines)) <= MAX_LINE_CHARACTERS + 30
        assert made.count(r"\bigl(") == made.count(r"\bigr)") == 1
        assert r"\left" not in made
        assert is_balanced(made)
        joined = " ".join(line.removeprefix("&").removesuffix(r"\\").strip() for line in lines)
        assert joined.replace(r"\bigl(", opening).replace(r"\bigr)", closing).endswith(rf"c_11{closing} \ddot{{q}}_1 + g_1")


def test_a_long_numerator_is_broken_in_brackets_behind_the_fraction():
    inside = " + ".join(f"m_{k} (l_{k}^2 + a_{k}^2) c_{k}" for k in range(12))
    made = equation(r"\hat m_1", rf"I_1 + 2 \frac{{{inside}}}{{m_2 l_2^2 + J_2}} s_2")
    assert is_balanced(made)
    joined = " ".join(line.removeprefix("&").removesuffix(r"\\").strip() for line in made.splitlines()[1:-1])
    assert joined == rf"\hat m_1 ={{}}& I_1 + 2 \frac{{1}}{{m_2 l_2^2 + J_2}}\,\bigl({inside}\bigr) s_2"


def test_a_long_product_in_brackets_is_broken_inside():
    inside = " + ".join(f"m_{k} l_{k}^2 a_{k} q_{k}" for k in range(12))
    made = equation("x", rf"a_1 \bigl(- b_1 ({inside}) c_2\bigr)")
    assert max(map(len, made.splitlines())) <= MAX_LINE_CHARACTERS + 30
    assert is_balanced(made)
    assert made.count(r"\bigl(") == made.count(r"\bigr)") == 2
