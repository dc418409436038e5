"""What this host can do and what is missing: the findings of `cvmbench doctor`."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum

import psutil

from cvmbench.errors import CvmbenchError, MissingToolError
from cvmbench.guest.image.cache import Image, cached_images, default_cache_directory
from cvmbench.host.tools import DEBIAN_PACKAGES, find_tool
from cvmbench.paths import cache_directory
from cvmbench.units import format_quantity
from cvmbench.vm.configure import BootFiles
from cvmbench.vm.network import NetworkMode, available_mode
from cvmbench.vm.probe import kvm_verdict, qemu_version
from cvmbench.workloads.catalogue import catalogue

_MEMORY_WANTED = 3 * 2**30
_DISK_WANTED = 6 * 2**30


class Verdict(StrEnum):
    """How a finding stands."""

    READY = "ready"
    LIMITED = "limited"
    """Works, with less than the best; the finding says with what consequence."""
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: its verdict, what was found, and the remedy if there is one."""

    what: str
    verdict: Verdict
    found: str
    remedy: str = ""


async def check_up() -> list[Finding]:
    """Look at everything a campaign on this host depends on."""
    return [finding async for finding in _findings()]


async def _findings() -> AsyncIterator[Finding]:
    yield await _qemu()
    yield await _kvm()
    for program in ("qemu-img", "setpriv", "ip", "mmdebstrap", "mkfs.ext4"):
        yield _program(program, "needed to build images and run guests")
    clients = {
        program: workload.name
        for workload in catalogue().values()
        for program in workload.client_programs
    }
    for program, workload in sorted(clients.items()):
        yield _program(program, f"the client of the workload '{workload}'")
    yield _memory()
    yield _disk()
    yield _network()


async def _qemu() -> Finding:
    try:
        return Finding("QEMU", Verdict.READY, await qemu_version())
    except MissingToolError as error:
        return Finding("QEMU", Verdict.MISSING, error.what, error.remedy)
    except CvmbenchError as error:
        return Finding("QEMU", Verdict.MISSING, str(error))


async def _kvm() -> Finding:
    images = [i for i in cached_images(default_cache_directory()) if isinstance(i, Image)]
    if not images:
        state = "/dev/kvm is there" if os.path.exists("/dev/kvm") else "There is no /dev/kvm"  # noqa: PTH110
        return Finding(
            "KVM",
            Verdict.LIMITED,
            f"{state}; whether it is usable is decided by a probe boot, which needs a guest image.",
            "Build one: cvmbench image build",
        )
    image = images[0]
    try:
        verdict = await kvm_verdict(
            BootFiles(image.kernel, image.initrd, image.kernel_arguments), fresh=True
        )
    except CvmbenchError as error:
        return Finding("KVM", Verdict.LIMITED, str(error))
    if verdict.usable:
        return Finding("KVM", Verdict.READY, verdict.reason)
    return Finding(
        "KVM",
        Verdict.LIMITED,
        f"{verdict.reason} Guests run under TCG: results are functional.",
        "Use a host with working hardware virtualisation for numbers that count.",
    )


def _program(program: str, purpose: str) -> Finding:
    try:
        return Finding(program, Verdict.READY, f"{find_tool(program)} ({purpose})")
    except MissingToolError:
        package = DEBIAN_PACKAGES.get(program, program)
        return Finding(
            program,
            Verdict.MISSING,
            f"Not installed ({purpose}).",
            f"apt-get install {package}",
        )


def _memory() -> Finding:
    free = psutil.virtual_memory().available
    found = f"{format_quantity(free, 'B')} available"
    if free >= _MEMORY_WANTED:
        return Finding("memory", Verdict.READY, found)
    return Finding("memory", Verdict.LIMITED, found, "Choose a small vm.memory in the campaign.")


def _disk() -> Finding:
    folder = cache_directory()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    found = f"{format_quantity(free, 'B')} free for {folder}"
    if free >= _DISK_WANTED:
        return Finding("disk", Verdict.READY, found)
    return Finding(
        "disk",
        Verdict.LIMITED,
        found,
        "Building an image and its boots needs about 6 GB: free some, or set CVMBENCH_CACHE.",
    )


def _network() -> Finding:
    if available_mode() is NetworkMode.TAP:
        return Finding(
            "measured network", Verdict.READY, "tap and bridge in a network namespace of its own"
        )
    return Finding(
        "measured network",
        Verdict.LIMITED,
        "QEMU's user-mode network, which is slow and loses connections when many open at once: "
        "this process may not make tap devices, not even in a user namespace.",
        "Run as root for a tap device and a bridge.",
    )
