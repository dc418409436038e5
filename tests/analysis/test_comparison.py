from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from cvmbench.analysis.comparison import Comparison, EstimateStatus, compare
from cvmbench.analysis.verdicts import Verdict
from cvmbench.units import Better

boots = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=8)
directions = st.sampled_from(Better)


def _compare(x: list[float], b: list[float], better: Better = Better.LOWER) -> Comparison:
    return compare(np.array(x), np.array(b), better, arm="tdx", baseline="plain")


def _numbers(comparison: Comparison) -> tuple[float, float, float]:
    low, point, high = comparison.low, comparison.overhead_percent, comparison.high
    assert low is not None
    assert point is not None
    assert high is not None
    return low, point, high


def test_twice_the_latency_is_100_percent_and_half_the_throughput_50() -> None:
    assert _compare([2.0, 2.0], [1.0, 1.0]).overhead_percent == pytest.approx(100)
    assert _compare([1.0, 1.0], [2.0, 2.0], Better.HIGHER).overhead_percent == pytest.approx(50)


@given(boots, boots, directions)
def test_the_interval_holds_the_point(x: list[float], b: list[float], better: Better) -> None:
    low, point, high = _numbers(_compare(x, b, better))
    assert low <= point <= high


@given(boots, boots)
def test_swapping_the_sides_mirrors_the_ratio(x: list[float], b: list[float]) -> None:
    low, point, high = _numbers(_compare(x, b))
    low_back, point_back, high_back = _numbers(_compare(b, x))

    assert (1 + point / 100) * (1 + point_back / 100) == pytest.approx(1)
    assert (1 + low / 100) * (1 + high_back / 100) == pytest.approx(1)
    assert (1 + high / 100) * (1 + low_back / 100) == pytest.approx(1)


@given(boots, boots, directions, st.floats(1e-9, 1e9))
def test_the_unit_of_the_metric_changes_nothing(
    x: list[float], b: list[float], better: Better, scale: float
) -> None:
    scaled = _compare([scale * v for v in x], [scale * v for v in b], better)
    assert _numbers(scaled) == pytest.approx(_numbers(_compare(x, b, better)), abs=1e-6, rel=1e-6)


@given(boots, boots)
def test_the_direction_turns_the_sign(x: list[float], b: list[float]) -> None:
    lower, higher = _compare(x, b, Better.LOWER), _compare(x, b, Better.HIGHER)

    low, point, high = _numbers(lower)
    assert _numbers(higher) == pytest.approx((-high, -point, -low))


@given(boots, boots)
def test_agrees_with_scipy_on_logarithms(x: list[float], b: list[float]) -> None:
    assume(np.ptp(x) > 1e-3 or np.ptp(b) > 1e-3)
    with warnings.catch_warnings():
        # scipy warns where a side does not vary; its figures are right all the same.
        warnings.simplefilter("ignore", RuntimeWarning)
        result = stats.ttest_ind(np.log(x), np.log(b), equal_var=False)
        theirs = result.confidence_interval(0.95)

    low, _, high = _numbers(_compare(x, b))
    assert low == pytest.approx(100 * (np.exp(theirs.low) - 1), rel=1e-6, abs=1e-6)
    assert high == pytest.approx(100 * (np.exp(theirs.high) - 1), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("boots_a_side", [3, 5, 10])
def test_19_intervals_in_20_hold_the_truth(boots_a_side: int) -> None:
    """Log-normal boots, 3% spread against 6%, a true overhead of 5%."""
    draws = np.random.default_rng(20261120)
    hits, rounds = 0, 3000
    for _ in range(rounds):
        b = np.exp(draws.normal(0, 0.03, boots_a_side))
        x = 1.05 * np.exp(draws.normal(0, 0.06, boots_a_side))
        low, _, high = _numbers(compare(x, b, Better.LOWER, arm="x", baseline="b"))
        hits += low <= 5 <= high
    # Four standard errors of a proportion of 0.95 over 3,000 rounds are 1.6 points.
    assert 0.934 <= hits / rounds <= 0.966


def test_without_a_true_difference_a_costly_verdict_is_rare() -> None:
    draws = np.random.default_rng(7)
    false_verdicts, rounds = 0, 2000
    for _ in range(rounds):
        x, b = (np.exp(draws.normal(0, 0.02, 5)) for _ in range(2))
        verdict = compare(x, b, Better.LOWER, arm="x", baseline="b").verdict
        false_verdicts += verdict in {Verdict.WORSE, Verdict.BETTER}
    assert false_verdicts / rounds <= 0.01


def test_equal_boots_are_the_same_without_width() -> None:
    same = _compare([3.0, 3.0, 3.0], [3.0, 3.0])
    assert _numbers(same) == (0.0, 0.0, 0.0)
    assert same.verdict is Verdict.SAME


def test_a_single_boot_gives_a_point_and_no_verdict() -> None:
    one = _compare([1.5], [1.0, 1.1])
    assert one.status is EstimateStatus.NO_INTERVAL
    assert one.overhead_percent is not None
    assert (one.low, one.high) == (None, None)
    assert one.verdict is Verdict.CANNOT_TELL
    assert one.boots_needed == 1
    assert "tdx" in one.reason


@pytest.mark.parametrize("bad", [0.0, -1.0, float("inf"), float("nan")])
def test_values_without_a_logarithm_are_a_status(bad: float) -> None:
    none = _compare([1.0, bad], [1.0, 1.0])
    assert none.status is EstimateStatus.NOT_POSITIVE
    assert (none.overhead_percent, none.low, none.high) == (None, None, None)
    assert none.verdict is Verdict.CANNOT_TELL
    assert "tdx" in none.reason


def test_the_side_without_boots_is_named() -> None:
    assert "plain" in _compare([1.0], []).reason
    assert "tdx" in _compare([], [1.0]).reason
    assert _compare([], []).status is EstimateStatus.NO_DATA


def test_a_difference_that_crosses_the_threshold_is_told_as_such() -> None:
    crossing = _compare([1.02, 1.03, 1.01, 1.02], [1.0, 1.002, 0.998, 1.0])
    assert crossing.verdict is Verdict.CANNOT_TELL
    assert crossing.reason.startswith("Worse by ")
    assert "more than 2% is open" in crossing.reason


def test_an_end_beyond_what_floats_hold_is_infinite_not_an_error() -> None:
    wild = _compare([1e300, 1e-300], [1.0, 1.0])
    assert wild.high == float("inf")
    assert wild.verdict is Verdict.CANNOT_TELL
