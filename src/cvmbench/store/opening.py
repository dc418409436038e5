"""Opening a store: finding it, making it, bringing its schema up to date."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, insert, inspect, text
from sqlalchemy.exc import ArgumentError

from cvmbench import __version__
from cvmbench.errors import StoreError
from cvmbench.store import faults
from cvmbench.store.columns import to_json
from cvmbench.store.connecting import Opened, sqlite_engine
from cvmbench.store.schema import SCHEMA_VERSION, schema_version

MIGRATIONS = Path(__file__).parent / "migrations"


def open_file(path: Path, *, read_only: bool, timeout_s: float) -> Opened:
    """Open the SQLite store at `path`, made and migrated as needed; StoreError if it cannot be."""
    path = path.absolute()
    with faults.store_faults(path):
        if path.exists() and not path.is_file():
            raise StoreError(
                f"{path} is not a regular file, so it cannot be a store.",
                remedy="Name another file with --store.",
            )
        if not read_only:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # os.access, not the mode: it knows of read-only mounts and immutable files, for root
            # too.
            if not os.access(path if path.exists() else path.parent, os.W_OK):
                raise faults.read_only(path)
        elif not path.exists():
            raise faults.missing(path)
        engine = sqlite_engine(path, read_only=read_only, timeout_s=timeout_s)
        try:
            _bring_up_to_date(engine, path, read_only=read_only, timeout_s=timeout_s)
        except BaseException:
            engine.dispose()
            raise
    return Opened(
        engine, path, path.with_name(f"{path.stem}.files"), path.with_name(f"{path.stem}.locks")
    )


def open_server(url: str, directory: Path, *, timeout_s: float) -> Opened:
    """Open the store in the PostgreSQL database `url`, with its files in `directory`."""
    try:
        engine = create_engine(url, json_serializer=to_json)
    except (ImportError, ArgumentError) as e:
        raise faults.bad_address(e) from e
    directory = directory.absolute()
    with faults.store_faults(directory):
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _bring_up_to_date(engine, directory, read_only=False, timeout_s=timeout_s)
        except BaseException:
            engine.dispose()
            raise
    return Opened(engine, directory, directory / "files", directory / "locks")


def _bring_up_to_date(engine: Engine, place: Path, *, read_only: bool, timeout_s: float) -> None:
    if _is_current(engine, place):
        return
    if read_only:
        raise faults.older(place, _found_version(engine, place) or "none", SCHEMA_VERSION)
    directory = place if place.is_dir() else place.parent
    with _alone_in(directory, place, timeout_s):
        if engine.dialect.name == "sqlite":
            # Kept in the file from here on. It cannot be set within a transaction, and
            # SQLAlchemy's connections are always in one.
            with closing(engine.raw_connection()) as raw:
                raw.cursor().execute("PRAGMA journal_mode=WAL")
        with engine.connect() as connection:
            connection = connection.execution_options(cvmbench_begin="BEGIN IMMEDIATE")
            with connection.begin():
                if _version(connection, place) != SCHEMA_VERSION:
                    _migrate(connection)


def _is_current(engine: Engine, place: Path) -> bool:
    found = _found_version(engine, place)
    if found is None or found < SCHEMA_VERSION:
        return False
    if found == SCHEMA_VERSION:
        return True
    with engine.connect() as connection:
        writer = connection.execute(
            text("SELECT tool_version FROM schema_version WHERE version = :v"), {"v": found}
        ).scalar()
    raise faults.newer(place, found, SCHEMA_VERSION, writer or "(unknown)")


def _found_version(engine: Engine, place: Path) -> str | None:
    with engine.connect() as connection:
        return _version(connection, place)


def _version(connection: Connection, place: Path) -> str | None:
    """The schema version of the store, None for an empty database."""
    tables = set(inspect(connection).get_table_names())
    if not tables:
        return None
    if not {"alembic_version", "schema_version"} <= tables:
        raise faults.foreign(place)
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return str(found)


def _migrate(connection: Connection) -> None:
    # Alembic takes longer to import than the rest of the store; most openings need none of it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, SCHEMA_VERSION)
    connection.execute(
        insert(schema_version).values(
            version=SCHEMA_VERSION, tool_version=__version__, applied_at=datetime.now(UTC)
        )
    )


@contextmanager
def _alone_in(directory: Path, place: Path, timeout_s: float) -> Iterator[None]:
    """Let one process at a time make or migrate a store in `directory`.

    The lock is on the directory itself and ends with the process, so that nothing is left over.
    """
    deadline = time.monotonic() + timeout_s
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise faults.locked(place) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(handle)
