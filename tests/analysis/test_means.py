from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from cvmbench.analysis.boots import boot_values
from cvmbench.analysis.comparison import EstimateStatus
from cvmbench.analysis.estimates import estimates
from cvmbench.analysis.means import geometric_means
from cvmbench.units import Better

Frames = Callable[..., pl.DataFrame]
ARMS = ["plain", "tdx"]


def test_the_mean_of_one_workload_is_that_workload(samples_frame: Frames) -> None:
    frame = samples_frame({"cpu": {"plain": [[1.0], [1.1]], "tdx": [[1.2], [1.5]]}})
    (mean,) = geometric_means(boot_values(frame), arms=ARMS, baseline="plain")
    (alone,) = estimates(boot_values(frame), arms=ARMS, baseline="plain")

    assert mean.workloads == ("cpu",)
    assert mean.comparison.overhead_percent == pytest.approx(alone.comparison.overhead_percent)
    assert mean.comparison.low == pytest.approx(alone.comparison.low)


def test_directions_are_turned_before_the_mean(samples_frame: Frames) -> None:
    """Twice the time and half the throughput are the same cost: a ratio of 2 each."""
    frame = samples_frame(
        {
            "time": {"plain": [[1.0], [1.0]], "tdx": [[2.0], [2.0]]},
            "rate": {"plain": [[8.0], [8.0]], "tdx": [[4.0], [4.0]]},
        },
        better={"time": Better.LOWER, "rate": Better.HIGHER},
    )
    (mean,) = geometric_means(boot_values(frame), arms=ARMS, baseline="plain")
    assert mean.comparison.overhead_percent == pytest.approx(100)


def test_workloads_that_share_a_boot_are_not_counted_as_independent(
    samples_frame: Frames,
) -> None:
    """Ten copies of one workload know no more than one."""
    boots = {"plain": [[1.0], [1.1], [1.2]], "tdx": [[1.2], [1.5], [1.3]]}
    once = samples_frame({"w0": boots})
    ten = samples_frame({f"w{i}": boots for i in range(10)})
    (a,) = geometric_means(boot_values(once), arms=ARMS, baseline="plain")
    (b,) = geometric_means(boot_values(ten), arms=ARMS, baseline="plain")

    assert b.comparison.low == pytest.approx(a.comparison.low)
    assert b.comparison.boots == 3


def test_a_workload_that_one_arm_lacks_is_left_out_by_name(samples_frame: Frames) -> None:
    frame = samples_frame(
        {
            "cpu": {"plain": [[1.0], [1.0]], "tdx": [[1.1], [1.1]]},
            "net": {"plain": [[1.0], [1.0]]},
        }
    )
    (mean,) = geometric_means(boot_values(frame), arms=ARMS, baseline="plain")
    assert mean.workloads == ("cpu",)
    assert mean.left_out == ("net",)
    assert mean.comparison.overhead_percent == pytest.approx(10)


def test_a_slot_that_lacks_a_workload_is_left_out(samples_frame: Frames) -> None:
    frame = samples_frame(
        {
            "cpu": {"plain": [[1.0]] * 3, "tdx": [[1.1]] * 3},
            "net": {"plain": [[100.0]] * 3, "tdx": [[110.0]] * 2},
        }
    )
    (mean,) = geometric_means(boot_values(frame), arms=ARMS, baseline="plain")
    assert mean.comparison.boots == 2
    assert mean.comparison.overhead_percent == pytest.approx(10)


def test_no_common_workload_is_a_status(samples_frame: Frames) -> None:
    frame = samples_frame({"cpu": {"tdx": [[1.0]]}, "net": {"plain": [[1.0]]}})
    (mean,) = geometric_means(boot_values(frame), arms=ARMS, baseline="plain")
    assert mean.comparison.status is EstimateStatus.NO_DATA
    assert mean.workloads == ()
    assert "both plain and tdx" in mean.comparison.reason


def test_no_complete_slot_is_a_status_that_names_the_arm(samples_frame: Frames) -> None:
    frame = samples_frame(
        {
            "cpu": {"plain": [[1.0]] * 2, "tdx": [[1.1]]},
            "net": {"plain": [[1.0]] * 2, "tdx": [[1.1]] * 2},
        }
    ).filter(~((pl.col("workload") == "net") & (pl.col("arm") == "tdx") & (pl.col("block") == 1)))
    (mean,) = geometric_means(boot_values(frame), arms=ARMS, baseline="plain")
    assert mean.comparison.status is EstimateStatus.NO_DATA
    assert "No block of tdx" in mean.comparison.reason


def test_a_workload_of_zeros_does_not_spoil_the_others(samples_frame: Frames) -> None:
    frame = samples_frame(
        {
            "cpu": {"plain": [[1.0], [1.0]], "tdx": [[1.1], [1.1]]},
            "drops": {"plain": [[0.0], [0.0]], "tdx": [[0.0], [-1.0]]},
        }
    )
    (mean,) = geometric_means(boot_values(frame), arms=ARMS, baseline="plain")
    assert mean.left_out == ("drops",)
    assert np.isfinite(mean.comparison.overhead_percent or np.nan)


def test_only_headline_metrics_count(samples_frame: Frames) -> None:
    frame = samples_frame({"cpu": {"plain": [[1.0]], "tdx": [[1.0]]}}, headline=False)
    (mean,) = geometric_means(boot_values(frame), arms=ARMS, baseline="plain")
    assert mean.workloads == ()
