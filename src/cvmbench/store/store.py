"""The result store as the rest of the program sees it."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from cvmbench.paths import data_directory
from cvmbench.store.artifacts import ContentFiles
from cvmbench.store.boots import Boots
from cvmbench.store.connecting import Opened
from cvmbench.store.events import Events
from cvmbench.store.faults import store_faults
from cvmbench.store.frames import Frames
from cvmbench.store.locks import Locks
from cvmbench.store.opening import open_file, open_server
from cvmbench.store.planned import Planned
from cvmbench.store.runs import Runs
from cvmbench.store.trials import Trials

STORE_VARIABLE = "CVMBENCH_STORE"
"""Environment variable that names the store's database file."""

TIMEOUT_S = 30.0
"""How long a process waits for another one that is writing."""


class Store(Runs, Planned, Boots, Trials, Events, Frames, Locks):
    """An open store; a context manager. Safe to use from several threads and processes.

    Every method raises StoreError if the database or its disk cannot be used, and its subclass
    StoreFullError if the disk is full.
    """

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, timeout_s: float = TIMEOUT_S) -> Self:
        """Open the SQLite store at `path`, which is made (with its folder, 0700) if missing.

        An older schema is migrated. `read_only` neither makes nor changes anything. A lock held
        by another process for longer than `timeout_s` seconds is a StoreError.
        """
        return cls._of(open_file(path, read_only=read_only, timeout_s=timeout_s), read_only)

    @classmethod
    def open_server(cls, url: str, directory: Path, *, timeout_s: float = TIMEOUT_S) -> Self:
        """Open the store in the PostgreSQL database `url` (SQLAlchemy's form).

        Raw files and run locks are in `directory`.
        """
        return cls._of(open_server(url, directory, timeout_s=timeout_s), read_only=False)

    @staticmethod
    def default_path() -> Path:
        """Where the store is if nothing else is said: `CVMBENCH_STORE`, or the user's data."""
        named = os.environ.get(STORE_VARIABLE)
        if named:
            return Path(named).expanduser()
        return data_directory() / "results.sqlite"

    @classmethod
    def _of(cls, opened: Opened, read_only: bool) -> Self:
        store = cls(opened.engine, opened.place, opened.files, opened.locks)
        if not read_only:
            with store_faults(store.place):
                ContentFiles(store.files).sweep()
        return store

    def close(self) -> None:
        """Close all connections; the store object is of no use afterwards."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
