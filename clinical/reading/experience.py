"""Experience with codes: how often each was right where tier 1 put it first for texts that people wrote and coded.

A code stands for much that search cannot see: "Schmerz" (R52.9) is mostly coded by what else the text says, a
hypertension never is. So the second stage of calibration sees how often a code was right, and how often it was for
these very words; both shares lean on what is known in general (empirical Bayes, Robbins 1956) where they were seldom
seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log, log1p
from typing import Final, NamedTuple

OF_EXPERIENCE: Final = ("code_right", "words_right", "words_times")
"""Columns: the logit of the share of times that the code was right; the same for these words; log(1 + times seen)."""
CODE_LEANS, WORDS_LEAN = 4.0, 2.0
"""Times that the share of a code counts as all codes', and that of words as their code's; 1 and 4 are as good."""


class TimesRight(NamedTuple):
    """Times that something was seen, and how often it was right."""

    right: int
    times: int

    def share(self, prior: float, leans: float) -> float:
        """The share of right ones, leaning on a prior that counts as so many times."""
        return (self.right + leans * prior) / (self.times + leans)


_NEVER: Final = TimesRight(0, 0)


@dataclass(frozen=True)
class Experience:
    """Codes as they were seen: of codes by themselves (the words are ""), and of words for which a code was first."""

    seen: Mapping[tuple[str, str], TimesRight] = field(default_factory=dict)

    @cached_property
    def share(self) -> float:
        """The share of first codes that were right; half of none."""
        own = [one for (words, _), one in self.seen.items() if not words]
        return TimesRight(sum(one.right for one in own), sum(one.times for one in own)).share(0.5, 2)

    def columns(self, said: Sequence[str], code: str) -> tuple[float, float, float]:
        """The columns OF_EXPERIENCE of a code that is first for these folded words."""
        alone, here = self.seen.get(("", code), _NEVER), self.seen.get((" ".join(said), code), _NEVER)
        general = alone.share(self.share, CODE_LEANS)
        return _logit(general), _logit(here.share(general, WORDS_LEAN)), log1p(here.times)

    def lines(self) -> Iterator[str]:
        """Yield it line by line: words, code, right, times, between tabs."""
        for (words, code), one in sorted(self.seen.items()):
            yield f"{words}\t{code}\t{one.right}\t{one.times}"

    @classmethod
    def of_lines(cls, lines: Iterable[str]) -> Experience:
        """Read what `lines` gave. Raises ValueError for a line of another form."""
        rows = (line.split("\t") for line in lines)
        return cls({(words, code): TimesRight(int(right), int(times)) for words, code, right, times in rows})

    def with_more(self, told: Iterable[tuple[str, str, bool]]) -> Experience:
        """This, and (words, code, whether it was right) seen since."""
        right, times = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for words, code, is_right in told:
            for key in (("", code), (words, code)):
                times[key] += 1
                right[key] += is_right
        more = {key: TimesRight(right[key], count) for key, count in times.items()}
        for key, one in self.seen.items():
            other = more.get(key, _NEVER)
            more[key] = TimesRight(one.right + other.right, one.times + other.times)
        return Experience(more)

    def only(self, kept: Iterable[tuple[str, str]]) -> Experience:
        """This with none but these words of a code; codes by themselves stay."""
        some = set(kept)
        return Experience({key: one for key, one in self.seen.items() if not key[0] or key in some})


def _logit(share: float) -> float:
    """Finite: no share is 0 or 1, for each leans on another."""
    return log(share / (1 - share))
