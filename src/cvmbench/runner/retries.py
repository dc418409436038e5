"""What a failure means for what comes next, by its kind."""

from __future__ import annotations

from dataclasses import dataclass

from cvmbench.errors import FailureKind


@dataclass(frozen=True, slots=True)
class Consequence:
    """`loses_boot`: the guest is gone or cannot be trusted; the rest of the boot's trials need
    another boot. `repeats`: another attempt may well succeed. `stops_run`: the host itself has a
    problem; trying on would only produce more failures.
    """

    loses_boot: bool
    repeats: bool
    stops_run: bool = False


CONSEQUENCES = {
    FailureKind.GUEST_PANIC: Consequence(loses_boot=True, repeats=True),
    FailureKind.GUEST_HANG: Consequence(loses_boot=True, repeats=True),
    FailureKind.QEMU_DIED: Consequence(loses_boot=True, repeats=True),
    FailureKind.CONNECTION_LOST: Consequence(loses_boot=True, repeats=True),
    FailureKind.NOT_VERIFIED: Consequence(loses_boot=True, repeats=True),
    FailureKind.TOOL_FAILED: Consequence(loses_boot=False, repeats=True),
    FailureKind.OUTPUT_NOT_UNDERSTOOD: Consequence(loses_boot=False, repeats=False),
    FailureKind.TIME_LIMIT: Consequence(loses_boot=False, repeats=True),
    FailureKind.HOST_PROBLEM: Consequence(loses_boot=True, repeats=True, stops_run=True),
}
