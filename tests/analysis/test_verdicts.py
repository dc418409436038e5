from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.analysis.ratio import overhead_interval
from cvmbench.analysis.verdicts import (
    PRACTICABLE_BOOTS,
    Interval,
    Verdict,
    boots_needed,
    judge,
)
from cvmbench.analysis.welch import Spread, half_widths_with_more
from cvmbench.units import Better


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (2.1, 9.0, Verdict.WORSE),
        (-9.0, -2.1, Verdict.BETTER),
        (-1.9, 1.9, Verdict.SAME),
        (0.5, 1.5, Verdict.SAME),
        (-2.0, 2.0, Verdict.SAME),
        (2.0, 9.0, Verdict.CANNOT_TELL),
        (0.5, 9.0, Verdict.CANNOT_TELL),
        (-9.0, -0.5, Verdict.CANNOT_TELL),
        (-5.0, 5.0, Verdict.CANNOT_TELL),
        (3.0, float("inf"), Verdict.WORSE),
    ],
)
def test_verdict_by_the_whole_interval(low: float, high: float, verdict: Verdict) -> None:
    assert judge(Interval(low, high), 2.0) is verdict


spreads = st.builds(
    Spread,
    count=st.integers(2, 20),
    mean=st.floats(-1, 1),
    variance=st.floats(0, 0.5),
)


@given(spreads, spreads, st.sampled_from(Better))
def test_the_forecast_is_the_first_number_of_boots_that_decides(
    x: Spread, b: Spread, better: Better
) -> None:
    needed = boots_needed(x, b, better, threshold_percent=2.0, level=0.95)

    def verdict_after(more: int) -> Verdict:
        widths = half_widths_with_more(x, b, np.array([float(more)]), 0.95)
        low, high = overhead_interval(np.array([x.mean - b.mean]), widths, better)
        return judge(Interval(float(low[0]), float(high[0])), 2.0)

    if needed is None:
        assert verdict_after(PRACTICABLE_BOOTS) is Verdict.CANNOT_TELL
        return
    assert needed >= 1
    assert verdict_after(needed) is not Verdict.CANNOT_TELL
    if needed > 1:
        assert verdict_after(needed - 1) is Verdict.CANNOT_TELL


@given(spreads, spreads, st.floats(1, 10))
def test_noisier_boots_never_need_fewer(x: Spread, b: Spread, factor: float) -> None:
    def needed(scale: float) -> int:
        return (
            boots_needed(
                Spread(x.count, x.mean, x.variance * scale),
                Spread(b.count, b.mean, b.variance * scale),
                Better.LOWER,
                threshold_percent=2.0,
                level=0.95,
            )
            or PRACTICABLE_BOOTS + 1
        )

    assert needed(factor) >= needed(1.0)


def test_a_difference_on_the_threshold_is_not_forecast() -> None:
    on_it = Spread(3, float(np.log(1.02)), 0.01)
    assert (
        boots_needed(on_it, Spread(3, 0.0, 0.01), Better.LOWER, threshold_percent=2.0, level=0.95)
        is None
    )
