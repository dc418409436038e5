from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cvmbench.store.records import (
    ArmRecord,
    BlockRecord,
    NewRun,
    RawFile,
    RunStatus,
    TrialResult,
    WorkloadRecord,
)
from cvmbench.store.store import Store
from cvmbench.workloads.sysbench_cpu import SysbenchCpu

ARMS = ("plain", "plain+swiotlb")


@pytest.fixture
def filled_store(tmp_path: Path) -> Path:
    """A store with one small run, made up, of two arms in two blocks."""
    path = tmp_path / "store" / "results.sqlite"
    now = datetime.now(UTC)
    workload = SysbenchCpu()
    new = NewRun(
        name="quick",
        campaign_text='name = "quick"\n',
        campaign={"name": "quick", "threshold": 0.02},
        seed=1,
        tool_version="0",
        functional=True,
        accelerator="tcg",
        host={},
        image={},
        arms=tuple(ArmRecord(name, "plain", name == ARMS[0], {}, ("qemu",)) for name in ARMS),
        workloads=(WorkloadRecord(workload.name, workload.name, {}, workload.metrics),),
        blocks=tuple(BlockRecord(number, ARMS, (workload.name,)) for number in (1, 2)),
    )
    with Store.open(path) as store:
        run = store.add_run(new)
        for number, trial in enumerate(store.trials(run.id)):
            boot = store.begin_boot(run.id, trial.block_id, trial.arm_id)
            store.boot_ready(boot.id, ready_s=5.0, evidence={}, facts={})
            store.begin_trial(trial.id, boot.id)
            samples = {metric.name: [[1000.0 + number]] for metric in workload.metrics}
            raw = (RawFile("iteration-1-stdout", b"events\n"),)
            store.finish_trial(trial.id, TrialResult(samples, now, now, raw))
        store.set_run_status(run.id, RunStatus.FINISHED)
    return path
