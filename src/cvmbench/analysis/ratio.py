"""Overhead in percent, positive = worse, from differences of logarithms.

With d = log(x / b): a lower-is-better metric costs 100 * (exp(d) - 1), a higher-is-better one
100 * (1 - exp(d)). So a halved throughput is 50% and a doubled latency 100%, as the studies in
`reference/` print them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cvmbench.units import Better

Floats = NDArray[np.float64]


def overhead_percent(log_ratio: float, better: Better) -> float:
    """Overhead of x against b in percent, given log(x / b); infinite beyond what floats hold."""
    return float(_overhead(np.asarray(log_ratio, dtype=np.float64), better))


def overhead_interval(
    log_ratios: Floats, half_widths: Floats, better: Better
) -> tuple[Floats, Floats]:
    """Lower and upper ends in percent, ordered, for log ratios with half-widths on that scale."""
    first = _overhead(log_ratios - half_widths, better)
    second = _overhead(log_ratios + half_widths, better)
    return (first, second) if better is Better.LOWER else (second, first)


def _overhead(log_ratio: Floats, better: Better) -> Floats:
    with np.errstate(over="ignore"):
        change = 100 * np.expm1(log_ratio)
    # Adding 0.0 turns -0.0, which would print with a sign, into 0.0.
    return (change if better is Better.LOWER else -change) + 0.0
