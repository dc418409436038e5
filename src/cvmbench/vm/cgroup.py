"""A control group (v2) for each machine, where this process may make one."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_GROUP = "cvmbench"


def _root() -> Path | None:
    """Mount point of the version 2 hierarchy, or None if this host has none."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            fields = line.split(" ")
            if len(fields) > 2 and fields[2] == "cgroup2":
                return Path(fields[1])
    return None


def create(identity: str) -> Path | None:
    """Make the group of a machine; None where the host does not allow it."""
    root = _root()
    if root is None or os.geteuid() != 0:
        return None
    path = root / _GROUP / identity
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return path


def add(path: Path, pid: int) -> bool:
    """Move a process into the group; False if the kernel refuses."""
    try:
        (path / "cgroup.procs").write_text(str(pid))
    except OSError:
        return False
    return True


def remove(identity: str) -> None:
    """Kill what is left in the group of a machine and remove the group."""
    root = _root()
    path = root / _GROUP / identity if root else None
    if path is None or not path.is_dir():
        return
    with contextlib.suppress(OSError):
        (path / "cgroup.kill").write_text("1")
    for _ in range(50):
        with contextlib.suppress(OSError):
            path.rmdir()
            break
        time.sleep(0.05)
    with contextlib.suppress(OSError):
        path.parent.rmdir()
