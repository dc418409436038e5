"""The SSH keys of this installation: every guest's host key, and the key that logs in to it."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import asyncssh

from cvmbench.errors import HostCannotError
from cvmbench.paths import data_directory

_HOST_KEY = "guest_host_ed25519"
_LOGIN_KEY = "login_ed25519"


def default_key_directory() -> Path:
    """Where the keys of this installation are kept."""
    return data_directory() / "keys"


@dataclass(frozen=True, slots=True)
class InstallationKeys:
    """Two ed25519 key pairs, made once; public parts are one OpenSSH line without comment.

    `login_key` and `host_key` are private key files in OpenSSH format, mode 0600. A connection
    accepts no other guest than one that proves it has `host_public_key`.
    """

    login_key: Path
    host_key: Path
    login_public_key: str
    host_public_key: str

    @classmethod
    def load_or_create(cls, directory: Path | None = None) -> Self:
        """The keys in `directory` (default: `default_key_directory()`), made if not there yet.

        Any number of processes may call this at once; all get the same keys. Raises
        HostCannotError if the directory cannot be used or a key file is not a key.
        """
        directory = directory or default_key_directory()
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory.chmod(0o700)
            with (directory / ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                host_key, host_public = _load_or_create(directory / _HOST_KEY)
                login_key, login_public = _load_or_create(directory / _LOGIN_KEY)
        except OSError as error:
            raise HostCannotError(
                f"The SSH keys of this installation cannot be used: {error}.",
                remedy=f"Make {directory} a directory that you may write to.",
            ) from error
        return cls(login_key, host_key, login_public, host_public)


def _load_or_create(path: Path) -> tuple[Path, str]:
    """The private key file `path`, made if missing, and its public key line."""
    if not path.exists():
        _write_new_key(path)
    path.chmod(0o600)
    try:
        key = asyncssh.read_private_key(path)
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise HostCannotError(
            f"{path} is not a private key.",
            why=f"{error}.",
            remedy="Delete the file: a new key is made, and guest images are built anew with it.",
        ) from error
    key.set_comment(None)
    return path, key.export_public_key("openssh").decode().strip()


def _write_new_key(path: Path) -> None:
    """Write a new key so that `path` is never seen half-written; a crash leaves no file."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.unlink(missing_ok=True)
    content = asyncssh.generate_private_key("ssh-ed25519").export_private_key("openssh")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)
