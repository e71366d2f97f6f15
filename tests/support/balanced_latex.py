"""Whether LaTeX can be typeset, as far as its brackets and environments tell."""

import re


def is_balanced(latex):
    depth = 0
    for token in re.findall(r"\\.|[{}]", latex, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            return False
    open_ones = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", latex):
        if kind == "begin":
            open_ones.append(name)
        elif not open_ones or open_ones.pop() != name:
            return False
    if re.search(r"\\(?:bigl|bigr|left|right)(?![()\[\]|.]|\\[{}|])", latex):  # without a bracket
        return False
    return depth == 0 and not open_ones and latex.count(r"\bigl") == latex.count(r"\bigr")
