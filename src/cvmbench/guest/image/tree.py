"""Reads from the archive of the guest's root file system what is needed outside of it."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cvmbench.errors import ImageError
from cvmbench.guest.image.initramfs import KernelModules

_MODULES = "usr/lib/modules/"
_BUSYBOX = "usr/bin/busybox"
_PACKAGES = "usr/lib/cvmbench/packages"


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """Parts of a guest's root file system; `packages` maps names to versions."""

    kernel: bytes
    modules: KernelModules
    busybox: bytes
    packages: Mapping[str, str]


def read_tree(archive: Path) -> TreeFacts:
    """The facts of the tree in `archive`. Raises ImageError if it lacks one of them."""
    kernels: dict[str, bytes] = {}
    modules: dict[str, bytes] = {}
    files: dict[str, bytes] = {}
    with tarfile.open(archive, mode="r|") as tar:
        for member in tar:
            name = member.name.removeprefix("./")
            content = tar.extractfile(member) if member.isreg() else None
            if content is None:
                continue
            if name.startswith("boot/vmlinuz-"):
                kernels[name.removeprefix("boot/vmlinuz-")] = content.read()
            elif name.startswith(_MODULES):
                modules[name.removeprefix(_MODULES)] = content.read()
            elif name in (_BUSYBOX, _PACKAGES):
                files[name] = content.read()
    if len(kernels) != 1 or len(files) != 2:
        raise ImageError(
            "The guest image could not be built.",
            why=f"Its tree has {len(kernels)} kernels and {len(files)} of 2 expected files.",
            remedy="Report this with the build log.",
        )
    ((release, kernel),) = kernels.items()
    return TreeFacts(
        kernel=kernel,
        modules=KernelModules(
            release,
            {
                path.removeprefix(f"{release}/"): content
                for path, content in modules.items()
                if path.startswith(f"{release}/")
            },
        ),
        busybox=files[_BUSYBOX],
        packages=parse_packages(files[_PACKAGES].decode()),
    )


def parse_packages(listing: str) -> dict[str, str]:
    """Name -> version from lines of name, tab, version, as dpkg-query(1) was asked to print."""
    pairs = (line.split("\t") for line in listing.splitlines() if line)
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
