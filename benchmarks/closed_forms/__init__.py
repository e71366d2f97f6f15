"""Equations of motion in closed form: how long they take to derive, how long they are, and what the recursions need."""
