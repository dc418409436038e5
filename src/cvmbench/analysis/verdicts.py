"""Verdicts in words: does an arm cost more than one cares about?

A verdict compares the interval of the overhead with a practical threshold of T percent:

- `worse`: the whole interval lies above +T. The arm costs more than T percent.
- `better`: the whole interval lies below -T.
- `same within T%`: the whole interval lies between -T and +T.
- `cannot tell yet`: the interval crosses a threshold, or there is none. An interval that leaves
  out zero but crosses T stays here: that there is a difference is known, that it matters is not.
  The reason says so, with the most it can be.

So `worse` never rests on a point estimate alone, and with no true difference it is rarer than one
interval in twenty by construction. Compare Schuirmann's two one-sided tests (1987) for `same`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from cvmbench.analysis.ratio import overhead_interval
from cvmbench.analysis.welch import Spread, difference, half_widths_with_more
from cvmbench.units import Better

DEFAULT_THRESHOLD_PERCENT = 2.0
"""Below this many percent a difference is of no practical account."""

PRACTICABLE_BOOTS = 1000
"""More further boots than this are not forecast: nobody would run them."""


class Verdict(StrEnum):
    """What an interval says against the practical threshold."""

    WORSE = "worse"
    BETTER = "better"
    SAME = "same"
    CANNOT_TELL = "cannot tell yet"


@dataclass(frozen=True, slots=True)
class Interval:
    """Overhead in percent, positive = worse; `low <= high`, `high` may be infinite."""

    low: float
    high: float


def judge(interval: Interval, threshold_percent: float) -> Verdict:
    """The verdict on `interval` by the rule of this module."""
    if interval.low > threshold_percent:
        return Verdict.WORSE
    if interval.high < -threshold_percent:
        return Verdict.BETTER
    if -threshold_percent <= interval.low and interval.high <= threshold_percent:
        return Verdict.SAME
    return Verdict.CANNOT_TELL


def boots_needed(
    x: Spread, b: Spread, better: Better, *, threshold_percent: float, level: float
) -> int | None:
    """About how many more boots of each arm would bring a verdict.

    `x` and `b` are spreads of log boot means, two boots or more each. The rule: suppose that the
    means and variances measured so far stay what they are; the answer is the smallest number of
    further boots, the same on both sides and at least 1, at which the interval would give another
    verdict than `cannot tell yet`. It is a forecast, not a promise: the estimate moves too.

    None if `PRACTICABLE_BOOTS` would not do: the difference lies too close to the threshold.
    """
    more = np.arange(1, PRACTICABLE_BOOTS + 1, dtype=np.float64)
    half_widths = half_widths_with_more(x, b, more, level)
    point = difference(x, b).point
    ends = overhead_interval(np.full_like(more, point), half_widths, better)
    low, high = ends
    decided = (
        (low > threshold_percent)
        | (high < -threshold_percent)
        | ((low >= -threshold_percent) & (high <= threshold_percent))
    )
    return int(more[np.argmax(decided)]) if bool(decided.any()) else None
