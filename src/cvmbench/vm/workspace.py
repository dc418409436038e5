"""The folder of one running machine, and the removal of what a killed run left behind.

Everything outside the folder that could outlive its owner carries the folder's id in its name
(cgroup) or its path on the command line (QEMU), and the owner holds a lock on the folder that the
kernel releases when the owner dies. So a folder without a lock tells everything that is to be
removed, without any list that could be out of date. Network namespaces and tap devices are not
among it: they live only as long as a descriptor of the owner is open.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from cvmbench.errors import HostCannotError
from cvmbench.paths import cache_directory
from cvmbench.vm import cgroup

PREFIX = "cvmb"
_LOCK = "lock"


def machines_folder() -> Path:
    """Where machines keep their files."""
    return cache_directory() / "machines"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder of one machine. `id` is short enough for a network interface's name."""

    id: str
    folder: Path


@contextlib.contextmanager
def open_workspace(parent: Path | None = None) -> Iterator[Workspace]:
    """A new locked folder, removed with all that belongs to it when the block ends."""
    parent = parent or machines_folder()
    try:
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        identity = f"{PREFIX}{secrets.token_hex(4)}"
        fresh = parent / f".new-{identity}"
        fresh.mkdir(mode=0o700)
        lock = os.open(fresh / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise HostCannotError(
            f"No folder for a machine could be made in {parent}.",
            why=f"{error.strerror}.",
            remedy="Free space there, or point CVMBENCH_CACHE at a disk with room.",
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = fresh.rename(parent / identity)
        yield Workspace(identity, folder)
    finally:
        remove_remains(identity, parent / identity)
        shutil.rmtree(fresh, ignore_errors=True)
        os.close(lock)


def sweep(parent: Path | None = None) -> list[str]:
    """Remove what machines of dead runs left behind; gives the ids of what was removed."""
    parent = parent or machines_folder()
    swept = []
    for folder in sorted(parent.glob(f"*{PREFIX}*")) if parent.is_dir() else []:
        with _orphaned(folder) as orphaned:
            if orphaned:
                identity = folder.name.removeprefix(".new-")
                remove_remains(identity, folder)
                swept.append(identity)
    return swept


@contextlib.contextmanager
def _orphaned(folder: Path) -> Iterator[bool]:
    """True while we hold the lock of a folder whose owner is gone."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # The owner dies between mkdir and open at worst; give a living one time to get there.
        with contextlib.suppress(FileNotFoundError):
            yield time.time() - folder.stat().st_mtime > 60
            return
        yield False
        return
    except OSError:
        yield False
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(lock)


def remove_remains(identity: str, folder: Path) -> None:
    """End every process of the machine and remove its cgroup and folder."""
    _kill(_processes_naming(folder))
    cgroup.remove(identity)
    shutil.rmtree(folder, ignore_errors=True)


def _processes_naming(folder: Path) -> list[psutil.Process]:
    """QEMU and qemu-img processes whose command line names a file in `folder`."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            is_ours = bool(words) and Path(words[0]).name.startswith(("qemu-", "setpriv"))
            if is_ours and any(f"{folder}/" in word for word in words):
                found.append(process)
    return found


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGKILL)
    psutil.wait_procs(processes, timeout=10)
