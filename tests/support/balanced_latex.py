"""Whether LaTeX can be typeset, as far as its brackets and environments tell."""

import re


def is_balanced(latex):
    open_ones = []
    for token, kind, name in re.findall(r"(\\(begin|end)\{(\w+)\}|\\\\|\\.|[{}&])", latex, re.DOTALL):
        if kind == "begin" or token == "{":
            open_ones.append(name)
        elif kind == "end" or token == "}":
            if not open_ones or open_ones.pop() != name:
                return False
        elif token in ("&", r"\\") and open_ones and not open_ones[-1]:  # a line cannot end inside braces
            return False
    if re.search(r"\\(?:bigl|bigr|left|right)(?![()\[\]|.]|\\[{}|])", latex):  # without a bracket
        return False
    return not open_ones and latex.count(r"\bigl") == latex.count(r"\bigr")
