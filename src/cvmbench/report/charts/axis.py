"""Axes in units with an SI prefix that suits the values."""

from __future__ import annotations

import math

_PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
_TAKES_PREFIX = {"B", "B/s", "bit/s", "Hz"}


def scaled_unit(largest: float, unit: str) -> tuple[float, str]:
    """(factor, unit) so that `value / factor` reads well in that unit, for values to `largest`.

    >>> scaled_unit(1.3e9, "bit/s")
    (1000000000.0, 'Gbit/s')
    >>> scaled_unit(14_900, "1/s")
    (1000.0, 'thousands /s')
    """
    size = abs(largest)
    if size == 0 or not math.isfinite(size):
        return 1.0, unit
    exponent = max(-9, min(12, 3 * math.floor(math.log10(size) / 3)))
    if unit == "s":
        exponent = min(exponent, 0)
        return 10.0**exponent, f"{_PREFIXES[exponent]}s"
    if unit in _TAKES_PREFIX:
        exponent = max(exponent, 0)
        return 10.0**exponent, f"{_PREFIXES[exponent]}{unit}"
    if unit == "1/s":
        words = {3: "thousands /s", 6: "millions /s", 9: "billions /s"}
        exponent = exponent if exponent in words else 0
        return 10.0**exponent, words.get(exponent, "/s")
    return 1.0, unit
