"""The folder of one running machine, and the removal of what a killed run left behind.

Everything outside the folder that could outlive its owner carries the folder's id in its name
(cgroup) or its path in its environment (QEMU, clients, the holder of the network namespace), and
the owner holds a lock on the folder that the kernel releases when the owner dies. So a folder
without a lock tells everything that is to be removed, without any list that could be out of date.
Network namespaces and tap devices are not among it: they live only as long as a descriptor of the
owner is open.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from cvmbench.errors import HostCannotError
from cvmbench.paths import cache_directory
from cvmbench.vm import cgroup

PREFIX = "cvmb"
_LOCK = "lock"
_MARK = "CVMBENCH_MACHINE"


def machines_folder() -> Path:
    """Where machines keep their files."""
    return cache_directory() / "machines"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder of one machine. `id` is short enough for a network interface's name."""

    id: str
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment for every process started for the machine; it marks them as its own."""
        return {**os.environ, _MARK: str(self.folder)}


@contextlib.contextmanager
def open_workspace(parent: Path | None = None) -> Iterator[Workspace]:
    """A new locked folder, removed with all that belongs to it when the block ends."""
    parent = parent or machines_folder()
    identity = f"{PREFIX}{secrets.token_hex(4)}"
    folder = parent / identity
    try:
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _nobody_sweeps(parent):
            folder.mkdir(mode=0o700)
            lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise HostCannotError(
            f"No folder for a machine could be made in {parent}.",
            why=f"{error.strerror}.",
            remedy="Free space there, or point CVMBENCH_CACHE at a disk with room.",
        ) from None
    try:
        yield Workspace(identity, folder)
    finally:
        end_all(identity, folder)
        with _nobody_sweeps(parent):
            shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep(parent: Path | None = None) -> list[str]:
    """Remove what machines of dead runs left behind; gives the ids of what was removed."""
    parent = parent or machines_folder()
    swept: list[str] = []
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        return swept
    with _nobody_sweeps(parent):
        for folder in sorted(parent.glob(f"{PREFIX}*")):
            with _orphaned(folder) as orphaned:
                if orphaned:
                    end_all(folder.name, folder)
                    shutil.rmtree(folder, ignore_errors=True)
                    swept.append(folder.name)
    return swept


@contextlib.contextmanager
def _nobody_sweeps(parent: Path) -> Iterator[None]:
    """Hold the folder of machines, so that a machine that is just being made is left alone."""
    lock = os.open(parent / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


@contextlib.contextmanager
def _orphaned(folder: Path) -> Iterator[bool]:
    """True if the owner of a folder is gone; its lock is held meanwhile."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # Nobody makes a machine now, so its owner died between folder and lock.
        yield True
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


def end_all(identity: str, folder: Path) -> None:
    """End every process of the machine and remove its cgroup."""
    _kill(_processes_of(folder))
    cgroup.remove(identity)


def _processes_of(folder: Path) -> list[psutil.Process]:
    """Processes started for the machine, by the mark in their environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(_MARK) == str(folder):
                found.append(process)
    return found


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGKILL)
    psutil.wait_procs(processes, timeout=10)
