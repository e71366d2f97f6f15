"""Students' answers: formulas in LaTeX or plain text, read into named entries of expressions.

In the order in which the text passes through: `source`, `words` and `tokens` (with `latex`, the meaning of commands),
`layout` (where formulas end) and `chains` (what they define), `names` and `grammar` (their trees), `tree` (their values),
`reading` (all of it) and `answer` (the result).
"""

from dynamis.symbolic.answers.answer import Answer, Located
from dynamis.symbolic.answers.reading import parse_answer
from dynamis.symbolic.answers.vocabulary import Vocabulary

__all__ = ["Answer", "Located", "Vocabulary", "parse_answer"]
