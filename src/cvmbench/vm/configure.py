"""From an arm and a size to a VM spec; pure.

Each modifier is one entry of a table and changes the baseline spec in one way, so that an arm
differs from the baseline in nothing but what its name says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cvmbench.campaign.arm import Arm, ArmType
from cvmbench.errors import HostCannotError
from cvmbench.vm.spec import (
    CONTROL_MAC,
    DATA_DISK_SERIAL,
    MIB,
    Accelerator,
    Disk,
    Forward,
    TapNetwork,
    UserNetwork,
    VmSpec,
)

CONTROL_NETWORK = "10.0.2.0/24"
SSH_PORT = 22
SWIOTLB_SLOT_BYTES = 2048
"""IO_TLB_SIZE of the kernel (include/linux/swiotlb.h)."""


@dataclass(frozen=True, slots=True)
class BootFiles:
    """What a guest boots from: its kernel, initramfs and the kernel arguments both need."""

    kernel: Path
    initrd: Path
    kernel_arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """Where the changing parts of one boot lie: disks, control port, measured network."""

    root_overlay: Path
    data_disk: Path
    control_port: int
    measured: UserNetwork | TapNetwork
    measured_address: str
    """Address and prefix length that the guest gives its measured NIC."""


def configure(
    arm: Arm,
    *,
    vcpus: int,
    memory_bytes: int,
    accelerator: Accelerator,
    files: BootFiles,
    places: Places,
) -> VmSpec:
    """The VM of `arm`. Raises HostCannotError for types that this version cannot launch."""
    if arm.type is not ArmType.PLAIN:
        raise HostCannotError(
            f"The arm '{arm.name}' is of type '{arm.type}', which this version cannot start.",
            why="Only ordinary VMs ('plain') are launched so far.",
            remedy="Use 'plain' with modifiers; see `cvmbench list arms`.",
        )
    spec = VmSpec(
        accelerator=accelerator,
        cpu="host" if accelerator is Accelerator.KVM else "max",
        vcpus=vcpus,
        memory_bytes=memory_bytes,
        kernel=files.kernel,
        initrd=files.initrd,
        kernel_arguments=(
            *files.kernel_arguments,
            "panic=-1",
            f"cvmbench.measured={places.measured_address}",
        ),
        disks=(
            Disk("root", places.root_overlay, "qcow2", direct=False, scratch=True),
            Disk(
                "data",
                places.data_disk,
                "raw",
                direct=True,
                scratch=False,
                serial=DATA_DISK_SERIAL,
            ),
        ),
        networks=(
            UserNetwork(
                "control",
                CONTROL_MAC,
                CONTROL_NETWORK,
                (Forward(places.control_port, SSH_PORT),),
            ),
            places.measured,
        ),
    )
    for name, value in arm.modifiers:
        spec = _MODIFY[name](spec, value)
    return spec


def _swiotlb(spec: VmSpec, mebibytes: int | None) -> VmSpec:
    slots = (mebibytes or 0) * MIB // SWIOTLB_SLOT_BYTES
    return _with_kernel_argument(spec, f"swiotlb={slots},force")


def _idle_poll(spec: VmSpec, _: int | None) -> VmSpec:
    return _with_kernel_argument(spec, "idle=poll")


def _with_kernel_argument(spec: VmSpec, argument: str) -> VmSpec:
    return dataclasses.replace(spec, kernel_arguments=(*spec.kernel_arguments, argument))


_MODIFY: Mapping[str, Callable[[VmSpec, int | None], VmSpec]] = {
    "swiotlb": _swiotlb,
    "idle-poll": _idle_poll,
}
