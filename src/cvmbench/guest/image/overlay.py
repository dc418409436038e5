"""The files of ours that are laid over the Debian tree, as a tar archive."""

from __future__ import annotations

import io
import tarfile
from pathlib import PurePosixPath

from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.guest.image.recipe import ImageFile, ImageRecipe, image_files


def overlay_archive(recipe: ImageRecipe, keys: InstallationKeys) -> bytes:
    """A tar archive of our files and the keys, all owned by root.

    It holds the private host key: keep it where nobody else can read it.
    """
    machine_id = recipe.digest[:32]
    files = [
        *image_files("root"),
        ImageFile("etc/ssh/ssh_host_ed25519_key", keys.host_key.read_bytes(), 0o600),
        ImageFile("etc/ssh/ssh_host_ed25519_key.pub", _line(keys.host_public_key), 0o644),
        ImageFile("root/.ssh/authorized_keys", _line(keys.login_public_key), 0o600),
        ImageFile("etc/machine-id", _line(machine_id), 0o444),
    ]
    directories = {PurePosixPath("root/.ssh"): 0o700}
    for file in files:
        for parent in PurePosixPath(file.path).parents[:-1]:
            # Directories Debian has already keep what permissions they have in Debian.
            if "cvmbench" in parent.name or parent.name.endswith(".d"):
                directories.setdefault(parent, 0o755)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for directory, mode in sorted(directories.items()):
            entry = tarfile.TarInfo(str(directory))
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
        for file in files:
            entry = tarfile.TarInfo(file.path)
            entry.size, entry.mode = len(file.content), file.mode
            archive.addfile(entry, io.BytesIO(file.content))
    return buffer.getvalue()


def _line(text: str) -> bytes:
    return f"{text}\n".encode()
