"""What the engine tells while it works; who listens decides how it looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunBegan:
    """The engine starts on a run with this many trials left; `left_s` is a first estimate."""

    key: str
    trials: int
    trials_left: int
    left_s: float


@dataclass(frozen=True, slots=True)
class BootBegan:
    """A boot starts: arm, block, how many blocks there are, and which attempt this is."""

    arm: str
    block: int
    blocks: int
    attempt: int


@dataclass(frozen=True, slots=True)
class GuestReady:
    """The guest answered and was verified, `seconds` after QEMU's start."""

    arm: str
    block: int
    seconds: float


@dataclass(frozen=True, slots=True)
class BootFailed:
    """A boot was lost; it is repeated inside its block while attempts are left."""

    arm: str
    block: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Step:
    """What a trial is doing: prepare, warm-up, or iteration k of n."""

    arm: str
    block: int
    workload: str
    what: str


@dataclass(frozen=True, slots=True)
class TrialEnded:
    """A trial ended with a status; `headline` is its main figure for people, if measured."""

    arm: str
    block: int
    workload: str
    status: str
    reason: str
    headline: str
    trials_left: int
    left_s: float


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence worth reading."""

    text: str
    is_warning: bool = False


Event = RunBegan | BootBegan | GuestReady | BootFailed | Step | TrialEnded | Note
Listener = Callable[[Event], None]
