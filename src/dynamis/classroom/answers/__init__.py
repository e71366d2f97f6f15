"""Parsing of students' answers: formulas in LaTeX or plain text, as named entries of expressions.

In the order of processing: `source`, `words` and `tokens` (lexer, with `latex` for commands), `layout` (extent of formulas) and
`chains` (definitions), `names` and `grammar` (syntax trees), `tree` and `decimals` (evaluation), `rules` (order), `reading`
(the complete parser) and `answer` (the result); `refusals` has errors about whole formulas.
"""

from dynamis.classroom.answers.answer import Answer, Located, Step
from dynamis.classroom.answers.decimals import DECIMAL, Decimals, has_rounded
from dynamis.classroom.answers.reading import parse_answer
from dynamis.classroom.answers.vocabulary import KnownNumber, Vocabulary

__all__ = ["DECIMAL", "Answer", "Decimals", "KnownNumber", "Located", "Step", "Vocabulary", "has_rounded", "parse_answer"]
