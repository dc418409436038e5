from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cvmbench.analysis.comparison import EstimateStatus
from cvmbench.report.view import RunView, load
from cvmbench.store.records import (
    ArmRecord,
    BlockRecord,
    BootStatus,
    NewRun,
    TrialResult,
    TrialStatus,
    WorkloadRecord,
)
from cvmbench.store.store import Store
from cvmbench.units import Better, Metric

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def test_the_baseline_comes_first_and_has_no_differences(view: RunView) -> None:
    assert [(a.name, a.place) for a in view.arms] == [
        ("plain", 0),
        ("plain+swiotlb", 1),
        ("plain+idle-poll", 2),
        ("sev-snp+idle-poll", 3),
    ]
    assert view.baseline.differences == ()
    assert [d.only_arm for d in view.arms[1].differences] == [("swiotlb=65536,force",)]


def test_headline_metrics_come_first_in_the_order_of_the_campaign(view: RunView) -> None:
    seen = [(e.workload, e.metric) for e in view.estimates if e.arm == "plain+swiotlb"]
    assert seen[:3] == [("sysbench-cpu", "events"), ("mbw", "memcpy"), ("mbw", "dumb")]
    assert len(seen) == 10


def test_the_threshold_is_that_of_the_campaign(view: RunView) -> None:
    assert view.threshold_percent == pytest.approx(2.0)
    assert all(e.comparison.threshold_percent == view.threshold_percent for e in view.estimates)


def test_a_workload_that_was_never_measured_has_an_estimate_that_says_so(
    view_of: Callable[..., RunView],
) -> None:
    empty = view_of(measured_blocks=0)
    assert {e.comparison.status for e in empty.estimates} == {EstimateStatus.NO_DATA}
    assert {e.workload for e in empty.estimates} == {w.label for w in empty.workloads}


def test_the_view_of_a_stored_run_has_what_was_stored(tmp_path: Path) -> None:
    rate = Metric("rate", "1/s", Better.HIGHER, headline=True)
    new = NewRun(
        name="small", campaign_text="name = 'small'", campaign={"threshold": 0.05}, seed=1,
        tool_version="0", functional=True, accelerator="tcg", host={"cpu": "x"}, image={},
        arms=(
            ArmRecord("plain", "plain", True, {}, ("qemu", "-append", "a")),
            ArmRecord("plain+x", "plain", False, {}, ("qemu", "-append", "a b")),
        ),
        workloads=(WorkloadRecord("cpu", "sysbench-cpu", {}, (rate,)),),
        blocks=tuple(BlockRecord(n, ("plain", "plain+x"), ("cpu",)) for n in (1, 2)),
    )  # fmt: skip
    with Store.open(tmp_path / "results.sqlite") as store:
        run = store.add_run(new)
        for trial in store.trials(run.id):
            boot = store.begin_boot(run.id, trial.block_id, trial.arm_id)
            store.boot_ready(boot.id, ready_s=5.0, evidence={"type": "plain"}, facts={"k": "6"})
            store.begin_trial(trial.id, boot.id)
            if (trial.arm, trial.block) == ("plain+x", 2):
                store.end_trial(trial.id, TrialStatus.FAILED, kind="time limit", reason="Slow.")
            else:
                rate_now = 100.0 if trial.arm == "plain" else 80.0
                store.finish_trial(trial.id, TrialResult({"rate": [[rate_now]]}, NOW, NOW))
            store.end_boot(boot.id, BootStatus.ENDED)
        store.add_event(run.id, "boot", "Something.")
        view = load(store, store.run(run.key))

    (only,) = view.estimates
    assert only.comparison.overhead_percent == pytest.approx(20)
    assert only.comparison.status is EstimateStatus.NO_INTERVAL
    assert (only.comparison.boots, only.comparison.baseline_boots) == (1, 2)
    assert view.threshold_percent == pytest.approx(5)
    assert [(t.arm, t.reason) for t in view.not_measured] == [("plain+x", "Slow.")]
    assert [(b.arm, b.facts) for b in view.guests] == [
        ("plain", {"k": "6"}),
        ("plain+x", {"k": "6"}),
    ]
    assert [e.message for e in view.events] == ["Something."]
    assert view.arms[1].differences[0].only_arm == ("b",)
