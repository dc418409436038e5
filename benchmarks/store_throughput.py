"""Samples a second through `Store.finish_trial`, beside the driver's executemany alone.

Both sides write the same rows under the same pragmas and schema, one transaction a trial, and
take turns within one measurement, so that whatever else the machine does meets both:

    python benchmarks/store_throughput.py [directory]

The directory decides which disk is measured; without one it is a temporary directory.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from cvmbench.store.connecting import PRAGMAS
from cvmbench.store.records import (
    ArmRecord,
    BlockRecord,
    NewRun,
    RunRow,
    TrialResult,
    WorkloadRecord,
)
from cvmbench.store.store import Store
from cvmbench.units import Better, Metric

TURNS = 8
"""How often each side has its turn, after one turn that is not counted."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("directory", nargs="?", type=Path)
    chosen = parser.parse_args().directory
    for samples, trials in ((1000, 100), (10, 200)):
        with tempfile.TemporaryDirectory(dir=chosen) as folder:
            compare(Path(folder), samples, trials)


def compare(folder: Path, samples: int, trials: int) -> None:
    """Print both rates and their ratio for `trials` trials a turn of `samples` samples each."""
    start = datetime.now(UTC)
    values = [index * 1.1 for index in range(samples)]
    result = TrialResult({"rate": [values]}, start, start)
    with (
        Store.open(folder / "ours.sqlite") as ours,
        Store.open(folder / "theirs.sqlite") as theirs,
    ):
        our_run, their_run = planned(ours, trials), planned(theirs, trials)
        raw = sqlite3.connect(folder / "theirs.sqlite", isolation_level=None)
        for pragma in PRAGMAS:
            raw.execute(pragma)
        our_ids, their_ids = started(ours, our_run), started(theirs, their_run)
        metric_id = raw.execute("SELECT id FROM metric").fetchone()[0]

        def write_ours(trial_id: int) -> None:
            ours.finish_trial(trial_id, result)

        def write_raw(trial_id: int) -> None:
            raw.execute("BEGIN IMMEDIATE")
            raw.executemany(
                "INSERT INTO sample VALUES (?, ?, ?, ?, ?)",
                [(trial_id, metric_id, 0, place, value) for place, value in enumerate(values)],
            )
            raw.execute("COMMIT")

        our_s = raw_s = 0.0
        for turn in range(TURNS + 1):
            mine = slice(turn * trials, (turn + 1) * trials)
            if turn % 2:
                a, b = timed(write_ours, our_ids[mine]), timed(write_raw, their_ids[mine])
            else:
                b, a = timed(write_raw, their_ids[mine]), timed(write_ours, our_ids[mine])
            if turn:
                our_s, raw_s = our_s + a, raw_s + b
        expected = samples * trials * (TURNS + 1)
        for database in ("ours", "theirs"):
            with sqlite3.connect(folder / f"{database}.sqlite") as check:
                stored = check.execute("SELECT count(*) FROM sample").fetchone()[0]
            check.close()
            assert stored == expected, f"{database}: {stored} rows instead of {expected}"
        raw.close()
    written = samples * trials * TURNS
    print(
        f"{samples:>5} samples a trial: finish_trial {written / our_s:>10,.0f} samples/s, "
        f"executemany {written / raw_s:>10,.0f} samples/s, ratio {raw_s / our_s:.2f}"
    )


def timed(write: Callable[[int], None], trial_ids: list[int]) -> float:
    """Seconds to write all these trials."""
    start = time.perf_counter()
    for trial_id in trial_ids:
        write(trial_id)
    return time.perf_counter() - start


def planned(store: Store, trials: int) -> RunRow:
    """A run with a trial for every write of every turn."""
    blocks = range(1, trials * (TURNS + 1) + 1)
    return store.add_run(
        NewRun(
            name="throughput",
            campaign_text="",
            campaign={},
            seed=1,
            tool_version="benchmark",
            functional=True,
            accelerator="none",
            host={},
            image={},
            arms=(ArmRecord("plain", "plain", True, {}, ()),),
            workloads=(WorkloadRecord("w", "w", {}, (Metric("rate", "1/s", Better.HIGHER),)),),
            blocks=tuple(BlockRecord(number, ("plain",), ("w",)) for number in blocks),
        )
    )


def started(store: Store, run: RunRow) -> list[int]:
    """Begin all trials of a run; the ids in plan order."""
    ids = []
    for trial in store.trials(run.id):
        boot = store.begin_boot(run.id, trial.block_id, trial.arm_id)
        store.begin_trial(trial.id, boot.id)
        ids.append(trial.id)
    return ids


if __name__ == "__main__":
    main()
