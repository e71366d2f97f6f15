"""The meaning of LaTeX commands and Unicode characters in a formula."""

from __future__ import annotations

from dynamis.classroom.answers.unit_factors import WORDS


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon"
    " phi chi psi omega"
)
_LOWER = "αβγδεζηθικλμνξοπρστυφχψω"
_UPPER = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"

# a Greek letter is its name, however it is written
GREEK_LETTER: dict[str, str] = {
    **dict(zip(_LOWER, _GREEK.split(), strict=True)),
    **dict(zip(_UPPER, (name.capitalize() for name in _GREEK.split()), strict=True)),
    "ϑ": "theta", "ϕ": "phi", "ϵ": "epsilon", "ς": "sigma", "ϱ": "rho", "µ": "mu", "ℓ": "l",
}  # fmt: skip
GREEK_COMMAND: dict[str, str] = {
    **{name: name for name in GREEK_LETTER.values()},
    "vartheta": "theta", "varphi": "phi", "varepsilon": "epsilon", "varrho": "rho", "ell": "l", "imath": "i", "top": "T",
}  # fmt: skip

# accents, as commands and as combining characters: a dot is a prime
ACCENT_COMMAND = {
    "dot": "'", "ddot": "''", "tilde": "~", "widetilde": "~", "bar": "¯", "overline": "¯", "hat": "ˆ", "widehat": "ˆ",
}  # fmt: skip
ACCENT_MARK = {"\u0307": "'", "\u0308": "''", "\u0303": "~", "\u0304": "¯", "\u0305": "¯", "\u0302": "ˆ"}
PRIME = {"'": "'", "’": "'", "′": "'", "″": "''"}

# commands that change only how their argument looks
STYLE = _set(
    "mathbf boldsymbol bm mathrm mathit mathsf mathtt mathcal mathscr mathbb mathnormal operatorname vec underline textrm"
    " textbf textit mathop"
)
TEXT = _set("text mbox intertext shortintertext")
REMARK = TEXT | _set("label tag ref eqref hspace vspace color")
# a text made of these is a unit, which belongs to the number before it; other texts with letters are prose
UNIT = WORDS
BOX = _set("boxed fbox")  # around a formula
BRACE = _set("underbrace overbrace")  # with a label after the argument
SI_UNIT = _set("unit si")  # commands of siunitx, with the unit as argument; those of SI_NUMBER have a number before it
SI_NUMBER = _set("SI qty num ang")
SPACE = _set(
    ", ; : ! > / thinspace displaystyle textstyle scriptstyle limits nolimits hline nonumber notag left right bigl bigr Bigl"
    " Bigr biggl biggr Biggl Biggr big Big bigg Bigg bf rm it noindent centering"
) | {" ", "\n"}
SOFT = _set("quad qquad enspace hfill hskip")
BREAK = _set("Rightarrow implies Longrightarrow iff Leftrightarrow rightarrow to item par [ ]")
# a member with one of these is a step of a derivation, not an expression
STEP = _set("partial sum int iint iiint oint prod nabla dots ldots cdots vdots ddots lim forall infty")

SIGN_COMMAND = {
    "cdot": "*", "times": "*", "ast": "*", "star": "*", "bullet": "*", "div": "/", "equiv": "=", "triangleq": "=",
    "coloneqq": "=", "doteq": "=", "approx": "=", "simeq": "=",
}  # fmt: skip
SIGN = {
    "+": "+", "-": "-", "−": "-", "–": "-", "*": "*", "∗": "*", "•": "*", "·": "*", "⋅": "*", "×": "*", "/": "/", "÷": "/",
    "^": "^", "=": "=", "≡": "=", "≈": "=", "?": "?",
}  # fmt: skip
DOT = frozenset({r"\cdot", "·", "⋅", "•", r"\bullet"})  # between two vectors, their scalar product
LONG_SIGN = {"**": "^", ".*": "*", "./": "/", ".^": "^", ":=": "=", "==": "="}
POWER = {c: str(k) for k, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
TRANSPOSE = frozenset("ᵀ⊤")
SUBSCRIPT = {
    **{c: str(k) for k, c in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **dict(zip("ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ", "aeoxhklmnpstijruv", strict=True)),
}
# what stands below the diagonal of a symmetric matrix in place of an entry
SYMMETRIC = frozenset({"sym", "symm", "sym.", "symm.", "symmetric", "symmetrical", "sim.", "simm.", "*", "."})
CONSTANT = frozenset({"const", "const.", "constant", "cost.", "costante"})  # a free constant, as in U + const
FRACTION = {"½": "0.5", "¼": "0.25", "¾": "0.75"}
BAR = _set("vert lvert rvert mid")
NORM = _set("| Vert lVert rVert")
BRACKET_COMMAND = {
    "{": "\\{", "}": "\\}", "lbrace": "\\{", "rbrace": "\\}", "lbrack": "[", "rbrack": "]", "lparen": "(", "rparen": ")",
}  # fmt: skip
CLOSING = {"(": ")", "[": "]", "{": "}", "\\{": "\\}"}
FRAC = _set("frac dfrac tfrac cfrac nicefrac sfrac")
FUNCTION = _set("sin cos tan sec csc cot arcsin arccos exp ln log tanh max min sgn sign diag sen tg cotg ctg arcsen")
GREEK_FUNCTION = {"ημ": "sin", "συν": "cos", "εφ": "tan", "σφ": "cot"}

MATRIX = _set("matrix bmatrix pmatrix Bmatrix vmatrix Vmatrix smallmatrix array")
WITH_COLUMNS = _set("array alignat alignat* alignedat tabular")
ALIGNED = _set(
    "align align* aligned alignat alignat* alignedat split gather gather* gathered multline multline* eqnarray eqnarray*"
    " equation equation* cases displaymath math document center"
)
