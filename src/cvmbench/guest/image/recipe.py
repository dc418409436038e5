"""What goes into a guest image, and the digest that identifies it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Self

from cvmbench.errors import UsageError
from cvmbench.guest.image.keys import InstallationKeys

SUITE = "trixie"
"""Debian 13. Its kernel 6.12 has the guest code of SEV-SNP and TDX."""

BASE_PACKAGES = (
    "busybox-static",
    "iproute2",
    "kmod",
    "linux-image-cloud-amd64",
    "openssh-server",
    "procps",
    "systemd",
    "systemd-sysv",
    # Satisfies the kernel's dependency on an initramfs generator with the smallest one there is;
    # what it makes is not used.
    "tiny-initramfs",
)

KERNEL_ARGUMENTS = (
    "root=LABEL=cvmbench-root",
    "rw",
    "console=ttyS0",
    # Panics and warnings appear on the console; a line there costs milliseconds under emulation.
    "loglevel=5",
    # Debian's list without `bpf`: with it systemd loads a program that every open() then runs, and
    # spends half a second on that under emulation.
    "lsm=landlock,lockdown,yama,integrity,apparmor,tomoyo,ipe",
    # Self-tests of ciphers, at every boot.
    "cryptomgr.notests",
    # On a busy host the kernel takes a late timer for a bad TSC and then reads time from a device,
    # in this boot but not in the next.
    "tsc=nowatchdog",
    # systemd asks any other terminal for its size, with escape sequences.
    "TERM=dumb",
)
"""Kernel arguments for every boot of the image. None of them changes between arms."""

MKFS_OPTIONS = (
    *("-q", "-F", "-L", "cvmbench-root", "-m", "0"),
    # Without this the guest's kernel would initialise tables while something is measured.
    *("-E", "lazy_itable_init=0,lazy_journal_init=0"),
)

ROOT_DISK_BYTES = 4 * 2**30

# Debian Policy 5.6.1, with an architecture qualifier nowhere needed here left out.
_PACKAGE_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")


@dataclass(frozen=True, slots=True)
class ImageRecipe:
    """Everything that decides what an image contains, except the age of Debian's packages."""

    suite: str
    packages: tuple[str, ...]
    """Debian packages, sorted, each once; what they depend on comes with them."""
    root_disk_bytes: int
    host_public_key: str
    login_public_key: str

    @classmethod
    def of(
        cls,
        packages: Iterable[str],
        keys: InstallationKeys,
        *,
        root_disk_bytes: int = ROOT_DISK_BYTES,
    ) -> Self:
        """The recipe for the base and `packages`. Raises UsageError for an impossible name."""
        names = sorted({*BASE_PACKAGES, *packages})
        for name in names:
            if not _PACKAGE_NAME.fullmatch(name):
                raise UsageError(
                    f"{name!r} cannot be the name of a Debian package.",
                    why="Names are lower-case letters, digits, '+', '-' and '.'.",
                    remedy="Correct the package list of the workload that asks for it.",
                )
        return cls(
            suite=SUITE,
            packages=tuple(names),
            root_disk_bytes=root_disk_bytes,
            host_public_key=keys.host_public_key,
            login_public_key=keys.login_public_key,
        )

    @property
    def digest(self) -> str:
        """64 hexadecimal digits; equal recipes of equal versions of cvmbench have equal digests."""
        ingredients = {
            "recipe": asdict(self),
            "kernel_arguments": KERNEL_ARGUMENTS,
            "mkfs": MKFS_OPTIONS,
            "files": {
                f.path: [hashlib.sha256(f.content).hexdigest(), f.mode]
                for f in (*image_files("root"), *image_files("initramfs"))
            },
        }
        return hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A file to place in the guest: `path` is relative to its root, `mode` are permission bits."""

    path: str
    content: bytes
    mode: int


@cache
def image_files(tree: str) -> tuple[ImageFile, ...]:
    """The files that come with cvmbench for `tree` (`root` or `initramfs`), sorted by path.

    Scripts (first bytes `#!`) are executable; other permissions a checkout may have do not count,
    so that the digest is the same everywhere.
    """
    top = resources.files("cvmbench.guest.image") / "files" / tree
    return tuple(sorted(_walk(top, ""), key=lambda file: file.path))


def _walk(directory: Traversable, prefix: str) -> Iterator[ImageFile]:
    for entry in directory.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, f"{path}/")
        else:
            content = entry.read_bytes()
            yield ImageFile(path, content, 0o755 if content.startswith(b"#!") else 0o644)
