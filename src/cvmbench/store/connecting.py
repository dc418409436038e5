"""Connections to the database: pragmas, transactions, and errors as sentences."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from cvmbench.store.columns import to_json
from cvmbench.store.faults import store_faults

PRAGMAS = (
    "PRAGMA foreign_keys=ON",
    # A commit returns only when the log is on the disk: a finished trial outlives a power cut.
    "PRAGMA synchronous=FULL",
    "PRAGMA cache_size=-16384",
)


class Opened:
    """An open database with the files that belong to it; the base of `Store`.

    `place` is what messages call the store, `files` the folder of raw outputs, `locks` the folder
    of run locks.
    """

    def __init__(self, engine: Engine, place: Path, files: Path, locks: Path) -> None:
        self.engine = engine
        self.place = place
        self.files = files
        self.locks = locks

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the store throughout."""
        with store_faults(self.place), self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                # SQLite's transactions see one state anyhow.
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is written whole at the end, or not at all after an exception."""
        with store_faults(self.place), self.engine.connect() as connection:
            # A transaction that starts by reading and writes later cannot wait for its turn
            # (SQLITE_BUSY_SNAPSHOT); one that takes the write lock at once can.
            # https://www.sqlite.org/lang_transaction.html
            connection = connection.execution_options(cvmbench_begin="BEGIN IMMEDIATE")
            with connection.begin():
                yield connection


def sqlite_engine(path: Path, *, read_only: bool, timeout_s: float) -> Engine:
    """An engine for the SQLite file `path`; made if it is missing, unless `read_only`."""
    address = f"file:{quote(str(path))}?mode={'ro' if read_only else 'rwc'}"
    if read_only and not os.access(path.parent, os.W_OK) and not _has_log(path):
        # SQLite wants to make a shared memory file beside a database in WAL mode; where nothing
        # can be made nothing changes either. https://www.sqlite.org/wal.html#readonly
        address += "&immutable=1"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            address,
            uri=True,
            timeout=timeout_s,
            # SQLAlchemy's events below begin transactions; the driver's own guessing is off.
            isolation_level=None,
            # The pool hands a connection to one thread at a time.
            check_same_thread=False,
        )

    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, json_serializer=to_json
    )

    @event.listens_for(engine, "connect")
    def _set_pragmas(connection: Any, _record: Any) -> None:
        for pragma in PRAGMAS:
            connection.execute(pragma)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(
            connection.get_execution_options().get("cvmbench_begin", "BEGIN")
        )

    return engine


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0
