"""The geometric mean over workloads: one figure for what an arm costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cvmbench.analysis.comparison import DEFAULT_LEVEL, Comparison, compare_logs
from cvmbench.analysis.verdicts import DEFAULT_THRESHOLD_PERCENT
from cvmbench.units import Better

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """Geometric mean, over workloads, of the cost of `arm` against `baseline`.

    Every workload's ratio is turned so that more is worse (time, or one over throughput) before
    the mean is taken. The overhead is therefore that of a lower-is-better metric: a halved
    throughput alone would be 100% here, where the workload's own row says 50%.
    """

    arm: str
    baseline: str
    workloads: tuple[str, ...]
    """The workloads that are in it: those with a headline value in both arms."""
    left_out: tuple[str, ...]
    """The workloads of the run that are not, for want of a value in one of the arms."""
    comparison: Comparison
    """Its `boots` count the boot slots that have every workload of `workloads`."""


def geometric_means(
    values: pl.DataFrame,
    *,
    arms: Sequence[str],
    baseline: str,
    threshold_percent: float = DEFAULT_THRESHOLD_PERCENT,
    level: float = DEFAULT_LEVEL,
) -> list[MeanEstimate]:
    """One mean over the headline metrics for every arm but the baseline, in the order of `arms`.

    `values` is a frame of `boots.boot_values`, one row a boot.

    Workloads that share a boot share its luck, so they are not counted as independent: each boot
    slot (an arm in a block) gives one value, the mean over workloads of the logarithms of its
    boot values, and Welch's interval is taken over those. A slot that lacks one of the workloads
    is left out, since a mean over other workloads is a mean of something else.
    """
    headlines = values.filter(pl.col("headline"))
    workloads = headlines["workload"].unique(maintain_order=True).to_list()
    logs = headlines.with_columns(
        # Logarithms turned so that more is worse; of zero or less they are NaN or infinite.
        (
            pl.col("value").log()
            * pl.when(pl.col("better") == Better.LOWER.value).then(1.0).otherwise(-1.0)
        ).alias("log")
    )
    usable = {
        str(arm): set(rows.filter(pl.col("log").is_finite())["workload"].to_list())
        for (arm,), rows in logs.group_by("arm")
    }
    nothing: set[str] = set()
    means = []
    for arm in arms:
        if arm == baseline:
            continue
        shared = usable.get(arm, nothing) & usable.get(baseline, nothing)
        means.append(
            MeanEstimate(
                arm=arm,
                baseline=baseline,
                workloads=tuple(w for w in workloads if w in shared),
                left_out=tuple(w for w in workloads if w not in shared),
                comparison=_mean_comparison(
                    logs, arm, baseline, shared, threshold_percent=threshold_percent, level=level
                ),
            )
        )
    return means


def _mean_comparison(
    logs: pl.DataFrame,
    arm: str,
    baseline: str,
    workloads: set[str],
    *,
    threshold_percent: float,
    level: float,
) -> Comparison:
    slots = {name: _slot_means(logs, name, workloads) for name in (baseline, arm)}
    comparison = compare_logs(
        slots[arm],
        slots[baseline],
        Better.LOWER,
        arm=arm,
        baseline=baseline,
        threshold_percent=threshold_percent,
        level=level,
    )
    if not workloads:
        return replace(comparison, reason=f"No workload has values in both {baseline} and {arm}.")
    empty = [name for name, values in slots.items() if len(values) == 0]
    if empty:
        reason = f"No block of {' or of '.join(empty)} has values of every workload."
        return replace(comparison, reason=reason)
    return comparison


def _slot_means(logs: pl.DataFrame, arm: str, workloads: set[str]) -> Floats:
    """Mean logarithm of each block's slot of `arm` that has all of `workloads`, by block."""
    by_workload = (
        logs.filter(pl.col("arm") == arm, pl.col("workload").is_in(list(workloads)))
        # A lost boot is repeated in its block, so a workload may have two boots in a slot.
        .group_by("block", "workload")
        .agg(pl.col("log").mean())
        .filter(pl.col("log").is_finite())
    )
    slots = (
        by_workload.group_by("block")
        .agg(pl.col("log").mean(), pl.len().alias("workloads"))
        .filter(pl.col("workloads") == len(workloads))
        .sort("block")
    )
    return slots["log"].to_numpy()
