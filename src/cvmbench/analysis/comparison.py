"""Comparing one arm's boots with another's: the overhead, its interval, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cvmbench.analysis.ratio import overhead_interval, overhead_percent
from cvmbench.analysis.verdicts import (
    DEFAULT_THRESHOLD_PERCENT,
    Interval,
    Verdict,
    boots_needed,
    judge,
)
from cvmbench.analysis.welch import Spread, difference
from cvmbench.units import Better

DEFAULT_LEVEL = 0.95

Floats = NDArray[np.float64]


class EstimateStatus(StrEnum):
    """Whether there is a number, and how much of one."""

    ESTIMATED = "estimated"
    NO_INTERVAL = "no interval"
    """A point, but a side with a single boot: nothing is known of its variance."""
    NO_DATA = "no data"
    """No boot of the arm, or of the baseline, gave a value."""
    NOT_POSITIVE = "not positive"
    """Zero, negative or overflowing boot values: ratios and logarithms mean nothing."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Overhead of one side against another, from log boot means.

    Percentages are positive where the arm is worse. `low` and `high` are the ends of Welch's
    interval at `level` on log boot means, carried over to percent. A field is None where `status`
    says that there is no such number; `reason` then says why, and carries the honest remark where
    the verdict alone would hide something.
    """

    boots: int
    baseline_boots: int
    overhead_percent: float | None
    low: float | None
    high: float | None
    level: float
    threshold_percent: float
    verdict: Verdict
    boots_needed: int | None
    """About how many more boots of each arm a verdict needs; None unless `cannot tell yet`, or if
    no practicable number would do."""
    status: EstimateStatus
    reason: str
    standard_error: float | None = None
    """Of the difference of log means; with the degrees of freedom, all that a p-value needs."""
    degrees_of_freedom: float | None = None


def compare(
    x: Floats,
    b: Floats,
    better: Better,
    *,
    arm: str,
    baseline: str,
    threshold_percent: float = DEFAULT_THRESHOLD_PERCENT,
    level: float = DEFAULT_LEVEL,
) -> Comparison:
    """Overhead of boot values `x` (of `arm`) against `b` (of `baseline`), each one-dimensional.

    Never raises for data: no values, a single one, or values without a logarithm are statuses.
    """
    for name, values in ((arm, x), (baseline, b)):
        if not bool(np.all(np.isfinite(values) & (values > 0))):
            return _without_number(
                x, b, EstimateStatus.NOT_POSITIVE,
                f"{name} has boot values that are zero, negative or too large, so there is no "
                "ratio to speak of.", threshold_percent, level,
            )  # fmt: skip
    return compare_logs(
        np.log(x), np.log(b), better, arm=arm, baseline=baseline,
        threshold_percent=threshold_percent, level=level,
    )  # fmt: skip


def compare_logs(
    x: Floats,
    b: Floats,
    better: Better,
    *,
    arm: str,
    baseline: str,
    threshold_percent: float,
    level: float,
) -> Comparison:
    """As `compare`, for values that are logarithms already."""
    for name, values in ((baseline, b), (arm, x)):
        if len(values) == 0:
            return _without_number(
                x, b, EstimateStatus.NO_DATA, f"No boot of {name} gave a value.",
                threshold_percent, level,
            )  # fmt: skip
    spread_x, spread_b = Spread.of(x), Spread.of(b)
    single = [name for name, values in ((arm, x), (baseline, b)) if len(values) == 1]
    if single:
        return Comparison(
            boots=len(x), baseline_boots=len(b),
            overhead_percent=overhead_percent(spread_x.mean - spread_b.mean, better),
            low=None, high=None, level=level, threshold_percent=threshold_percent,
            verdict=Verdict.CANNOT_TELL, boots_needed=1, status=EstimateStatus.NO_INTERVAL,
            reason=f"A single boot of {' and of '.join(single)} says nothing about how boots vary.",
        )  # fmt: skip
    welch = difference(spread_x, spread_b)
    low, high = overhead_interval(
        np.asarray([welch.point]), np.asarray([welch.half_width(level)]), better
    )
    interval = Interval(float(low[0]), float(high[0]))
    comparison = Comparison(
        boots=len(x), baseline_boots=len(b),
        overhead_percent=overhead_percent(welch.point, better),
        low=interval.low, high=interval.high, level=level, threshold_percent=threshold_percent,
        verdict=judge(interval, threshold_percent), boots_needed=None,
        status=EstimateStatus.ESTIMATED, reason="",
        standard_error=welch.standard_error, degrees_of_freedom=welch.degrees_of_freedom,
    )  # fmt: skip
    if comparison.verdict is not Verdict.CANNOT_TELL:
        return comparison
    return replace(
        comparison,
        boots_needed=boots_needed(
            spread_x, spread_b, better, threshold_percent=threshold_percent, level=level
        ),
        reason=_known_so_far(interval, threshold_percent),
    )


def _known_so_far(interval: Interval, threshold: float) -> str:
    """What an undecided interval says beyond its ends: that there is a difference at all."""
    if interval.low > 0:
        return (
            f"Worse by {interval.low:.2g}% to {interval.high:.3g}%; "
            f"whether by more than {threshold:g}% is open."
        )
    if interval.high < 0:
        return (
            f"Better by {-interval.high:.2g}% to {-interval.low:.3g}%; "
            f"whether by more than {threshold:g}% is open."
        )
    return ""


def _without_number(
    x: Floats, b: Floats, status: EstimateStatus, reason: str, threshold: float, level: float
) -> Comparison:
    return Comparison(
        boots=len(x), baseline_boots=len(b), overhead_percent=None, low=None, high=None,
        level=level, threshold_percent=threshold, verdict=Verdict.CANNOT_TELL, boots_needed=None,
        status=status, reason=reason,
    )  # fmt: skip
