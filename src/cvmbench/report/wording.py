"""How estimates and statuses read: the same words in the terminal, in charts and on pages."""

from __future__ import annotations

import math

from cvmbench.analysis.comparison import Comparison, EstimateStatus
from cvmbench.analysis.verdicts import Verdict

FUNCTIONAL = "functional (TCG): tries the tool, not a measurement of hardware"
"""The mark on every number taken without hardware virtualisation."""

NO_NUMBER = "–"

_LARGEST_PERCENT = 9999.5
"""Larger overheads are told as such: their digits would mean nothing."""


def percent(value: float | None) -> str:
    """An overhead with its sign: `+12.3%`, `−0.4%`, `0.0%`; a dash for None.

    Three significant digits from 100% on, one decimal below.
    """
    if value is None:
        return NO_NUMBER
    if abs(value) >= _LARGEST_PERCENT:
        return f"{'+' if value > 0 else '−'}>{_LARGEST_PERCENT + 0.5:,.0f}%"
    digits = 0 if abs(value) >= 99.95 else 1
    size = f"{abs(value):,.{digits}f}"
    if float(size.replace(",", "")) == 0:
        return f"{size}%"
    return f"{'+' if value > 0 else '−'}{size}%"


def interval(comparison: Comparison) -> str:
    """The interval of an overhead: `+10.1 to +14.5%`; a dash where there is none."""
    if comparison.low is None or comparison.high is None:
        return NO_NUMBER
    return f"{percent(comparison.low).removesuffix('%')} to {percent(comparison.high)}"


def threshold(comparison: Comparison) -> str:
    """The practical threshold as it is written in words: `2%`."""
    return f"{comparison.threshold_percent:g}%"


def level(comparison: Comparison) -> str:
    """The level of the interval: `95%`."""
    return f"{100 * comparison.level:g}%"


def verdict(comparison: Comparison) -> str:
    """The verdict in the words of the design, with the boots still needed where that is known."""
    match comparison.status:
        case EstimateStatus.NO_DATA:
            return "not measured"
        case EstimateStatus.NOT_POSITIVE:
            return "no ratio"
        case _:
            return _judged(comparison)


def _judged(comparison: Comparison) -> str:
    match comparison.verdict:
        case Verdict.SAME:
            return f"same within {threshold(comparison)}"
        case Verdict.CANNOT_TELL if comparison.boots_needed is not None:
            return f"cannot tell yet (needs {boots_needed(comparison)})"
        case Verdict.CANNOT_TELL:
            return "cannot tell yet (too few boots to say how many it needs)"
        case _:
            return comparison.verdict.value


def boots_needed(comparison: Comparison) -> str:
    """`about 5 more boots`, or `at least 1 more boot` where no variance is known."""
    count = comparison.boots_needed or 0
    plural = "" if count == 1 else "s"
    about = "at least" if comparison.status is EstimateStatus.NO_INTERVAL else "about"
    return f"{about} {count:,} more boot{plural}"


def boots(comparison: Comparison) -> str:
    """Boots of the arm against boots of the baseline: `3 / 3`."""
    return f"{comparison.boots} / {comparison.baseline_boots}"


def is_shown_as_number(comparison: Comparison) -> bool:
    """Whether there is a finite point to draw."""
    value = comparison.overhead_percent
    return value is not None and math.isfinite(value)
