"""A virtual machine as a frozen value: what it is made of, before anything runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

MIB = 2**20

CONTROL_MAC = "52:54:00:c7:b0:01"
MEASURED_MAC = "52:54:00:c7:b0:02"
DATA_DISK_SERIAL = "cvmbench-data"


class Accelerator(StrEnum):
    """What executes the guest's instructions."""

    KVM = "kvm"
    TCG = "tcg"


@dataclass(frozen=True, slots=True)
class Disk:
    """A virtio block device backed by a file.

    `direct` keeps the host's page cache out of the way (O_DIRECT). `scratch` disks need not
    survive the machine, so flushes are dropped.
    """

    id: str
    file: Path
    format: str
    direct: bool
    scratch: bool
    serial: str = ""


@dataclass(frozen=True, slots=True)
class Forward:
    """A TCP port of the host's loopback that leads to a port of the guest."""

    host_port: int
    guest_port: int


@dataclass(frozen=True, slots=True)
class UserNetwork:
    """A NIC behind QEMU's user-mode network stack; `network` is its subnet."""

    id: str
    mac: str
    network: str
    forwards: tuple[Forward, ...] = ()


@dataclass(frozen=True, slots=True)
class TapNetwork:
    """A NIC on a tap device of the host."""

    id: str
    mac: str
    interface: str


@dataclass(frozen=True, slots=True)
class VmSpec:
    """Everything that decides what QEMU is told.

    Two arms can be compared field by field: what differs beyond what their names say is a
    confound. Sizes in bytes.
    """

    accelerator: Accelerator
    cpu: str
    vcpus: int
    memory_bytes: int
    kernel: Path
    initrd: Path
    kernel_arguments: tuple[str, ...]
    disks: tuple[Disk, ...]
    networks: tuple[UserNetwork | TapNetwork, ...]

    def as_data(self) -> Mapping[str, Any]:
        """The spec as JSON data, for the store."""
        return {name: _plain(value) for name, value in dataclasses.asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value
