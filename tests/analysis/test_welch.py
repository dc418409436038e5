from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cvmbench.analysis.welch import Spread, difference, half_widths_with_more

sides = st.lists(
    st.floats(-5, 5, allow_nan=False).map(lambda v: round(v, 6)), min_size=2, max_size=9
)


@given(sides, sides)
def test_agrees_with_scipy(x: list[float], b: list[float]) -> None:
    ours = difference(Spread.of(np.array(x)), Spread.of(np.array(b)))
    if ours.standard_error < 1e-9:
        return
    with warnings.catch_warnings():
        # scipy warns where a side does not vary; its figures are right all the same.
        warnings.simplefilter("ignore", RuntimeWarning)
        theirs = stats.ttest_ind(x, b, equal_var=False)
    interval = theirs.confidence_interval(0.95)

    assert ours.degrees_of_freedom == pytest.approx(theirs.df, rel=1e-9)
    assert ours.point - ours.half_width(0.95) == pytest.approx(interval.low, abs=1e-9)
    assert ours.point + ours.half_width(0.95) == pytest.approx(interval.high, abs=1e-9)


def test_values_that_do_not_vary_give_an_interval_without_width() -> None:
    flat = Spread.of(np.full(4, 7.0))
    same = difference(flat, flat)

    assert same.half_width(0.95) == 0.0
    assert math.isinf(same.degrees_of_freedom)


def test_one_side_that_does_not_vary_leaves_the_degrees_of_freedom_of_the_other() -> None:
    flat = Spread.of(np.full(4, 7.0))
    wide = Spread.of(np.array([1.0, 2.0, 4.0]))

    assert difference(wide, flat).degrees_of_freedom == pytest.approx(2.0)


@pytest.mark.parametrize("scale", [1e-170, 1e-200])
def test_tiny_variances_do_not_vanish_when_squared(scale: float) -> None:
    x = Spread(3, 0.0, scale)
    assert difference(x, x).degrees_of_freedom == pytest.approx(4.0)


def test_a_single_value_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two values"):
        difference(Spread.of(np.array([1.0])), Spread.of(np.array([1.0, 2.0])))


@given(sides, sides)
def test_more_boots_never_widen_the_expected_interval(x: list[float], b: list[float]) -> None:
    spread_x, spread_b = Spread.of(np.array(x)), Spread.of(np.array(b))
    widths = half_widths_with_more(spread_x, spread_b, np.arange(1, 50, dtype=float), 0.95)

    assert np.all(np.diff(widths) <= 1e-12)
    assert widths[0] <= difference(spread_x, spread_b).half_width(0.95) + 1e-12
