"""Limits of codes on age, as the official metadata states them (fields 20 to 24)."""

from __future__ import annotations

from typing import Final

DAYS_PER_YEAR: Final = 365


def limit_days(limit: str) -> int:
    """An age limit of the metadata in days: "t028" -> 28 completed days, "j015" -> 15 completed years."""
    number = int(limit[1:])
    return number if limit[0] == "t" else number * DAYS_PER_YEAR


def outside(age_days: int, low: str | None, high: str | None) -> bool:
    """True if an age (completed years count 365 days each) lies outside the limits; a limit in years includes its
    whole last year."""
    if low is not None and age_days < limit_days(low):
        return True
    if high is None:
        return False
    last = limit_days(high) + (DAYS_PER_YEAR - 1 if high[0] == "j" else 0)
    return age_days > last
