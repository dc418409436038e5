"""The disks of one boot: a copy-on-write layer over the image, and an empty data disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.host.tools import call
from cvmbench.units import format_quantity
from cvmbench.vm.spec import MIB
from cvmbench.vm.workspace import Workspace

ROOT_RESERVE_BYTES = 512 * MIB
"""Room for what a boot writes to its root disk."""


async def make_root_overlay(root_disk: Path, where: Workspace) -> Path:
    """A layer over `root_disk` that takes all writes, so that every boot starts equal."""
    overlay = where.folder / "root.qcow2"
    await call(
        "qemu-img",
        "create",
        "-q",
        *("-f", "qcow2", "-F", "raw", "-b", str(root_disk.resolve())),
        str(overlay),
    )
    return overlay


def make_data_disk(size_bytes: int, where: Workspace) -> Path:
    """An empty raw disk with its space reserved; TrialFailure (host problem) if there is none."""
    disk = where.folder / "data.raw"
    try:
        with disk.open("xb") as file:
            os.posix_fallocate(file.fileno(), 0, size_bytes)
    except OSError as error:
        raise _no_room(where.folder, size_bytes, str(error.strerror)) from None
    return disk


def insist_on_room(folder: Path, data_disk_bytes: int) -> None:
    """Raise TrialFailure (host problem) if the disks of a boot would not fit into `folder`."""
    needed = data_disk_bytes + ROOT_RESERVE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise _no_room(folder, needed, f"{format_quantity(free, 'B')} are free")


def _no_room(folder: Path, needed: int, why: str) -> TrialFailure:
    return TrialFailure(
        FailureKind.HOST_PROBLEM,
        f"There is no room for the disks of a boot in {folder}.",
        why=f"{format_quantity(needed, 'B')} are needed; {why}.",
        remedy="Free space there, or point CVMBENCH_CACHE at a disk with room.",
    )
