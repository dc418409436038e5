"""What QEMU's own words mean: cause and remedy for each way it can refuse to start."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """One known message of QEMU, with why it appears and what to do about it.

    `transient` causes may be gone at the next try.
    """

    pattern: re.Pattern[str]
    why: str
    remedy: str
    transient: bool = False


CAUSES = (
    Cause(
        re.compile(r"Could not set up host forwarding rule"),
        "The port on the loopback interface that was free a moment ago is taken.",
        "Try again; a port is chosen anew each time.",
        transient=True,
    ),
    Cause(
        re.compile(r"Could not access KVM kernel module: (?P<reason>.*)|Could not open '/dev/kvm'"),
        "This process cannot open /dev/kvm.",
        "Load the kvm module, add the user to the group 'kvm', or set accelerator = \"tcg\".",
    ),
    Cause(
        re.compile(r"failed to set MSR 0x[0-9a-f]+"),
        "KVM is there but cannot run this CPU model.",
        'Set accelerator = "tcg", or use a host whose KVM works.',
    ),
    Cause(
        re.compile(r"[Cc]annot set up guest memory|Cannot allocate memory"),
        "The host has not enough free memory for the guest.",
        "Give the VM less memory (vm.memory in the campaign) or free some on the host.",
    ),
    Cause(
        re.compile(r"No space left on device"),
        "The disk that holds the machine's files is full.",
        "Free space there, or point CVMBENCH_CACHE at a disk with room.",
    ),
    Cause(
        re.compile(r"does not support O_DIRECT|aio=native was specified|Could not open .*Invalid"),
        "The folder of the machine's disks is on a file system without direct I/O (a tmpfs, say).",
        "Point CVMBENCH_CACHE at a folder on a disk.",
    ),
)


def diagnose(stderr: str) -> Cause | None:
    """The first known cause that QEMU's standard error names, or None."""
    return next((cause for cause in CAUSES if cause.pattern.search(stderr)), None)
