"""Can this host really run a guest under KVM? Decided by a probe boot, not by /dev/kvm.

Some hosts offer a /dev/kvm that opens and answers, and cannot run an unmodified kernel: the guest
spins after the firmware, or QEMU asserts on an MSR. Only the guest kernel's first line tells.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import platform
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from cvmbench.errors import CvmbenchError, TrialFailure
from cvmbench.host.tools import call
from cvmbench.paths import cache_directory
from cvmbench.vm.configure import BootFiles
from cvmbench.vm.machine import running
from cvmbench.vm.spec import MIB, Accelerator, VmSpec
from cvmbench.vm.workspace import open_workspace

PROBE_S = 10.0
"""How long the kernel's first line may take; under working KVM it takes well under a second."""

_KVM_GET_API_VERSION = 0xAE00  # linux/kvm.h
_KVM_API_VERSION = 12


class KvmVerdict(BaseModel):
    """Whether KVM is usable, in a sentence; `subject` says for which combination it holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    usable: bool
    reason: str
    subject: str


async def kvm_verdict(files: BootFiles, *, fresh: bool = False) -> KvmVerdict:
    """The verdict for this host kernel, QEMU and guest kernel; kept once it was found by a boot."""
    if reason := _device_problem():
        return KvmVerdict(usable=False, reason=reason, subject="/dev/kvm")
    subject = f"{platform.release()} | {await qemu_version()} | {_identity(files.kernel)}"
    kept = None if fresh else kept_verdict()
    if kept is not None and kept.subject == subject:
        return kept
    verdict = await _probe_boot(files, subject)
    _keep(verdict)
    return verdict


async def qemu_version() -> str:
    """The first line of `qemu-system-x86_64 --version`."""
    return (await call("qemu-system-x86_64", "--version")).splitlines()[0].strip()


def _device_problem() -> str:
    """Why /dev/kvm cannot even be asked; empty if it can."""
    try:
        device = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return "KVM is not usable here: there is no /dev/kvm."
    except OSError as error:
        return f"KVM is not usable here: /dev/kvm cannot be opened ({error.strerror})."
    try:
        version = fcntl.ioctl(device, _KVM_GET_API_VERSION, 0)
    except OSError as error:
        return f"KVM is not usable here: /dev/kvm does not answer ({error.strerror})."
    finally:
        os.close(device)
    if version != _KVM_API_VERSION:
        return f"KVM is not usable here: /dev/kvm speaks version {version}, not 12."
    return ""


async def _probe_boot(files: BootFiles, subject: str) -> KvmVerdict:
    spec = VmSpec(
        accelerator=Accelerator.KVM,
        cpu="host",
        vcpus=1,
        memory_bytes=512 * MIB,
        kernel=files.kernel,
        initrd=files.initrd,
        kernel_arguments=("console=ttyS0", "panic=-1", "earlyprintk=ttyS0"),
        disks=(),
        networks=(),
    )
    reason = ""
    try:
        with open_workspace() as workspace:
            async with running(spec, workspace) as machine, asyncio.timeout(PROBE_S):
                await machine.guard(machine.serial.kernel.wait())
    except TimeoutError:
        reason = f"the guest kernel printed nothing within {PROBE_S:.0f} s of a probe boot"
    except TrialFailure as failure:
        reason = f"in a probe boot, {_first_words(failure)}"
    except CvmbenchError as error:
        reason = f"a probe boot could not be made ({error.what})"
    if reason:
        return KvmVerdict(
            usable=False,
            reason=f"/dev/kvm is there, but KVM is not usable here: {reason}.",
            subject=subject,
        )
    return KvmVerdict(
        usable=True, reason="KVM is usable: a probe boot reached the guest kernel.", subject=subject
    )


def _first_words(failure: TrialFailure) -> str:
    """What ended the probe, on one short line: QEMU's own first complaint where there is one."""
    _, said, complaint = failure.why.partition("QEMU said: ")
    first = complaint.split(" | ")[0].removeprefix("qemu-system-x86_64: ").removeprefix("error: ")
    return f"QEMU said '{first.rstrip('.)')}'" if said else failure.what.rstrip(".")


def _identity(file: Path) -> str:
    state = file.stat()
    return f"{file.name} {state.st_size} {state.st_mtime_ns}"


def _verdict_file() -> Path:
    return cache_directory() / "kvm-verdict.json"


def kept_verdict() -> KvmVerdict | None:
    """The verdict of the last probe boot on this host, if one was made."""
    try:
        return KvmVerdict.model_validate_json(_verdict_file().read_text())
    except (OSError, ValidationError, ValueError):
        return None


def _keep(verdict: KvmVerdict) -> None:
    path = _verdict_file()
    with contextlib.suppress(OSError):  # it is only a memory: without it, the next one is probed
        _write(path, verdict)


def _write(path: Path, verdict: KvmVerdict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(verdict.model_dump_json())
    temporary.replace(path)
