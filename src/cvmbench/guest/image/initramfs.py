"""Our initramfs: busybox, the drivers a root disk or network may need, and one script.

Modules are stored uncompressed: under emulation the guest would spend longer unpacking them than
the host spends copying the larger file into its memory.
"""

from __future__ import annotations

import fnmatch
import lzma
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from cvmbench.errors import ImageError
from cvmbench.guest.image.recipe import ImageFile

DRIVERS = (
    "virtio_pci",
    "virtio_blk",
    "virtio_scsi",
    "sd_mod",
    "nvme",
    "ext4",
    "virtio_net",
    "virtio-rng",
    "pvpanic-pci",
)
"""Modules the initramfs offers, with what they depend on; loaded only where a device asks."""

APPLETS = (
    *("cat", "findfs", "ip", "modprobe", "mount", "poweroff", "sh", "switch_root", "usleep"),
)  # fmt: skip

_DIRECTORY = 0o040755
_SYMLINK = 0o120777
_REGULAR = 0o100000


@dataclass(frozen=True, slots=True)
class KernelModules:
    """The modules of one kernel: `files` maps paths below /usr/lib/modules/RELEASE to content."""

    release: str
    files: Mapping[str, bytes]

    def text(self, name: str) -> str:
        """An index file of depmod(8), such as `modules.dep`."""
        try:
            return self.files[name].decode("utf-8", "replace")
        except KeyError:
            raise ImageError(
                f"The kernel {self.release} of the image has no {name}.",
                remedy="Build the image again; if this repeats, report it with the build log.",
            ) from None

    def needed_for(self, drivers: Iterable[str]) -> list[str]:
        """Paths of the modules `drivers` and all they depend on; built-in ones need none.

        Raises ImageError for a driver that the kernel has in no form.
        """
        dependencies: dict[str, list[str]] = {}
        for line in self.text("modules.dep").splitlines():
            path, _, needs = line.partition(":")
            dependencies[path] = needs.split()
        by_name = {module_name(path): path for path in dependencies}
        built_in = {module_name(path) for path in self.text("modules.builtin").splitlines()}
        wanted: dict[str, None] = {}
        for driver in drivers:
            name = driver.replace("-", "_")
            if name in by_name:
                # modules.dep lists dependencies of dependencies too (modules.dep(5)).
                wanted.update(dict.fromkeys([by_name[name], *dependencies[by_name[name]]]))
            elif name not in built_in:
                raise ImageError(
                    f"The kernel {self.release} of the image has no driver {driver}.",
                    remedy="Report this with the build log: the image's driver list is outdated.",
                )
        return list(wanted)


def module_name(path: str) -> str:
    """The kernel's name of the module in file `path`.

    >>> module_name("kernel/drivers/misc/pvpanic/pvpanic-pci.ko.xz")
    'pvpanic_pci'
    """
    return PurePosixPath(path).name.partition(".ko")[0].replace("-", "_")


def initramfs_files(
    modules: KernelModules, busybox: bytes, scripts: Iterable[ImageFile]
) -> list[ImageFile]:
    """The regular files of the initramfs."""
    base = f"lib/modules/{modules.release}"
    paths = modules.needed_for(DRIVERS)
    names = {module_name(path) for path in paths}
    listed = [
        line
        for line in modules.text("modules.dep").splitlines()
        if line.partition(":")[0] in set(paths)
    ]
    aliases = [
        line
        for line in modules.text("modules.alias").splitlines()
        if line.split() and line.split()[-1] in names
    ]
    return [
        *scripts,
        ImageFile("bin/busybox", busybox, 0o755),
        *(
            ImageFile(f"{base}/{_plain(path)}", _unpacked(path, modules.files[path]), 0o644)
            for path in paths
        ),
        ImageFile(f"{base}/modules.dep", _plain("\n".join(listed) + "\n").encode(), 0o644),
        ImageFile(f"{base}/modules.alias", ("\n".join(aliases) + "\n").encode(), 0o644),
    ]


def pack(files: Iterable[ImageFile]) -> bytes:
    """A cpio archive of `files`, with their directories, busybox applets and mount points.

    Format `newc`: Documentation/driver-api/early-userspace/buffer-format.rst of the kernel.
    Owner is root and time is zero, so that equal files give equal bytes.
    """
    files = list(files)
    directories = {PurePosixPath(name) for name in ("dev", "proc", "root", "sys")}
    for file in files:
        directories.update(PurePosixPath(file.path).parents[:-1])
    entries: list[tuple[str, int, bytes]] = [
        *((str(directory), _DIRECTORY, b"") for directory in sorted(directories)),
        *((file.path, _REGULAR | file.mode, file.content) for file in files),
        *((f"bin/{applet}", _SYMLINK, b"busybox") for applet in APPLETS),
    ]
    return b"".join(_cpio_entries(entries))


def _cpio_entries(entries: Iterable[tuple[str, int, bytes]]) -> Iterator[bytes]:
    number = 0
    for number, (name, mode, content) in enumerate(entries, start=1):
        yield _cpio_entry(number, name, mode, content)
    yield _cpio_entry(number + 1, "TRAILER!!!", 0, b"")


def _cpio_entry(inode: int, name: str, mode: int, content: bytes) -> bytes:
    encoded = name.encode() + b"\0"
    links = 2 if mode == _DIRECTORY else 1
    # Fields: ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize
    # checksum, each eight hexadecimal digits.
    fields = (inode, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + b"".join(b"%08x" % field for field in fields)
    return _padded(header + encoded) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _plain(text: str) -> str:
    return text.replace(".ko.xz", ".ko")


def _unpacked(path: str, content: bytes) -> bytes:
    return lzma.decompress(content) if fnmatch.fnmatch(path, "*.xz") else content
