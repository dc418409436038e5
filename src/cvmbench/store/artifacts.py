"""Raw outputs as compressed files beside the database, each stored once, named by its content."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import tempfile
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sqlalchemy import Connection, insert, select

from cvmbench.errors import StoreError, UsageError
from cvmbench.store.connecting import Opened
from cvmbench.store.faults import store_faults
from cvmbench.store.records import RawFile
from cvmbench.store.schema import artifact

LARGEST_RAW_BYTES = 256 * 2**20
"""No raw file is nearly as large; a compressed one that is was not written by cvmbench."""

_CHUNK = 2**20
_COMPRESSION = 6
_ABANDONED_S = 24 * 3600.0
"""Age at which a half-written file belongs to a process that was killed."""


class StoredFile(NamedTuple):
    """One raw file: what it is, the SHA-256 of its content (hex), and its size in bytes."""

    role: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class ContentFiles:
    """A folder of gzip files named `aa/<sha256>.gz` after their uncompressed content."""

    folder: Path

    def add(self, content: bytes | Path) -> tuple[str, int]:
        """Store `content`; returns its SHA-256 and size. On disk, under its name, at return."""
        if isinstance(content, bytes):
            digest = hashlib.sha256(content).hexdigest()
            if self.path(digest).exists():
                return digest, len(content)
            return self._write(io.BytesIO(content))
        with content.open("rb") as source:
            return self._write(source)

    def path(self, sha256: str) -> Path:
        """Where the content with this hash is, or would be."""
        return self.folder / sha256[:2] / f"{sha256}.gz"

    def sweep(self) -> None:
        """Remove half-written files that a killed process left long ago."""
        for left in self._incoming.glob("*"):
            if time.time() - left.stat().st_mtime > _ABANDONED_S:
                left.unlink(missing_ok=True)

    @property
    def _incoming(self) -> Path:
        return self.folder / "incoming"

    def _write(self, source: BinaryIO) -> tuple[str, int]:
        self._incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
        digest = hashlib.sha256()
        size = 0
        with tempfile.NamedTemporaryFile(dir=self._incoming, delete=False) as target:
            temporary = Path(target.name)
            try:
                with gzip.GzipFile("", "wb", _COMPRESSION, target, mtime=0) as packed:
                    while chunk := source.read(_CHUNK):
                        digest.update(chunk)
                        size += len(chunk)
                        packed.write(chunk)
                target.flush()
                os.fsync(target.fileno())
                self._put(temporary, self.path(digest.hexdigest()))
            finally:
                temporary.unlink(missing_ok=True)
        return digest.hexdigest(), size

    def _put(self, temporary: Path, place: Path) -> None:
        if place.exists():
            return
        new_folder = not place.parent.exists()
        place.parent.mkdir(mode=0o700, exist_ok=True)
        temporary.rename(place)
        _sync_folder(place.parent)
        if new_folder:
            _sync_folder(self.folder)


class RawFiles(Opened):
    """The part of `Store` about raw outputs."""

    def raw_files(
        self,
        *,
        trial_id: int | None = None,
        boot_id: int | None = None,
        attempt: int | None = None,
    ) -> list[StoredFile]:
        """The raw files of one trial or one boot, oldest first, all attempts unless one is named.

        Raises ValueError unless exactly one of `trial_id` and `boot_id` is given.
        """
        if (trial_id is None) == (boot_id is None):
            raise ValueError("raw files belong to one trial or to one boot")
        owner = artifact.c.trial_id == trial_id
        if trial_id is None:
            owner = artifact.c.boot_id == boot_id
        query = select(artifact.c.role, artifact.c.sha256, artifact.c.size).where(owner)
        if attempt is not None:
            query = query.where(artifact.c.attempt == attempt)
        with self.reading() as connection:
            rows = connection.execute(query.order_by(artifact.c.id))
            return [StoredFile(row.role, row.sha256, row.size) for row in rows]

    def read_raw(self, sha256: str) -> bytes:
        """The content of a raw file.

        Raises UsageError if `sha256` is no hash, StoreError if there is no such file or its
        content is not what its name says.
        """
        if not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise UsageError(
                f"{sha256[:80]!r} is not the name of a raw file.",
                why="A name is a SHA-256 of 64 hexadecimal digits.",
            )
        path = ContentFiles(self.files).path(sha256)
        try:
            with gzip.open(path) as file:
                content = file.read(LARGEST_RAW_BYTES + 1)
        except FileNotFoundError:
            raise StoreError(
                f"The raw file {sha256} is not in the store.",
                why=f"{path} does not exist.",
                remedy="Copy the folder of raw files together with the database.",
            ) from None
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise _damaged(path) from None
        except OSError as error:
            raise StoreError(
                f"The raw file {sha256} cannot be read.", why=f"{path}: {error.strerror or error}."
            ) from None
        if len(content) > LARGEST_RAW_BYTES or hashlib.sha256(content).hexdigest() != sha256:
            raise _damaged(path)
        return content

    def keep(self, raw: Sequence[RawFile]) -> list[StoredFile]:
        """Write the contents of raw files, so that rows can name them afterwards."""
        if not raw:
            return []
        files = ContentFiles(self.files)
        with store_faults(self.place):
            return [StoredFile(file.role, *files.add(file.content)) for file in raw]

    def note(
        self,
        connection: Connection,
        kept: Sequence[StoredFile],
        *,
        attempt: int,
        trial_id: int | None = None,
        boot_id: int | None = None,
    ) -> None:
        """Add the rows of files that are kept, as part of a transaction."""
        if kept:
            owner = {"trial_id": trial_id, "boot_id": boot_id, "attempt": attempt}
            connection.execute(insert(artifact), [{**owner, **file._asdict()} for file in kept])


def _damaged(path: Path) -> StoreError:
    return StoreError(
        f"The raw file {path} is damaged.",
        why="Its content is not what its name says.",
        remedy="Take it from a backup; the samples in the database are not affected.",
    )


def _sync_folder(folder: Path) -> None:
    """Make a new name in `folder` outlive a power cut (fsync(2) of the file does not)."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
