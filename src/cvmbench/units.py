"""Metrics with their unit and the direction that is better, and quantities for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Better(StrEnum):
    """The direction in which a metric improves."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured quantity of a workload.

    `unit` is the unit in which samples are stored: SI without prefix wherever one exists
    (`s`, `B/s`, `1/s`), so that nothing is lost or scaled twice. `headline` marks the one metric
    that stands for its workload in means over workloads.
    """

    name: str
    unit: str
    better: Better
    summary: str = ""
    headline: bool = False


_PREFIXES = (
    (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""),
    (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"),
)  # fmt: skip
_SCALED_UNITS = {"s", "B", "B/s", "bit/s", "1/s", "Hz"}


def format_quantity(value: float, unit: str, digits: int = 4) -> str:
    """`value` with `digits` significant digits and an SI prefix where `unit` takes one.

    >>> format_quantity(1_234_567, "B/s")
    '1.235 MB/s'
    >>> format_quantity(0.00042, "s")
    '420 µs'
    """
    if unit not in _SCALED_UNITS or value == 0:
        return f"{value:,.{digits}g} {unit}".strip() if abs(value) < 1e4 else f"{value:,.0f} {unit}"
    factor, prefix = next(
        ((f, p) for f, p in _PREFIXES if abs(value) >= f * (1 - 0.5 * 10**-digits)), _PREFIXES[-1]
    )
    if unit == "s" and factor > 1:
        factor, prefix = 1.0, ""
    if unit == "1/s":
        return f"{value / factor:.{digits}g} {prefix}/s"
    return f"{value / factor:.{digits}g} {prefix}{unit}"


def format_duration(seconds: float) -> str:
    """A length of time for people: `42 s`, `6 min 05 s`, `3 h 20 min`, `2 d 04 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, secs = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {secs:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours:02d} h"
