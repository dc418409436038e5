from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from cvmbench.analysis.boots import boot_values
from cvmbench.analysis.comparison import EstimateStatus
from cvmbench.analysis.estimates import estimates
from cvmbench.analysis.verdicts import Verdict
from cvmbench.units import Better

Frames = Callable[..., pl.DataFrame]


def test_every_metric_has_an_estimate_in_every_arm_but_the_baseline(samples_frame: Frames) -> None:
    boots = {"plain": [[1.0], [1.01]], "tdx": [[1.2], [1.21]]}
    frame = samples_frame({"cpu": boots, "net": boots})

    found = estimates(boot_values(frame), arms=["plain", "tdx", "sev"], baseline="plain")

    assert [(e.workload, e.arm) for e in found] == [
        ("cpu", "tdx"),
        ("cpu", "sev"),
        ("net", "tdx"),
        ("net", "sev"),
    ]
    assert found[1].comparison.status is EstimateStatus.NO_DATA
    assert found[1].value is None


def test_the_overhead_is_that_of_the_two_values_shown(samples_frame: Frames) -> None:
    frame = samples_frame({"cpu": {"plain": [[1.0], [2.0]], "tdx": [[3.0], [5.0]]}})
    (only,) = estimates(boot_values(frame), arms=["plain", "tdx"], baseline="plain")

    assert only.value is not None
    assert only.baseline_value is not None
    assert only.comparison.overhead_percent == pytest.approx(
        100 * (only.value / only.baseline_value - 1)
    )


def test_iterations_do_not_make_an_estimate_surer(samples_frame: Frames) -> None:
    few = samples_frame({"cpu": {"plain": [[1.0], [1.1]], "tdx": [[1.2], [1.3]]}})
    many = samples_frame(
        {"cpu": {"plain": [[1.0] * 50, [1.1] * 50], "tdx": [[1.2] * 50, [1.3] * 50]}}
    )
    arms = ["plain", "tdx"]
    (a,), (b,) = (
        estimates(boot_values(few), arms=arms, baseline="plain"),
        estimates(boot_values(many), arms=arms, baseline="plain"),
    )
    assert a.comparison.low == pytest.approx(b.comparison.low)


def test_a_clear_cost_is_worse_in_either_direction(samples_frame: Frames) -> None:
    cheap, dear = [[1.0], [1.01], [0.99]], [[1.3], [1.31], [1.29]]
    slower = samples_frame({"cpu": {"plain": cheap, "tdx": dear}})
    faster = samples_frame({"cpu": {"plain": dear, "tdx": cheap}}, better=Better.HIGHER)
    for frame in (slower, faster):
        (only,) = estimates(boot_values(frame), arms=["plain", "tdx"], baseline="plain")
        assert only.comparison.verdict is Verdict.WORSE


def test_the_threshold_and_the_level_are_kept_with_the_estimate(samples_frame: Frames) -> None:
    frame = samples_frame({"cpu": {"plain": [[1.0], [1.01]], "tdx": [[1.04], [1.05]]}})
    (only,) = estimates(
        boot_values(frame), arms=["plain", "tdx"], baseline="plain", threshold_percent=20, level=0.9
    )
    assert only.comparison.threshold_percent == 20
    assert only.comparison.level == 0.9
    assert only.comparison.verdict is Verdict.SAME


def test_no_samples_no_estimates(samples_frame: Frames) -> None:
    frame = samples_frame({"cpu": {"plain": [[1.0]]}}).clear()
    assert estimates(boot_values(frame), arms=["plain", "tdx"], baseline="plain") == []
