"""One process at a time works on a run; the lock ends with the process, however that ends."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cvmbench.errors import UsageError
from cvmbench.store.connecting import Opened
from cvmbench.store.faults import store_faults

_PATIENCE_S = 0.3
"""How long a held lock is waited for: `active_runs` of another process holds it for an instant."""


class Locks(Opened):
    """The part of `Store` that tells which runs are being worked on."""

    @contextmanager
    def lock_run(self, key: str) -> Iterator[None]:
        """Hold the run `key` for this process; UsageError, with its PID, if another one does."""
        path = self._lock_path(key)
        with store_faults(self.place):
            self.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = _hold(path, key)
        try:
            yield
        finally:
            # Removed while held: whoever waits for this file finds out that it is gone.
            path.unlink(missing_ok=True)
            os.close(handle)

    def active_runs(self) -> list[str]:
        """The keys of the runs that some process, this one included, works on."""
        with store_faults(self.place):
            if not self.locks.is_dir():
                return []
            return sorted(path.stem for path in self.locks.glob("*.lock") if _is_held(path))

    def _lock_path(self, key: str) -> Path:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", key):
            raise ValueError(f"{key!r} is not the key of a run")
        return self.locks / f"{key}.lock"


def _hold(path: Path, key: str) -> int:
    """A descriptor that holds the lock file `path`, with our PID in it."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(path, handle):
                os.ftruncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
                return handle
        except BlockingIOError:
            if time.monotonic() > deadline:
                holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
                os.close(handle)
                raise UsageError(
                    f"The run {key} is being worked on.",
                    why=f"The process {holder if holder.isdecimal() else '(unknown)'} holds it.",
                    remedy="Let it end, or end it, then try again.",
                ) from None
            time.sleep(0.01)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _is_still(path: Path, handle: int) -> bool:
    """Whether `path` is the file we hold, and not removed by the last holder meanwhile."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _is_held(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
