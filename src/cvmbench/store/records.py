"""The records that go into the store and come out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from cvmbench.units import Metric


class RunStatus(StrEnum):
    """Where a run stands. A `running` run whose lock nobody holds was killed."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    FINISHED = "finished"
    STOPPED = "stopped"
    """Ended early by a problem of the host (say, a full disk); can be resumed."""


class BootStatus(StrEnum):
    """How a boot stands or ended."""

    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"
    LOST = "lost"
    """The controller died or was stopped meanwhile; its finished trials count."""


class TrialStatus(StrEnum):
    """How a trial stands or ended. Only `measured` trials have samples."""

    PLANNED = "planned"
    RUNNING = "running"
    MEASURED = "measured"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Deliberately not run (say, its arm failed every boot), with the reason."""
    UNAVAILABLE = "unavailable"
    """This host or guest cannot run it, with the reason."""


@dataclass(frozen=True, slots=True)
class ArmRecord:
    """One arm as planned. `spec` is the VM spec as JSON data, `argv` the QEMU command line."""

    name: str
    type: str
    baseline: bool
    spec: Mapping[str, Any]
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkloadRecord:
    """One workload as planned; `label` is unique in the run, `name` is the catalogue's name."""

    label: str
    name: str
    parameters: Mapping[str, Any]
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """One block as planned: the order of arms, and the order of workloads within every boot."""

    number: int
    arms: tuple[str, ...]
    workloads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewRun:
    """All that is known when a run is created. Trials are every (block, arm, workload)."""

    name: str
    campaign_text: str
    """The campaign file as read."""
    campaign: Mapping[str, Any]
    """The campaign as understood, defaults filled in; what `resume` goes by."""
    seed: int
    tool_version: str
    functional: bool
    """True if measured under TCG: never to be mixed with numbers taken under KVM."""
    accelerator: str
    host: Mapping[str, Any]
    image: Mapping[str, Any]
    arms: tuple[ArmRecord, ...]
    workloads: tuple[WorkloadRecord, ...]
    blocks: tuple[BlockRecord, ...]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A stored run, with how many trials stand where."""

    id: int
    key: str
    """Unique name for people: `quick-20261120-093012-3f9a`."""
    name: str
    status: RunStatus
    reason: str
    functional: bool
    accelerator: str
    created_at: datetime
    ended_at: datetime | None
    trials: Mapping[TrialStatus, int]
    tool_version: str
    seed: int
    campaign_text: str
    campaign: Mapping[str, Any]
    host: Mapping[str, Any]
    image: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial in plan order (block, then boot order, then workload order)."""

    id: int
    block_id: int
    block: int
    arm_id: int
    arm: str
    workload: str
    boot_id: int | None
    status: TrialStatus
    attempts: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class RawFile:
    """A raw output to keep: `role` says what it is (`stdout-1`, `serial`, `qemu-log`)."""

    role: str
    content: bytes | Path


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A measured trial: per metric, one sequence of values for each iteration of the tool."""

    samples: Mapping[str, Sequence[Sequence[float]]]
    started_at: datetime
    ended_at: datetime
    raw: tuple[RawFile, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What belongs to this trial alone: package versions, the client's CPU use, warnings."""


@dataclass(frozen=True, slots=True)
class BootRef:
    """A boot that was begun; `attempt` counts the boots of its arm in its block from 1."""

    id: int
    attempt: int


@dataclass(frozen=True, slots=True)
class BootRow:
    """A stored boot with what the guest proved and told about itself.

    `ready_s` is the time from starting QEMU to a guest that takes commands, None if it never did.
    """

    id: int
    block_id: int
    block: int
    arm_id: int
    arm: str
    attempt: int
    status: BootStatus
    kind: str
    reason: str
    started_at: datetime
    ended_at: datetime | None
    ready_s: float | None
    evidence: Mapping[str, Any]
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EventRow:
    """Something that happened during a run, in words; `level` is `info`, `warning` or `error`."""

    id: int
    at: datetime
    level: str
    kind: str
    message: str
    boot_id: int | None
    trial_id: int | None


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a killed run had left open: boots given up, and trials put back into the plan."""

    boots_lost: int
    trials_requeued: int
