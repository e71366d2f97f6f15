"""Dates and times of day in the cells of text tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

DAY = 86400.0  # s
EPOCH = date(1970, 1, 1).toordinal()
CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?"
    r"\s?(?P<half>[AP]M)?\s?(?P<zone>Z|[+-]\d{2}:?\d{2})?"
)
CALENDAR = (
    r"(?:(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"|(?P<one>\d{1,2})(?P<between>[-/.])(?P<two>\d{1,2})(?P=between)(?P<end>\d{4}|\d{2}))"
)
MOMENT = re.compile(rf"(?:{CALENDAR}(?:[T\s]\s*{CLOCK})?|{CLOCK.replace('?P<', '?P<own_')})", re.IGNORECASE)


def seconds_of(cell: str, *, day_first: bool = False) -> float | None:
    """Return the seconds of a date, since 1970, or of a time of day, since midnight; None for other text. Dates without a time
    zone are in UTC. 04.03.2026 is the fourth of March; so is 04/03/2026 if the ``day`` comes ``first``.

    >>> seconds_of("1970-01-02 00:00:01.5"), seconds_of("00:01:00,25"), seconds_of("soon")
    (86401.5, 60.25, None)
    >>> seconds_of("02.01.1970 00:00:01,5"), seconds_of("1/2/1970 12:00:01 AM"), seconds_of("13/2/1970")
    (86401.5, 86401.0, None)
    """
    if (match := MOMENT.fullmatch(cell.strip())) is None:
        return None
    part = {name.removeprefix("own_"): text for name, text in match.groupdict().items() if text}
    seconds = _time_of_day(part)
    if match["year"] is None and match["one"] is None:
        return seconds
    one, two = part.get("one", "0"), part.get("two", "0")
    day, month = (one, two) if day_first or part.get("between") == "." else (two, one)
    year = int(part.get("year") or part["end"])
    try:
        days = date(year + 2000 * (year < 100), int(part.get("month", month)), int(part.get("day", day))).toordinal() - EPOCH
    except ValueError:  # no such day
        return None
    return None if seconds is None else days * DAY + seconds - _offset(part.get("zone", "Z"))


def day_comes_first(first: Sequence[str], last: Sequence[str], *, usual: bool) -> bool | None:
    """Return whether the day comes before the month in dates such as 03/04/2026, of the cells of the first and of the last row;
    None if there are no such dates.

    It is the reading in which the times increase by less: days in a row are months apart in the other one. Where both are
    the same, as within one day, it is the ``usual`` one.

    >>> day_comes_first(["12/31/2025 23:59:59"], ["1/1/2026 00:00:01"], usual=True)
    False
    """
    ends = [(a, b) for a, b in zip(first, last, strict=False) if _is_unclear(a)]

    def span(way: bool) -> float:
        times = [(seconds_of(a, day_first=way), seconds_of(b, day_first=way)) for a, b in ends]
        steps = [b - a for a, b in times if a is not None and b is not None]
        return sum(steps) if len(steps) == len(ends) and min(steps) >= 0.0 else float("inf")

    possible = [way for way in (usual, not usual) if all(seconds_of(a, day_first=way) is not None for a, _ in ends)]
    return min(possible, key=span) if ends and possible else None


def _is_unclear(cell: str) -> bool:
    match = MOMENT.fullmatch(cell.strip())
    return match is not None and match["between"] in ("/", "-") and (match["hour"] is not None or len(match["end"]) == 4)


def _time_of_day(part: dict[str, str]) -> float | None:
    """Return the seconds since midnight, or None if there is no such time; midnight if none is given."""
    hour, minute = int(part.get("hour", 0)), int(part.get("minute", 0))
    second = float(part.get("second", "0").replace(",", "."))
    if "half" in part:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (part["half"].lower() == "pm")
    return 3600.0 * hour + 60.0 * minute + second if hour < 24 and minute < 60 and second < 60.0 else None


def _offset(zone: str) -> float:
    """Return the seconds of a time zone such as +01:00."""
    if zone in "Zz":
        return 0.0
    size = 3600.0 * int(zone[1:3]) + 60.0 * int(zone[-2:])
    return -size if zone[0] == "-" else size
