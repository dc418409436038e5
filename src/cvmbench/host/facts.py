"""Facts about this host that decide what a number means; recorded with every run.

A fact that cannot be read is None, never a guess.
"""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path
from typing import Any

import psutil

_CPU = Path("/sys/devices/system/cpu")


def host_facts() -> dict[str, Any]:
    """Everything known of this host without starting anything, as JSON data."""
    return {
        "machine": _machine_identity(),
        "system": _os_name(),
        "kernel": platform.release(),
        "kernel_arguments": _read("/proc/cmdline"),
        "cpu_model": _cpuinfo("model name"),
        "cpu_vendor": _cpuinfo("vendor_id"),
        "microcode": _cpuinfo("microcode"),
        "cpus": os.cpu_count(),
        "cpus_usable": len(os.sched_getaffinity(0)),
        "memory_bytes": psutil.virtual_memory().total,
        "smt": _read(_CPU / "smt/control"),
        "governor": _read(_CPU / "cpu0/cpufreq/scaling_governor"),
        "turbo": _turbo(),
        "numa_balancing": _read("/proc/sys/kernel/numa_balancing"),
        "transparent_huge_pages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "ksm": _read("/sys/kernel/mm/ksm/run"),
        "mitigations": _mitigations(),
        "hypervisor": "hypervisor" in (_cpuinfo("flags") or "").split(),
        "user": "root" if os.geteuid() == 0 else "ordinary user",
    }


def changes(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What differs between two sets of facts so that their numbers cannot be mixed."""
    decisive = ("machine", "kernel", "cpu_model", "cpus_usable", "qemu", "kernel_arguments")
    return [
        f"{name}: {before.get(name)} before, {now.get(name)} now"
        for name in decisive
        if before.get(name) != now.get(name)
    ]


def _machine_identity() -> str | None:
    """A hash that tells machines apart without giving the machine's id away (machine-id(5))."""
    identity = _read("/etc/machine-id")
    return hashlib.sha256(f"cvmbench {identity}".encode()).hexdigest()[:16] if identity else None


def _os_name() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _cpuinfo(field: str) -> str | None:
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        name, found, value = line.partition(":")
        if found and name.strip() == field:
            return value.strip()
    return None


def _turbo() -> str | None:
    no_turbo = _read(_CPU / "intel_pstate/no_turbo")
    if no_turbo is not None:
        return "off" if no_turbo == "1" else "on"
    boost = _read(_CPU / "cpufreq/boost")
    return None if boost is None else ("on" if boost == "1" else "off")


def _mitigations() -> dict[str, str | None]:
    folder = _CPU / "vulnerabilities"
    return (
        {entry.name: _read(entry) for entry in sorted(folder.iterdir())} if folder.is_dir() else {}
    )


def _read(path: str | Path) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
