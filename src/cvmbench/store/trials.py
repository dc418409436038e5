"""Trials: begun, finished with samples or without, and put back for another attempt."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, exists, insert, select, update
from sqlalchemy.dialects import sqlite

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.store.artifacts import RawFiles
from cvmbench.store.faults import WrongStateError
from cvmbench.store.records import BootStatus, RawFile, TrialResult, TrialStatus
from cvmbench.store.schema import boot, metric, sample, trial

_SampleRow = tuple[int, int, int, int, float]


class Trials(RawFiles):
    """The part of `Store` about trials. A measured trial never changes again."""

    def __init__(self, engine: Engine, place: Path, files: Path, locks: Path) -> None:
        super().__init__(engine, place, files, locks)
        self._known_metrics: dict[int, dict[str, int]] = {}

    def begin_trial(self, trial_id: int, boot_id: int) -> int:
        """Note that a planned trial starts in a boot; returns the number of this attempt, from 1.

        Raises WrongStateError unless the trial is planned and the boot is a running one of the
        trial's own block and arm.
        """
        own_boot = exists().where(
            boot.c.id == boot_id,
            boot.c.block_id == trial.c.block_id,
            boot.c.arm_id == trial.c.arm_id,
            boot.c.status == BootStatus.RUNNING.value,
        )
        with self.writing() as connection:
            attempt: int | None = connection.execute(
                update(trial)
                .where(
                    trial.c.id == trial_id,
                    trial.c.status == TrialStatus.PLANNED.value,
                    own_boot,
                )
                .values(
                    status=TrialStatus.RUNNING.value,
                    boot_id=boot_id,
                    attempts=trial.c.attempts + 1,
                    kind="",
                    reason="",
                    started_at=datetime.now(UTC),
                    ended_at=None,
                )
                .returning(trial.c.attempts)
            ).scalar()
            if attempt is None:
                raise WrongStateError(
                    f"trial {trial_id} is not planned, or boot {boot_id} is not a running boot "
                    "of its block and arm"
                )
            return attempt

    def finish_trial(self, trial_id: int, result: TrialResult) -> None:
        """Store a measured trial whole: samples, raw files and status; on disk at return.

        Raises WrongStateError if the trial is not running (say, because it is measured already),
        and TrialFailure if the samples are no measurement: none at all, a metric that the workload
        does not have, or a value that is not finite. The trial is unchanged then.
        """
        kept = self.keep(result.raw)
        with self.writing() as connection:
            row = connection.execute(
                _FINISH,
                {
                    "finished_id": trial_id,
                    "began": result.started_at,
                    "ended": result.ended_at,
                    "noted": result.facts,
                },
            ).first()
            if row is None:
                raise WrongStateError(f"trial {trial_id} is not running")
            rows = _sample_rows(trial_id, result, self._metric_ids(connection, row.workload_id))
            self.note(connection, kept, attempt=row.attempts, trial_id=trial_id)
            _insert_samples(connection, rows)

    def end_trial(
        self,
        trial_id: int,
        status: TrialStatus,
        *,
        kind: str = "",
        reason: str,
        raw: Sequence[RawFile] = (),
    ) -> None:
        """Note why a trial gave no number: failed, skipped or unavailable.

        Raises WrongStateError if the trial is measured.
        """
        if status not in (TrialStatus.FAILED, TrialStatus.SKIPPED, TrialStatus.UNAVAILABLE):
            raise ValueError(f"a trial without numbers cannot end as {status}")
        kept = self.keep(raw)
        with self.writing() as connection:
            attempt = connection.execute(
                update(trial)
                .where(trial.c.id == trial_id, trial.c.status != TrialStatus.MEASURED.value)
                .values(
                    status=status.value,
                    kind=str(kind),
                    reason=reason,
                    ended_at=datetime.now(UTC),
                )
                .returning(trial.c.attempts)
            ).scalar()
            if attempt is None:
                raise WrongStateError(f"trial {trial_id} is measured already")
            self.note(connection, kept, attempt=attempt, trial_id=trial_id)

    def requeue_trial(self, trial_id: int) -> None:
        """Put a trial back into the plan for another attempt; attempts and raw files are kept.

        Raises WrongStateError if the trial is measured.
        """
        with self.writing() as connection:
            changed = connection.execute(
                update(trial)
                .where(trial.c.id == trial_id, trial.c.status != TrialStatus.MEASURED.value)
                .values(PLANNED_AGAIN)
            )
            if changed.rowcount != 1:
                raise WrongStateError(f"trial {trial_id} is measured already")

    def trial_facts(self, trial_id: int) -> Mapping[str, Any]:
        """What was noted of one trial alone; empty if nothing was. KeyError if there is none."""
        with self.reading() as connection:
            row = connection.execute(select(trial.c.facts).where(trial.c.id == trial_id)).first()
        if row is None:
            raise KeyError(trial_id)
        facts: Mapping[str, Any] = row.facts
        return facts

    def _metric_ids(self, connection: Connection, workload_id: int) -> Mapping[str, int]:
        """Metric name -> id. Asked for once a workload: metrics never change after `add_run`."""
        known = self._known_metrics.get(workload_id)
        if known is None:
            query = select(metric.c.name, metric.c.id).where(metric.c.workload_id == workload_id)
            known = {row.name: row.id for row in connection.execute(query)}
            self._known_metrics[workload_id] = known
        return known


PLANNED_AGAIN = {
    "status": TrialStatus.PLANNED.value,
    "boot_id": None,
    "kind": "",
    "reason": "",
    "started_at": None,
    "ended_at": None,
}
"""Column values of a trial that waits for another attempt."""

# Built once: building a statement takes SQLAlchemy longer than a small trial's samples take to
# store.
_FINISH = (
    update(trial)
    .where(trial.c.id == bindparam("finished_id"), trial.c.status == TrialStatus.RUNNING.value)
    .values(
        status=TrialStatus.MEASURED.value,
        started_at=bindparam("began"),
        ended_at=bindparam("ended"),
        facts=bindparam("noted"),
    )
    .returning(trial.c.workload_id, trial.c.attempts)
)
_INSERT_SAMPLE = insert(sample)
_INSERT_SAMPLE_SQLITE = str(_INSERT_SAMPLE.compile(dialect=sqlite.dialect()))


def _sample_rows(
    trial_id: int, result: TrialResult, metric_ids: Mapping[str, int]
) -> list[_SampleRow]:
    """Rows of `sample` in the order of its key, so that SQLite appends."""
    unknown = [name for name in result.samples if name not in metric_ids]
    if unknown:
        raise _no_measurement(f"it gave values of an unknown metric, {unknown[0]!r}")
    try:
        rows = [
            (trial_id, metric_id, iteration, position, float(value))
            for name, metric_id in sorted(metric_ids.items(), key=lambda item: item[1])
            if name in result.samples
            for iteration, values in enumerate(result.samples[name])
            for position, value in enumerate(values)
        ]
        finite = all(math.isfinite(row[4]) for row in rows)
    except OverflowError:  # An integer beyond every double.
        finite = False
    if not finite:
        raise _no_measurement("it gave a value that is not a finite number")
    if not rows:
        raise _no_measurement("it gave no value")
    return rows


def _no_measurement(why: str) -> TrialFailure:
    return TrialFailure(
        FailureKind.OUTPUT_NOT_UNDERSTOOD,
        "The workload's result was not stored.",
        why=f"As understood, {why}.",
        remedy="Look at the raw output that is kept with the trial.",
    )


def _insert_samples(connection: Connection, rows: list[_SampleRow]) -> None:
    if connection.dialect.name == "sqlite":
        # The driver's own executemany, several times as fast as one mapping a row.
        connection.exec_driver_sql(_INSERT_SAMPLE_SQLITE, rows)
    else:
        names = [column.name for column in sample.columns]
        connection.execute(_INSERT_SAMPLE, [dict(zip(names, row, strict=True)) for row in rows])
