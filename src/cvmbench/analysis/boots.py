"""From samples to one value a boot: the boot is the unit of replication.

Iterations inside one boot share its memory layout and its luck, so their number says nothing
about how well another boot would do. Everything downstream sees one value a boot.
"""

from __future__ import annotations

import polars as pl

SAMPLE_COLUMNS = (
    "workload", "metric", "unit", "better", "headline", "arm",
    "block", "boot_id", "trial_id", "iteration", "position", "value",
)  # fmt: skip
"""Columns of a samples frame, one row a sample; `value` is in the metric's unit."""

_METRIC_KEYS = ("workload", "metric", "unit", "better", "headline")


def boot_values(samples: pl.DataFrame) -> pl.DataFrame:
    """The arithmetic mean of every metric in every boot.

    Takes a samples frame (`SAMPLE_COLUMNS`; `position` may be missing) and gives one row for each
    (workload, metric, arm, boot): the metric's columns, `arm`, `block`, `boot_id`, `value` in the
    metric's unit, and `samples`, how many values went in. Rows are ordered by workload and metric
    as they first appear, then by arm, block and boot.
    """
    order = pl.int_range(pl.len(), dtype=pl.Int64)
    return (
        samples.with_columns(order.alias("_row"))
        .group_by(*_METRIC_KEYS, "arm", "block", "boot_id")
        .agg(
            pl.col("value").mean(),
            pl.len().cast(pl.Int64).alias("samples"),
            pl.col("_row").min(),
        )
        .with_columns(
            pl.col("_row").min().over("workload").alias("_workload_row"),
            pl.col("_row").min().over("workload", "metric").alias("_metric_row"),
        )
        .sort("_workload_row", "_metric_row", "arm", "block", "boot_id")
        .drop("_row", "_workload_row", "_metric_row")
    )
