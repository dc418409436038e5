"""What can go wrong with a store, turned into sentences."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError

from cvmbench.errors import StoreError

_ALMOST_NOTHING = 256 * 1024
"""Free bytes below which a failed write is put down to a full disk; SQLite reports some of them
as plain I/O errors (say, when the shared memory file cannot grow)."""


class StoreFullError(StoreError):
    """The disk under the store is full: a problem of the host, not of the trial at hand."""


class WrongStateError(RuntimeError):
    """A step that cannot follow from the stored state, such as measuring a trial twice.

    It is a defect of the caller, never something a user did, so it is no CvmbenchError.
    """


@contextmanager
def store_faults(place: Path) -> Iterator[None]:
    """Run a piece of work on the store at `place`; database and file errors become StoreError."""
    try:
        yield
    except (IntegrityError, ProgrammingError):
        # Wrong use of the schema: a defect, whose traceback is wanted.
        raise
    except DBAPIError as e:
        raise _of_database(place, e.orig) from e
    except sqlite3.Error as e:
        raise _of_database(place, e) from e
    except OSError as e:
        raise _of_system(place, e) from e


def full(place: Path) -> StoreFullError:
    """The error for a disk without room."""
    return StoreFullError(
        f"The disk that holds the result store {place} is full.",
        why="The step at hand was not stored; everything before it is kept.",
        remedy="Free some space there, then continue with `cvmbench resume`.",
    )


def _of_database(place: Path, cause: BaseException | None) -> StoreError:
    name = getattr(cause, "sqlite_errorname", "") or ""
    if name == "SQLITE_FULL" or (name.startswith("SQLITE_IOERR") and _no_room(place)):
        return full(place)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return locked(place)
    if name.startswith("SQLITE_READONLY"):
        return read_only(place)
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return StoreError(
            f"{place} is not a result store, or it is damaged.",
            why=f"SQLite says: {cause}.",
            remedy="Move it away, or name another store with CVMBENCH_STORE.",
        )
    return StoreError(
        f"The result store {place} cannot be used.",
        why=f"The database says: {cause}.",
        remedy="Check the disk and the rights there, or name another store with CVMBENCH_STORE.",
    )


def _of_system(place: Path, cause: OSError) -> StoreError:
    if cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(place)
    if cause.errno == errno.EROFS:
        return read_only(place)
    said = cause.strerror or str(cause)
    if cause.errno == errno.EEXIST:
        said = "Not a directory"  # What mkdir(2) says of a file in the way.
    return StoreError(
        f"The result store {place} cannot be used.",
        why=f"{said}{f': {cause.filename}' if cause.filename else ''}.",
        remedy="Check the path and the rights there, or name another store with CVMBENCH_STORE.",
    )


def _no_room(place: Path) -> bool:
    try:
        return shutil.disk_usage(place.parent).free < _ALMOST_NOTHING
    except OSError:
        return False


def locked(place: Path) -> StoreError:
    """The error for a store that another process keeps busy beyond the time limit."""
    return StoreError(
        f"The result store {place} is locked.",
        why="Another process has been writing to it for longer than the time limit.",
        remedy="Let that process end (`fuser` on the file tells which it is), then try again.",
    )


def read_only(place: Path) -> StoreError:
    """The error for a store that cannot be written."""
    return StoreError(
        f"The result store {place} cannot be written.",
        why="The file or its file system is read-only, or the rights do not allow it.",
        remedy="Make it writable, or name another store with CVMBENCH_STORE.",
    )


def foreign(place: Path) -> StoreError:
    """The error for a database that some other program made."""
    return StoreError(
        f"{place} is a database of some other program.",
        why="It has tables, but none that say it is a result store of cvmbench.",
        remedy="Name another store with CVMBENCH_STORE.",
    )


def newer(place: Path, version: str, ours: str, writer: str) -> StoreError:
    """The error for a store whose schema `version` this program (`ours`) does not know."""
    return StoreError(
        f"The result store {place} is newer than this program.",
        why=f"cvmbench {writer} brought it to schema {version}; this one knows up to {ours}.",
        remedy=f"Use cvmbench {writer} or newer, or name another store with CVMBENCH_STORE.",
    )


def older(place: Path, version: str, ours: str) -> StoreError:
    """The error for a store that would have to be migrated, but is opened for reading only."""
    return StoreError(
        f"The result store {place} is older than this program and opened for reading only.",
        why=f"It has schema {version}; this program reads {ours}.",
        remedy="Copy it to a place that can be written; it is converted when opened there.",
    )


def bad_address(cause: Exception) -> StoreError:
    """The error for the address of a database server that cannot be used."""
    return StoreError(
        "The address of the result store cannot be used.",
        # The address may hold a password and is not repeated.
        why=f"{cause}." if isinstance(cause, ImportError) else "It is no address of a database.",
        remedy="It reads `postgresql+psycopg://user@server/database`; psycopg must be installed.",
    )


def missing(place: Path) -> StoreError:
    """The error for reading a store that was never made."""
    return StoreError(
        f"There is no result store at {place}.",
        remedy="`cvmbench run` makes one; to read another, name it with CVMBENCH_STORE.",
    )
