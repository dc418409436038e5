"""A plausible run, made up in memory: four arms, five workloads, six blocks.

The numbers are drawn from a seeded generator and stand for nothing that was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import settings

from cvmbench.report.view import RunView, build
from cvmbench.store.records import (
    ArmRecord,
    BootRow,
    BootStatus,
    EventRow,
    RunRow,
    RunStatus,
    TrialRow,
    TrialStatus,
    WorkloadRecord,
)
from cvmbench.units import Better, Metric

# A machine that builds and boots guests meanwhile is slow at times; slowness is no failure here.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

START = datetime(2026, 11, 20, 9, 30, 12, tzinfo=UTC)
BLOCKS = 6

WORKLOADS = (
    WorkloadRecord(
        "sysbench-cpu", "sysbench-cpu", {"threads": None, "seconds": 2},
        (Metric("events", "1/s", Better.HIGHER, headline=True),),
    ),
    WorkloadRecord(
        "mbw", "mbw", {"mebibytes": 64},
        (Metric("memcpy", "B/s", Better.HIGHER, headline=True),
         Metric("dumb", "B/s", Better.HIGHER)),
    ),
    WorkloadRecord(
        "fio-randread", "fio-randread", {"depth": 32},
        (Metric("reads", "1/s", Better.HIGHER, headline=True),
         Metric("latency-mean", "s", Better.LOWER), Metric("latency-p99", "s", Better.LOWER)),
    ),
    WorkloadRecord(
        "redis", "redis", {"clients": 50},
        (Metric("get", "1/s", Better.HIGHER, headline=True), Metric("set", "1/s", Better.HIGHER),
         Metric("get-p99", "s", Better.LOWER)),
    ),
    WorkloadRecord(
        "iperf3-tcp", "iperf3-tcp", {"seconds": 2},
        (Metric("received", "bit/s", Better.HIGHER, headline=True),),
    ),
)  # fmt: skip

LEVELS = {
    ("sysbench-cpu", "events"): 1.18e3, ("mbw", "memcpy"): 4.1e9, ("mbw", "dumb"): 2.3e9,
    ("fio-randread", "reads"): 14.9e3, ("fio-randread", "latency-mean"): 2.1e-3,
    ("fio-randread", "latency-p99"): 4.4e-3, ("redis", "get"): 9.6e3, ("redis", "set"): 9.1e3,
    ("redis", "get-p99"): 8.2e-3, ("iperf3-tcp", "received"): 1.31e9,
}  # fmt: skip

COSTS = {
    "plain": {},
    "plain+swiotlb": {"fio-randread": 0.19, "redis": 0.035, "iperf3-tcp": 0.31, "mbw": 0.001},
    "plain+idle-poll": {"redis": -0.12, "iperf3-tcp": -0.05, "sysbench-cpu": 0.004},
    "sev-snp+idle-poll": {
        "sysbench-cpu": 0.003, "mbw": 0.06, "fio-randread": 0.27, "redis": 0.11,
        "iperf3-tcp": 0.42,
    },
}  # fmt: skip

SCHEMA = {
    "workload": pl.String, "metric": pl.String, "unit": pl.String, "better": pl.String,
    "headline": pl.Boolean, "arm": pl.String, "block": pl.Int64, "boot_id": pl.Int64,
    "trial_id": pl.Int64, "iteration": pl.Int32, "position": pl.Int32, "value": pl.Float64,
}  # fmt: skip

QEMU = (
    *("qemu-system-x86_64", "-nodefaults", "-no-user-config"),
    *("-machine", "q35,vmport=off,memory-backend=ram0"),
    *("-object", "memory-backend-memfd,id=ram0,size=1073741824,share=on"),
    *("-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "size=1073741824B"),
    *("-kernel", "vmlinuz", "-initrd", "initrd.img"),
)
KERNEL = "root=LABEL=cvmbench-root rw console=ttyS0 panic=-1 quiet"


def arm_record(name: str) -> ArmRecord:
    words = KERNEL
    qemu = list(QEMU)
    if "swiotlb" in name:
        words += " swiotlb=65536,force"
    if "idle-poll" in name:
        words += " idle=poll"
    if name.startswith("sev-snp"):
        qemu[4] = "q35,vmport=off,memory-backend=ram0,confidential-guest-support=sev0"
        qemu += ["-object", "sev-snp-guest,id=sev0,cbitpos=51,reduced-phys-bits=1"]
    return ArmRecord(name, name.partition("+")[0], name == "plain", {}, (*qemu, "-append", words))


def _samples(draws: np.random.Generator, seen: set[tuple[str, str, int]]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for arm_number, (arm, costs) in enumerate(COSTS.items()):
        for block in range(1, BLOCKS + 1):
            luck = draws.normal(0, 0.004)
            for workload in WORKLOADS:
                if (arm, workload.label, block) not in seen:
                    continue
                spread = 0.05 if workload.label == "redis" else 0.008
                boot = luck + draws.normal(0, spread)
                for metric in workload.metrics:
                    sign = -1 if metric.better is Better.HIGHER else 1
                    center = LEVELS[workload.label, metric.name] * (
                        1 + sign * costs.get(workload.label, 0.0)
                    )
                    rows.extend(
                        {
                            "workload": workload.label, "metric": metric.name,
                            "unit": metric.unit, "better": metric.better.value,
                            "headline": metric.headline, "arm": arm, "block": block,
                            "boot_id": block * 10 + arm_number, "trial_id": len(rows) // 3,
                            "iteration": iteration, "position": 0,
                            "value": center * float(np.exp(boot + draws.normal(0, 0.005))),
                        }
                        for iteration in range(3)
                    )  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA)


def _trials() -> list[TrialRow]:
    trials: list[TrialRow] = []
    for block in range(1, BLOCKS + 1):
        for arm in COSTS:
            for workload in WORKLOADS:
                status, kind, reason = TrialStatus.MEASURED, "", ""
                if (arm, workload.label, block) == ("sev-snp+idle-poll", "redis", 4):
                    status, kind = TrialStatus.FAILED, "time limit"
                    reason = "redis-benchmark was not done after 70 s."
                elif (arm, workload.label) == ("plain+idle-poll", "mbw"):
                    status = TrialStatus.UNAVAILABLE
                    reason = "The guest image has no mbw; build it again with `image build`."
                trials.append(
                    TrialRow(
                        len(trials) + 1, block, block, 1, arm, workload.label, 1, status, 1, kind,
                        reason,
                    )
                )  # fmt: skip
    return trials


def make_view(
    *,
    functional: bool = True,
    hostile: str = "",
    status: RunStatus = RunStatus.FINISHED,
    measured_blocks: int = BLOCKS,
    arms: Sequence[str] = tuple(COSTS),
) -> RunView:
    """The run; `hostile` is put wherever a guest, a tool or a file can put a string."""
    draws = np.random.default_rng(20261120)
    trials = [
        t
        if t.block <= measured_blocks
        else TrialRow(
            t.id, t.block_id, t.block, t.arm_id, t.arm, t.workload, None, TrialStatus.PLANNED, 0,
            "", "",
        )
        for t in _trials()
        if t.arm in arms
    ]  # fmt: skip
    seen = {(t.arm, t.workload, t.block) for t in trials if t.status is TrialStatus.MEASURED}
    counts = {status: sum(t.status is status for t in trials) for status in TrialStatus}
    campaign_text = (
        'name = "quick"\n\narms = ["plain", "plain+swiotlb", "plain+idle-poll", '
        f'"sev-snp+idle-poll"]\nbaseline = "plain"\nblocks = {BLOCKS}\n# {hostile}\n'
    )
    run = RunRow(
        id=1, key="quick-20261120-093012-3f9a", name="quick", status=status, reason=hostile,
        functional=functional, accelerator="tcg" if functional else "kvm", created_at=START,
        ended_at=START + timedelta(minutes=23, seconds=4), trials=counts, tool_version="0.1.0",
        seed=20261120, campaign_text=campaign_text,
        campaign={"name": "quick", "threshold": 0.02, "blocks": BLOCKS},
        host={
            "cpu": {"model": "AMD EPYC 9654", "cores": 2, "microcode": "0xa101148"},
            "memory_bytes": 25_769_803_776, "kernel": "6.1.0-28-amd64", "os": "Debian 12",
            "qemu": "10.0.2", "kvm": "opens, but an unmodified guest never comes up under it",
            "note": hostile,
        },
        image={
            "digest": "3b0c9e5d8a41", "suite": "trixie", "kernel": "6.12.48+deb13-cloud-amd64",
            "packages": {"fio": "3.39-1", "iperf3": "3.18-2", "redis-server": "5:8.0.2-3",
                         "sysbench": "1.0.20+ds-7", "x": hostile},
        },
    )  # fmt: skip
    boots = [b for b in _boots(draws, hostile) if b.arm in arms]
    if hostile:
        trials[0] = TrialRow(
            1, 1, 1, 1, "plain", hostile, 1, TrialStatus.FAILED, 1, hostile, hostile
        )
    return build(
        run,
        arms=[arm_record(arm) for arm in arms],
        workloads=WORKLOADS,
        samples=_samples(draws, seen),
        trials=trials,
        boots=boots,
        events=[
            EventRow(1, START, "info", "run", "Started.", None, None),
            EventRow(2, START, "warning", "boot", f"Repeated. {hostile}", 6, None),
        ],
    )


def _boots(draws: np.random.Generator, hostile: str) -> list[BootRow]:
    boots: list[BootRow] = []

    def add(arm: str, block: int, status: BootStatus, kind: str, why: str, ready: bool) -> None:
        facts = {
            "kernel": "6.12.48+deb13-cloud-amd64",
            "swiotlb_bytes": 134217728 if "swiotlb" in arm else 67108864,
            "cpuidle": "none" if "idle-poll" in arm else hostile or "default_idle",
        }
        boots.append(
            BootRow(
                id=len(boots) + 1, block_id=block, block=block, arm_id=1, arm=arm,
                attempt=1 + sum((b.arm, b.block) == (arm, block) for b in boots),
                status=status, kind=kind, reason=why, started_at=START,
                ended_at=START + timedelta(seconds=90),
                ready_s=7.4 + 0.9 * ("swiotlb" in arm) + float(draws.normal(0, 0.2))
                if ready else None,
                evidence={"type": arm.partition("+")[0], "note": hostile} if ready else {},
                facts=facts if ready else {},
            )
        )  # fmt: skip

    for block in range(1, BLOCKS + 1):
        for arm in COSTS:
            if (arm, block) == ("plain+swiotlb", 2):
                why = f"The guest was not ready within 120 s. {hostile}"
                add(arm, block, BootStatus.FAILED, "guest hang", why, ready=False)
            add(arm, block, BootStatus.ENDED, "", "", ready=True)
    return boots


@pytest.fixture(scope="session")
def view() -> RunView:
    return make_view()


@pytest.fixture(scope="session")
def view_of() -> Callable[..., RunView]:
    return make_view
