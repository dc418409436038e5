"""Welch's interval for the difference of two means with unequal variances.

Source: B. L. Welch, "The generalization of 'Student's' problem when several different population
variances are involved", Biometrika 34 (1947); degrees of freedom after F. E. Satterthwaite (1946).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    """How many values one side has and how they vary: all that an interval needs of it."""

    count: int
    mean: float
    variance: float
    """Sample variance (divisor count - 1); 0 for a single value, where it is unknown."""

    @classmethod
    def of(cls, values: Floats) -> Spread:
        """The spread of `values`, at least one, all finite."""
        variance = float(np.var(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(len(values), float(np.mean(values)), variance)


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of one side minus mean of the other, with its standard error."""

    point: float
    standard_error: float
    degrees_of_freedom: float
    """Infinite when neither side varies."""

    def half_width(self, level: float) -> float:
        """Half the width of the two-sided interval at `level` (0.95 for 95%)."""
        if self.standard_error == 0:
            return 0.0
        return self.standard_error * float(
            special.stdtrit(self.degrees_of_freedom, 0.5 + level / 2)
        )


def difference(x: Spread, b: Spread) -> Difference:
    """`x` minus `b`. Both need two values or more: one value tells nothing of its variance."""
    if min(x.count, b.count) < 2:
        raise ValueError("Welch's interval needs two values on each side")
    error_x, error_b = x.variance / x.count, b.variance / b.count
    return Difference(
        point=x.mean - b.mean,
        standard_error=math.sqrt(error_x + error_b),
        degrees_of_freedom=float(_degrees_of_freedom(error_x, error_b, x.count, b.count)),
    )


def half_widths_with_more(x: Spread, b: Spread, more: Floats, level: float) -> Floats:
    """Half-widths to expect after `more[i]` further values on each side, variances staying.

    Same shape as `more`; the unit is that of the values.
    """
    count_x, count_b = x.count + more, b.count + more
    error_x, error_b = x.variance / count_x, b.variance / count_b
    if x.variance == 0 and b.variance == 0:
        return np.zeros_like(more)
    degrees = _degrees_of_freedom(error_x, error_b, count_x, count_b)
    quantile: Floats = special.stdtrit(degrees, 0.5 + level / 2)
    return np.sqrt(error_x + error_b) * quantile


def _degrees_of_freedom(
    error_x: Floats | float, error_b: Floats | float, count_x: Floats | int, count_b: Floats | int
) -> Floats:
    """Satterthwaite's degrees of freedom from the squared standard errors of the two means.

    Written with the share of x in the sum, so that tiny variances do not underflow when squared.
    """
    total = np.asarray(error_x + error_b, dtype=np.float64)
    share = np.divide(error_x, total, out=np.full_like(total, np.nan), where=total > 0)
    inverse = share**2 / (count_x - 1) + (1 - share) ** 2 / (count_b - 1)
    return np.where(total > 0, 1 / inverse, np.inf)
