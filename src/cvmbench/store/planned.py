"""What a run plans, in and out of the store: arms, workloads, metrics, blocks and trials."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, Table, insert, select

from cvmbench.store.connecting import Opened
from cvmbench.store.records import (
    ArmRecord,
    BlockRecord,
    NewRun,
    TrialRow,
    TrialStatus,
    WorkloadRecord,
)
from cvmbench.store.schema import arm, block, metric, trial, workload
from cvmbench.units import Better, Metric


class Planned(Opened):
    """The part of `Store` that reads a run's plan; every list is in plan order."""

    def arms(self, run_id: int) -> list[ArmRecord]:
        """The arms of a run, as its campaign lists them."""
        query = select(arm).where(arm.c.run_id == run_id).order_by(arm.c.position)
        with self.reading() as connection:
            return [
                ArmRecord(row.name, row.type, row.baseline, row.spec, tuple(row.argv))
                for row in connection.execute(query)
            ]

    def workloads(self, run_id: int) -> list[WorkloadRecord]:
        """The workloads of a run with their metrics, as its campaign lists them."""
        with self.reading() as connection:
            metrics: dict[int, list[Metric]] = {}
            for row in connection.execute(
                select(metric)
                .join(workload, workload.c.id == metric.c.workload_id)
                .where(workload.c.run_id == run_id)
                .order_by(metric.c.position)
            ):
                metrics.setdefault(row.workload_id, []).append(
                    Metric(row.name, row.unit, Better(row.better), row.summary, row.headline)
                )
            return [
                WorkloadRecord(row.label, row.name, row.parameters, tuple(metrics.get(row.id, ())))
                for row in connection.execute(
                    select(workload)
                    .where(workload.c.run_id == run_id)
                    .order_by(workload.c.position)
                )
            ]

    def blocks(self, run_id: int) -> list[BlockRecord]:
        """The blocks of a run with the order of arms and of workloads in each."""
        query = select(block).where(block.c.run_id == run_id).order_by(block.c.number)
        with self.reading() as connection:
            return [
                BlockRecord(row.number, tuple(row.arms), tuple(row.workloads))
                for row in connection.execute(query)
            ]

    def trials(self, run_id: int) -> list[TrialRow]:
        """The trials of a run: by block, then the block's order of arms, then of workloads."""
        query = (
            select(
                trial.c.id,
                trial.c.block_id,
                block.c.number.label("block"),
                trial.c.arm_id,
                arm.c.name.label("arm"),
                workload.c.label.label("workload"),
                trial.c.boot_id,
                trial.c.status,
                trial.c.attempts,
                trial.c.kind,
                trial.c.reason,
            )
            .join(block, block.c.id == trial.c.block_id)
            .join(arm, arm.c.id == trial.c.arm_id)
            .join(workload, workload.c.id == trial.c.workload_id)
            .where(trial.c.run_id == run_id)
            .order_by(trial.c.position)
        )
        with self.reading() as connection:
            return [
                TrialRow(**{**row, "status": TrialStatus(row["status"])})
                for row in connection.execute(query).mappings()
            ]


def add_plan(connection: Connection, run_id: int, new: NewRun) -> None:
    """Store the plan of a run that was just added.

    Raises ValueError if two arms, workloads, metrics of a workload, or blocks have one name, or
    if a block names what the run does not have, or twice.
    """
    _once("arm", (a.name for a in new.arms))
    _once("workload", (w.label for w in new.workloads))
    _once("block", (str(b.number) for b in new.blocks))
    for w in new.workloads:
        _once(f"metric of {w.label}", (m.name for m in w.metrics))

    _insert(
        connection,
        arm,
        [
            {
                "run_id": run_id,
                "position": position,
                "name": a.name,
                "type": a.type,
                "baseline": a.baseline,
                "spec": a.spec,
                "argv": list(a.argv),
            }
            for position, a in enumerate(new.arms)
        ],
    )
    _insert(
        connection,
        workload,
        [
            {
                "run_id": run_id,
                "position": position,
                "label": w.label,
                "name": w.name,
                "parameters": w.parameters,
            }
            for position, w in enumerate(new.workloads)
        ],
    )
    arm_ids = _ids(connection, arm, "name", run_id)
    workload_ids = _ids(connection, workload, "label", run_id)
    _insert(
        connection,
        metric,
        [
            {
                "workload_id": workload_ids[w.label],
                "position": position,
                "name": m.name,
                "unit": m.unit,
                "better": m.better.value,
                "summary": m.summary,
                "headline": m.headline,
            }
            for w in new.workloads
            for position, m in enumerate(w.metrics)
        ],
    )
    blocks = sorted(new.blocks, key=lambda b: b.number)
    for b in blocks:
        _known(f"arm of block {b.number}", b.arms, arm_ids)
        _known(f"workload of block {b.number}", b.workloads, workload_ids)
    _insert(
        connection,
        block,
        [
            {
                "run_id": run_id,
                "number": b.number,
                "arms": list(b.arms),
                "workloads": list(b.workloads),
            }
            for b in blocks
        ],
    )
    block_ids = _ids(connection, block, "number", run_id)
    planned = ((b, a, w) for b in blocks for a in b.arms for w in b.workloads)
    _insert(
        connection,
        trial,
        [
            {
                "run_id": run_id,
                "position": position,
                "block_id": block_ids[b.number],
                "arm_id": arm_ids[a],
                "workload_id": workload_ids[w],
                "status": TrialStatus.PLANNED.value,
                "attempts": 0,
                "kind": "",
                "reason": "",
                "facts": {},
            }
            for position, (b, a, w) in enumerate(planned)
        ],
    )


def _insert(connection: Connection, table: Table, rows: list[dict[str, object]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _ids(connection: Connection, table: Table, name: str, run_id: int) -> dict[object, int]:
    query = select(table.c[name], table.c.id).where(table.c.run_id == run_id)
    return {row[0]: row[1] for row in connection.execute(query)}


def _once(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"the {what} {name!r} occurs twice")
        seen.add(name)


def _known(what: str, names: Iterable[str], known: dict[object, int]) -> None:
    listed = list(names)
    _once(what, listed)
    for name in listed:
        if name not in known:
            raise ValueError(f"the {what} {name!r} is not in the run")
