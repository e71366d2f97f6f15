"""Closed forms: exact symbolic equations of motion in textbook form.

In the order of processing: `angles` and `ring` (exact arithmetic with decidable equality), `budget` (limits of time and size),
`closed_form` with `equations`, `parameters`, `base_parameters` and `compact` (all terms), `expression` (one entry),
`trig_rewriting` and `arrangement` (textbook form) with `roles` and `notation` (symbols of a course), `printing`, `factored`,
`nested` and `sympy_form` (text, common subexpressions, graph, SymPy). Built on them: `derivation`, `equivalence`.
"""
