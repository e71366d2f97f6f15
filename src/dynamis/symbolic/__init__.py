"""Closed forms: the equations of motion as a textbook prints them, derived and proven.

In the order in which a formula passes through: `angles` and `ring` (exact arithmetic, where equality is decided), `budget` (how
much of it), `closed_form` with `equations`, `parameters`, `base_parameters` and `compact` (every term), `expression` (one of
them), `dressing` and `arrangement` (as a course would write it) with `roles` and `notation` (in whose letters), `printing`,
`factored`, `nested` and `sympy_form` (as text, named parts, graph, SymPy). Built on them: `derivation`, `answers` (reading a
student's formulas), `checking` (telling right from wrong), `equivalence`.
"""
