"""Estimates: what each arm costs against the baseline, metric by metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cvmbench.analysis.comparison import DEFAULT_LEVEL, Comparison, compare
from cvmbench.analysis.verdicts import DEFAULT_THRESHOLD_PERCENT
from cvmbench.units import Better

Floats = NDArray[np.float64]

_NOTHING: Floats = np.empty(0, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Estimate:
    """One metric of one workload in one arm against the baseline.

    `value` and `baseline_value` are geometric means of boot means in `unit`, so that the overhead
    is exactly that of their ratio.
    """

    workload: str
    metric: str
    unit: str
    better: Better
    headline: bool
    arm: str
    baseline: str
    value: float | None
    baseline_value: float | None
    comparison: Comparison


def estimates(
    values: pl.DataFrame,
    *,
    arms: Sequence[str],
    baseline: str,
    threshold_percent: float = DEFAULT_THRESHOLD_PERCENT,
    level: float = DEFAULT_LEVEL,
) -> list[Estimate]:
    """One estimate for every metric in `values` and every arm but the baseline.

    `values` is a frame of `boots.boot_values`, one row a boot. A metric that only some arms
    measured has an estimate in every arm all the same, with the status `no data`. Order: metrics
    as they first appear, within one the arms as given.

    The list is the family over which an adjustment for many comparisons goes: such an adjustment
    takes this list and gives it back with other levels or verdicts, and nothing else changes.
    """
    found: list[Estimate] = []
    keys = ["workload", "metric", "unit", "better", "headline"]
    for key, rows in values.group_by(keys, maintain_order=True):
        workload, metric, unit, better, headline = key
        by_arm = {
            str(name): part.to_numpy()
            for (name,), part in (
                (arm_key, arm_rows["value"])
                for arm_key, arm_rows in rows.group_by("arm", maintain_order=True)
            )
        }
        for arm in arms:
            if arm == baseline:
                continue
            x, b = by_arm.get(arm, _NOTHING), by_arm.get(baseline, _NOTHING)
            found.append(
                Estimate(
                    workload=str(workload), metric=str(metric), unit=str(unit),
                    better=Better(str(better)), headline=bool(headline),
                    arm=arm, baseline=baseline,
                    value=_geometric_mean(x), baseline_value=_geometric_mean(b),
                    comparison=compare(
                        x, b, Better(str(better)), arm=arm, baseline=baseline,
                        threshold_percent=threshold_percent, level=level,
                    ),
                )
            )  # fmt: skip
    return found


def _geometric_mean(values: Floats) -> float | None:
    """Of the boot values; None where there are none or where one has no logarithm."""
    if len(values) == 0 or not bool(np.all(np.isfinite(values) & (values > 0))):
        return None
    # Identical values stay what they are, which exp(mean(log)) would miss by a rounding error.
    if bool(np.all(values == values[0])):
        return float(values[0])
    return math.exp(float(np.mean(np.log(values))))
