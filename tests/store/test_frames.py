from collections.abc import Callable

import polars as pl

from cvmbench.errors import FailureKind
from cvmbench.store.records import BootStatus, NewRun, RunRow, TrialResult, TrialStatus
from cvmbench.store.store import Store

Begin = Callable[[RunRow, int], int]
Measured = Callable[..., TrialResult]


def test_samples_have_all_that_an_analysis_needs(
    store: Store, run: RunRow, begin: Begin, measured: Measured
) -> None:
    cpu, disk = begin(run, 4), begin(run, 0)
    store.finish_trial(cpu, measured(samples={"latency": [[0.25]], "rate": [[4.0]]}))
    store.finish_trial(disk, measured(samples={"rate": [[7.0]]}))
    boots = {trial.id: trial.boot_id for trial in store.trials(run.id)}
    expected = pl.DataFrame(
        [
            ("disk", "rate", "1/s", "higher", True, "plain+swiotlb", 1, boots[disk], disk, 7.0),
            ("cpu", "rate", "1/s", "higher", True, "plain", 2, boots[cpu], cpu, 4.0),
            ("cpu", "latency", "s", "lower", False, "plain", 2, boots[cpu], cpu, 0.25),
        ],
        orient="row",
        schema=[
            *("workload", "metric", "unit", "better", "headline", "arm", "block"),
            *("boot_id", "trial_id", "value"),
        ],
    ).with_columns(pl.lit(0, pl.Int32).alias("iteration"), pl.lit(0, pl.Int32).alias("position"))
    frame = store.samples(run.id)
    assert frame.columns[-3:] == ["iteration", "position", "value"]
    assert frame.select(expected.columns).equals(expected)


def test_frames_of_a_run_that_has_not_begun(store: Store, run: RunRow) -> None:
    empty = store.samples(run.id)
    assert empty.height == 0
    assert empty.schema["value"] == pl.Float64
    assert empty.schema["arm"] == pl.String
    assert store.boots_frame(run.id).height == 0
    assert store.trials_frame(run.id)["status"].to_list() == ["planned"] * 8


def test_samples_of_one_run_only(
    store: Store, run: RunRow, begin: Begin, measured: Measured, new_run: Callable[..., NewRun]
) -> None:
    other = store.add_run(new_run())
    store.finish_trial(begin(other, 0), measured())
    assert store.samples(run.id).height == 0
    assert store.samples(other.id).height == 3


def test_more_samples_than_one_chunk(
    store: Store, run: RunRow, begin: Begin, measured: Measured
) -> None:
    values = [float(number) for number in range(120_001)]
    store.finish_trial(begin(run, 0), measured(samples={"rate": [values, values]}))
    frame = store.samples(run.id)
    assert frame["value"].to_list() == values * 2
    assert frame["position"].to_list() == [*range(120_001)] * 2
    assert frame["iteration"].to_list() == [0] * 120_001 + [1] * 120_001


def test_boots_and_trials_in_frames(store: Store, run: RunRow, begin: Begin) -> None:
    trial_id = begin(run, 0)
    boot_id = store.trials(run.id)[0].boot_id
    assert boot_id is not None
    store.boot_ready(boot_id, ready_s=8.5, evidence={}, facts={})
    store.end_trial(trial_id, TrialStatus.FAILED, kind=FailureKind.GUEST_HANG, reason="silent")
    store.end_boot(boot_id, BootStatus.FAILED, kind=FailureKind.GUEST_HANG, reason="silent")
    trial = store.trials_frame(run.id).row(0, named=True)
    assert (trial["arm"], trial["block"], trial["workload"]) == ("plain+swiotlb", 1, "disk")
    assert (trial["status"], trial["attempts"], trial["kind"]) == ("failed", 1, "guest hang")
    boot = store.boots_frame(run.id).row(0, named=True)
    assert (boot["arm"], boot["block"], boot["attempt"], boot["status"]) == (
        "plain+swiotlb",
        1,
        1,
        "failed",
    )
    assert boot["ready_s"] == 8.5
    assert boot["ended_at"] >= boot["started_at"]
    assert str(boot["started_at"].tzinfo) == "UTC"
