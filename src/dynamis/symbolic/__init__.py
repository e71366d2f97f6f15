"""Closed forms: the equations of motion as a textbook prints them, derived and proven."""
