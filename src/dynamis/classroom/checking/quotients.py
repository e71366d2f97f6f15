"""Mistakes in quotients."""

from __future__ import annotations

from dynamis.classroom.checking.causes import Cause


def over(cause: Cause, denominator: str) -> Cause:
    """The cause of an error in the terms of numerators over a common denominator."""
    return Cause(f"{cause.text} (over the denominator {denominator})", f"{cause.hint} (over the common denominator)")


def divisor_too_many(written: str) -> Cause:
    """The cause where the correct entry is divided by an expression."""
    message = f"a divisor too many: {written}"
    return Cause(message, message)


def missing_divisor(written: str) -> Cause:
    """The cause where the correct entry is a quotient, and the answer its dividend."""
    return Cause(f"a missing divisor: {written}", "a divisor is missing")
