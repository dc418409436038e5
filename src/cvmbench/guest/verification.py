"""Is this guest what its arm says? Judged on the evidence, after every boot; pure.

A guest that is not verified fails its boot: its numbers do not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cvmbench.campaign.arm import Arm, ArmType
from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.evidence import Evidence
from cvmbench.vm.configure import SWIOTLB_SLOT_BYTES


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation, what was seen, and whether it holds."""

    what: str
    expected: str
    seen: str
    holds: bool


_MEMORY_ENCRYPTION = {
    ArmType.PLAIN: None,
    ArmType.SEV: "AMD SEV",
    ArmType.SEV_ES: "AMD SEV SEV-ES",
    ArmType.SEV_SNP: "AMD SEV SEV-ES SEV-SNP",
    ArmType.TDX: "Intel TDX",
}
"""What the guest kernel prints after `Memory Encryption Features active:` (arch/x86)."""


def verify(arm: Arm, evidence: Evidence, *, vcpus: int, memory_bytes: int) -> tuple[Check, ...]:
    """Every check for `arm`, in order; the guest is verified when all of them hold."""
    return tuple(_checks(arm, evidence, vcpus, memory_bytes))


def insist(arm: Arm, checks: tuple[Check, ...]) -> None:
    """Raise TrialFailure (guest not verified) naming each check that does not hold."""
    broken = [check for check in checks if not check.holds]
    if broken:
        contradictions = "; ".join(
            f"{check.what}: expected {check.expected}, saw {check.seen or 'nothing'}"
            for check in broken
        )
        raise TrialFailure(
            FailureKind.NOT_VERIFIED,
            f"The guest is not what the arm '{arm.name}' says.",
            why=f"{contradictions}.",
            remedy="None of its numbers count; look at its serial log and the QEMU command line.",
        )


def _checks(arm: Arm, evidence: Evidence, vcpus: int, memory_bytes: int) -> Iterator[Check]:
    yield _memory_encryption(arm.type, evidence)
    yield _equal("systemd-detect-virt --cvm", _cvm_name(arm.type), evidence["confidential"])
    yield _equal("number of vCPUs", str(vcpus), evidence["vcpus"])
    yield _memory(memory_bytes, evidence)
    yield _bounce_buffers(arm, evidence)
    yield _idle_polling(arm, evidence)


def _memory_encryption(arm_type: ArmType, evidence: Evidence) -> Check:
    expected = _MEMORY_ENCRYPTION[arm_type]
    _, found, active = evidence["memory_encryption"].partition("Features active:")
    seen = active.strip() if found else ""
    return Check(
        "memory encryption in the kernel log",
        expected or "none",
        seen or "none",
        seen == (expected or ""),
    )


def _cvm_name(arm_type: ArmType) -> str:
    return "none" if arm_type is ArmType.PLAIN else arm_type.value


def _equal(what: str, expected: str, seen: str) -> Check:
    return Check(what, expected, seen, expected == seen)


def _memory(memory_bytes: int, evidence: Evidence) -> Check:
    """The guest sees its memory less its bounce buffers and what firmware and kernel keep.

    The bounce buffers are taken out before MemTotal is counted; of the rest, at least three
    quarters must be there.
    """
    seen_kb = evidence.number("memory_kb") or 0
    pool_bytes = (evidence.number("swiotlb_slots") or 0) * SWIOTLB_SLOT_BYTES
    rest = f"{memory_bytes // 1024} kB"
    if pool_bytes:
        rest += f" less {pool_bytes // 1024} kB of bounce buffers"
    return Check(
        "memory of the guest",
        f"75 to 100% of {rest}",
        f"{seen_kb} kB",
        0.75 * (memory_bytes - pool_bytes) <= seen_kb * 1024 <= memory_bytes - pool_bytes,
    )


def _bounce_buffers(arm: Arm, evidence: Evidence) -> Check:
    """Forced bounce buffers are in use once the guest has read its disk: high water above 0.

    The kernel rounds the number of slots up, never down.
    """
    forced = [word for word in evidence.kernel_arguments if re.fullmatch(r"swiotlb=\S*force", word)]
    used = evidence.number("swiotlb_high_water") or 0
    slots = evidence.number("swiotlb_slots") or 0
    seen = f"{' '.join(forced) or 'not forced'}, {slots} slots, high water {used}"
    if not arm.has("swiotlb"):
        ordinary = arm.type is ArmType.PLAIN
        holds = not forced and (used == 0 or not ordinary)
        return Check("bounce buffers", "not forced, unused", seen, holds)
    wanted = (arm.value_of("swiotlb") or 0) * 2**20 // SWIOTLB_SLOT_BYTES
    return Check(
        "bounce buffers",
        f"forced, at least {wanted} slots, used by the boot disk",
        seen,
        bool(forced) and slots >= wanted and used > 0,
    )


def _idle_polling(arm: Arm, evidence: Evidence) -> Check:
    asked = "idle=poll" in evidence.kernel_arguments
    in_effect = bool(evidence["polling_idle"])
    seen = f"{'idle=poll' if asked else 'no idle=poll'}"
    seen += ", kernel polls" if in_effect else ", kernel does not say that it polls"
    wanted = arm.has("idle-poll")
    return Check(
        "idle polling",
        "in effect" if wanted else "off",
        seen,
        asked is wanted and in_effect is wanted,
    )
