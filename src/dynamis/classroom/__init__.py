"""Exercises: parsing of answers, and checking them against the closed form."""
