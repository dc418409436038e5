"""A small run as it would be planned, and a store that holds it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

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

RATE = Metric("rate", "1/s", Better.HIGHER, "events a second", headline=True)
LATENCY = Metric("latency", "s", Better.LOWER)

EXAMPLE = NewRun(
    name="Quick look!",
    campaign_text="name = 'quick'\n",
    campaign={"name": "quick", "blocks": 2},
    seed=2**63 - 1,
    tool_version="0.1.0",
    functional=True,
    accelerator="tcg",
    host={"cpu": {"model": "EPYC", "flags": ["sev", "avx2"]}, "memory_bytes": 2**34},
    image={"hash": "ab" * 32},
    arms=(
        ArmRecord("plain", "plain", True, {"vcpus": 2}, ("qemu", "-m", "1G")),
        ArmRecord("plain+swiotlb", "plain", False, {"vcpus": 2, "swiotlb": True}, ("qemu",)),
    ),
    workloads=(
        WorkloadRecord("cpu", "sysbench-cpu", {"threads": 2}, (RATE, LATENCY)),
        WorkloadRecord("disk", "fio", {"block_size": 4096}, (RATE,)),
    ),
    blocks=(
        BlockRecord(1, ("plain+swiotlb", "plain"), ("disk", "cpu")),
        BlockRecord(2, ("plain", "plain+swiotlb"), ("cpu", "disk")),
    ),
)


@pytest.fixture
def new_run() -> Callable[..., NewRun]:
    """The example run, with fields replaced at will."""

    def build(**changes: Any) -> NewRun:
        return replace(EXAMPLE, **changes)

    return build


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "results.sqlite"


@pytest.fixture
def store(store_path: Path) -> Iterator[Store]:
    with Store.open(store_path) as opened:
        yield opened


@pytest.fixture
def run(store: Store) -> RunRow:
    return store.add_run(EXAMPLE)


@pytest.fixture
def measured() -> Callable[..., TrialResult]:
    """A measured result of the workload `disk` (and `cpu`), with fields replaced at will."""

    def build(**changes: Any) -> TrialResult:
        start = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
        result = TrialResult({"rate": [[1.5, 2.5], [3.5]]}, start, start.replace(minute=31))
        return replace(result, **changes)

    return build


@pytest.fixture
def begin(store: Store) -> Callable[[RunRow, int], int]:
    """Boots the arm of the n-th trial of a run and begins the trial there; gives its id."""

    def start(run: RunRow, index: int) -> int:
        trial = store.trials(run.id)[index]
        boot = store.begin_boot(run.id, trial.block_id, trial.arm_id)
        store.begin_trial(trial.id, boot.id)
        return trial.id

    return start


@pytest.fixture
def mount_disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mounts a file system of its own of so many KiB, and mounts it again read-only."""
    mounted: list[Path] = []

    def mount(size_kib: int, *, again_read_only: Path | None = None) -> Path:
        place = again_read_only or tmp_path / f"disk{len(mounted)}"
        options = f"size={size_kib}k"
        if again_read_only:
            options = "remount,ro"
        else:
            place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "none", str(place)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")
        if not again_read_only:
            mounted.append(place)
        return place

    if shutil.which("mount") is None:
        pytest.skip("there is no mount(8)")
    yield mount
    for place in mounted:
        subprocess.run(["umount", str(place)], check=True)
