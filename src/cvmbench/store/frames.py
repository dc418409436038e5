"""A run as data frames, for analysis, reports and exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, select

from cvmbench.store.connecting import Opened
from cvmbench.store.schema import arm, block, boot, metric, sample, trial, workload

if TYPE_CHECKING:
    import polars as pl

_CHUNK_ROWS = 100_000


class Frames(Opened):
    """The part of `Store` that gives polars frames; polars is imported at the first use."""

    def samples(self, run_id: int) -> pl.DataFrame:
        """All samples of a run, one a row, in plan order.

        Columns: workload (label), metric, unit, better (`higher` or `lower`), headline, arm,
        block, boot_id, trial_id, iteration, position, value (in `unit`).
        """
        import polars as pl

        with self.reading() as connection:
            values = _sample_values(connection, run_id)
            trials = _frame(
                connection,
                select(
                    trial.c.id.label("trial_id"),
                    arm.c.name.label("arm"),
                    block.c.number.label("block"),
                    trial.c.boot_id,
                )
                .join(arm, arm.c.id == trial.c.arm_id)
                .join(block, block.c.id == trial.c.block_id)
                .where(trial.c.run_id == run_id),
                {
                    "trial_id": pl.Int64,
                    "arm": pl.String,
                    "block": pl.Int64,
                    "boot_id": pl.Int64,
                },
            )
            metrics = _frame(
                connection,
                select(
                    metric.c.id.label("metric_id"),
                    workload.c.label.label("workload"),
                    metric.c.name.label("metric"),
                    metric.c.unit,
                    metric.c.better,
                    metric.c.headline,
                )
                .join(workload, workload.c.id == metric.c.workload_id)
                .where(workload.c.run_id == run_id),
                {
                    "metric_id": pl.Int64,
                    "workload": pl.String,
                    "metric": pl.String,
                    "unit": pl.String,
                    "better": pl.String,
                    "headline": pl.Boolean,
                },
            )
        return (
            values.join(trials, on="trial_id", how="left", maintain_order="left")
            .join(metrics, on="metric_id", how="left", maintain_order="left")
            .select(
                *("workload", "metric", "unit", "better", "headline", "arm", "block"),
                *("boot_id", "trial_id", "iteration", "position", "value"),
            )
        )

    def trials_frame(self, run_id: int) -> pl.DataFrame:
        """The trials of a run in plan order.

        Columns: trial_id, block, arm, workload (label), boot_id, status, attempts, kind, reason,
        started_at, ended_at (UTC).
        """
        import polars as pl

        query = (
            select(
                trial.c.id,
                block.c.number,
                arm.c.name,
                workload.c.label,
                trial.c.boot_id,
                trial.c.status,
                trial.c.attempts,
                trial.c.kind,
                trial.c.reason,
                trial.c.started_at,
                trial.c.ended_at,
            )
            .join(block, block.c.id == trial.c.block_id)
            .join(arm, arm.c.id == trial.c.arm_id)
            .join(workload, workload.c.id == trial.c.workload_id)
            .where(trial.c.run_id == run_id)
            .order_by(trial.c.position)
        )
        with self.reading() as connection:
            return _frame(
                connection,
                query,
                {
                    "trial_id": pl.Int64,
                    "block": pl.Int64,
                    "arm": pl.String,
                    "workload": pl.String,
                    "boot_id": pl.Int64,
                    "status": pl.String,
                    "attempts": pl.Int64,
                    "kind": pl.String,
                    "reason": pl.String,
                    "started_at": pl.Datetime("us", "UTC"),
                    "ended_at": pl.Datetime("us", "UTC"),
                },
            )

    def boots_frame(self, run_id: int) -> pl.DataFrame:
        """The boots of a run in the order of their starts.

        Columns: boot_id, arm, block, attempt, status, kind, reason, ready_s (null if the guest
        never got ready), started_at, ended_at (UTC).
        """
        import polars as pl

        query = (
            select(
                boot.c.id,
                arm.c.name,
                block.c.number,
                boot.c.attempt,
                boot.c.status,
                boot.c.kind,
                boot.c.reason,
                boot.c.ready_s,
                boot.c.started_at,
                boot.c.ended_at,
            )
            .join(block, block.c.id == boot.c.block_id)
            .join(arm, arm.c.id == boot.c.arm_id)
            .where(boot.c.run_id == run_id)
            .order_by(boot.c.id)
        )
        with self.reading() as connection:
            return _frame(
                connection,
                query,
                {
                    "boot_id": pl.Int64,
                    "arm": pl.String,
                    "block": pl.Int64,
                    "attempt": pl.Int64,
                    "status": pl.String,
                    "kind": pl.String,
                    "reason": pl.String,
                    "ready_s": pl.Float64,
                    "started_at": pl.Datetime("us", "UTC"),
                    "ended_at": pl.Datetime("us", "UTC"),
                },
            )


def _frame(connection: Connection, query: Select[Any], schema: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    rows = [tuple(row) for row in connection.execute(query)]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _sample_values(connection: Connection, run_id: int) -> pl.DataFrame:
    """The numbers of a run's samples, in plan order; by way of NumPy, without a row object each."""
    import numpy as np
    import polars as pl

    query = (
        select(
            sample.c.trial_id,
            sample.c.metric_id,
            sample.c.iteration,
            sample.c.position,
            sample.c.value,
        )
        .join(trial, trial.c.id == sample.c.trial_id)
        .where(trial.c.run_id == run_id)
        .order_by(trial.c.position, sample.c.metric_id, sample.c.iteration, sample.c.position)
    )
    columns = {
        "trial_id": np.int64,
        "metric_id": np.int64,
        "iteration": np.int32,
        "position": np.int32,
        "value": np.float64,
    }
    shape = np.dtype(list(columns.items()))
    chunks = [np.empty(0, shape)]
    result = connection.execute(query)
    while rows := result.cursor.fetchmany(_CHUNK_ROWS):
        chunks.append(np.array(rows, shape))
    result.close()
    everything = np.concatenate(chunks)
    return pl.DataFrame({name: np.ascontiguousarray(everything[name]) for name in columns})
