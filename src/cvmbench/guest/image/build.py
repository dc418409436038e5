"""Builds a guest image: packages by mmdebstrap, our files, an initramfs, and a root disk."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cvmbench.errors import HostCannotError, ImageError
from cvmbench.guest.image.cache import (
    INITRD,
    KERNEL,
    MANIFEST,
    ROOT_DISK,
    Image,
    Manifest,
    find_image,
    image_directory,
    load_image,
)
from cvmbench.guest.image.initramfs import initramfs_files, pack
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.guest.image.mirror import INDEX_TARGETS, main_archive
from cvmbench.guest.image.mmdebstrap import ProgressReader, failure, mmdebstrap_argv
from cvmbench.guest.image.overlay import overlay_archive
from cvmbench.guest.image.process import build_environment, require_tools, run_process
from cvmbench.guest.image.recipe import KERNEL_ARGUMENTS, MKFS_OPTIONS, ImageRecipe, image_files
from cvmbench.guest.image.tree import TreeFacts, read_tree
from cvmbench.guest.image.workplace import Workplace, clear_scratch, exclusive_workplace
from cvmbench.units import format_quantity

LOG = "build.log"

_TOOLS = {"mmdebstrap": "mmdebstrap", "mkfs.ext4": "e2fsprogs", "setpriv": "util-linux"}
_TOOLS_OF_ROOT = {"unshare": "util-linux"}
_TOOLS_OF_USERS = {"fakeroot": "fakeroot", "newuidmap": "uidmap"}

_SPACE_NEEDED = 3 * 2**30
"""Free bytes asked for before a build. With every workload's packages the archive, the unpacked
tree and the root disk take below 1 GiB each."""

_SHARE_OF_MMDEBSTRAP = 0.8


@dataclass(frozen=True, slots=True)
class BuildStep:
    """What a build is doing: `title` in words, `fraction` of the whole build done, 0 to 1."""

    title: str
    fraction: float


Progress = Callable[[BuildStep], None]


async def build(
    recipe: ImageRecipe,
    keys: InstallationKeys,
    cache_dir: Path,
    progress: Progress = lambda _: None,
    *,
    mirror: str | None = None,
) -> Image:
    """The image for `recipe` in `cache_dir`, built unless a sound one is there already.

    Works for root and for ordinary users. `mirror` is the address of a Debian archive; without
    it the one this host is configured for is used. Cancelling the task stops the build and leaves
    nothing behind; of a failed build the log is kept.

    Raises MissingToolError if a program is not installed, HostCannotError for lack of space or of
    a writable directory, and ImageError if the build fails.
    """
    found = _sound_image(cache_dir, recipe)
    if found is not None:
        return found
    name = image_directory(cache_dir, recipe.digest).name
    waiting = BuildStep("waiting for another build of this image", 0.0)
    async with exclusive_workplace(cache_dir, name, lambda: progress(waiting)) as workplace:
        # Another process may have built it meanwhile.
        found = _sound_image(cache_dir, recipe)
        if found is not None:
            return found
        require_tools(_TOOLS | (_TOOLS_OF_ROOT if os.geteuid() == 0 else _TOOLS_OF_USERS))
        _require_space(workplace.directory)
        _require_space(workplace.scratch)
        await _build_in(workplace, recipe, keys, progress, cache_dir / f"{name}.log", mirror)
        await clear_scratch(workplace)
        final = image_directory(cache_dir, recipe.digest)
        if final.exists():
            await asyncio.to_thread(shutil.rmtree, final)
        workplace.directory.rename(final)
        progress(BuildStep("done", 1.0))
        return load_image(final)


def _sound_image(cache_dir: Path, recipe: ImageRecipe) -> Image | None:
    try:
        return find_image(cache_dir, recipe)
    except ImageError:
        return None


def _require_space(directory: Path) -> None:
    free = shutil.disk_usage(directory).free
    if free < _SPACE_NEEDED:
        raise HostCannotError(
            f"There is not enough disk space in {directory.parent} to build a guest image.",
            why=f"{format_quantity(free, 'B')} are free, {format_quantity(_SPACE_NEEDED, 'B')} "
            "are needed while building.",
            remedy="Free some space (`cvmbench image remove` deletes images), or choose another "
            "directory.",
        )


async def _build_in(
    workplace: Workplace,
    recipe: ImageRecipe,
    keys: InstallationKeys,
    progress: Progress,
    kept_log: Path,
    mirror: str | None,
) -> None:
    """Make all files of the image in `workplace.directory`."""
    log = BuildLog(workplace.directory / LOG)
    try:
        archive = await _make_archive(workplace, recipe, keys, progress, log, kept_log, mirror)
        progress(BuildStep("making the initramfs", _SHARE_OF_MMDEBSTRAP))
        facts = await asyncio.to_thread(read_tree, archive)
        await asyncio.to_thread(_write_boot_files, workplace.directory, facts)
        progress(BuildStep("making the root disk", _SHARE_OF_MMDEBSTRAP + 0.05))
        await _make_root_disk(workplace, recipe, archive, log, kept_log)
        progress(BuildStep("writing to disk", 0.95))
        await asyncio.to_thread(_finish, workplace, recipe, facts)
    except ImageError:
        shutil.copyfile(log.path, kept_log)
        raise
    kept_log.unlink(missing_ok=True)


class BuildLog:
    """What the programs of a build print to standard error: kept in a file, its end in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[str] = []
        path.touch(mode=0o600)

    def add(self, lines: Sequence[str]) -> None:
        """Append `lines`."""
        self.lines = [*self.lines, *lines][-400:]
        with self.path.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)


async def _make_archive(
    workplace: Workplace,
    recipe: ImageRecipe,
    keys: InstallationKeys,
    progress: Progress,
    log: BuildLog,
    kept_log: Path,
    mirror: str | None,
) -> Path:
    """Run mmdebstrap; returns the tar archive it made."""
    environment = build_environment(workplace.scratch)
    overlay = workplace.directory / "overlay.tar"
    overlay.touch(mode=0o600)
    overlay.write_bytes(overlay_archive(recipe, keys))
    archive = workplace.directory / "tree.tar"
    archive.touch(mode=0o600)
    argv = mmdebstrap_argv(
        recipe,
        mode="root" if os.geteuid() == 0 else "unshare",
        overlay=overlay,
        target=archive,
        mirror=mirror or await _configured_mirror(),
    )
    log.add([f"+ {' '.join(argv)}"])
    reader = ProgressReader()

    def take(text: str) -> None:
        log.add(reader.feed(text))
        title = reader.phase.title if reader.phase else "starting mmdebstrap"
        progress(BuildStep(title, reader.fraction * _SHARE_OF_MMDEBSTRAP))

    # As root, a mount and a process namespace of its own: when its first process is killed,
    # the kernel ends all others and undoes every mount. For users mmdebstrap makes them itself.
    alone = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
    status = await run_process(
        (*(alone if os.geteuid() == 0 else ()), *argv),
        environment=environment,
        on_error_text=take,
        terminal=True,
    )
    log.add(reader.feed("\n"))
    if status != 0:
        raise failure(recipe, log.lines, kept_log)
    overlay.unlink()
    return archive


async def _configured_mirror() -> str | None:
    """The Debian mirror of this host's apt, if there is one."""
    if shutil.which(INDEX_TARGETS[0]) is None:
        return None
    process = await asyncio.create_subprocess_exec(
        *INDEX_TARGETS,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    return main_archive(output.decode("utf-8", "replace"))


def _write_boot_files(directory: Path, facts: TreeFacts) -> None:
    files = initramfs_files(facts.modules, facts.busybox, image_files("initramfs"))
    (directory / INITRD).write_bytes(pack(files))
    (directory / KERNEL).write_bytes(facts.kernel)


async def _make_root_disk(
    workplace: Workplace, recipe: ImageRecipe, archive: Path, log: BuildLog, kept_log: Path
) -> None:
    """Unpack `archive` and make an ext4 file system of it, with the owners it says."""
    tree = workplace.directory / "tree"
    tree.mkdir()
    disk = workplace.directory / ROOT_DISK
    disk.touch(mode=0o600)
    os.truncate(disk, recipe.root_disk_bytes)
    owners = workplace.directory / "owners"
    unpack: tuple[str, ...] = (
        "tar",
        "-xpf",
        str(archive),
        "--numeric-owner",
        "--exclude=./boot/*",
        "-C",
        str(tree),
    )
    make: tuple[str, ...] = ("mkfs.ext4", *MKFS_OPTIONS, "-d", str(tree), str(disk))
    if os.geteuid() != 0:
        # fakeroot remembers the owners that tar could not set and shows them to mkfs.
        unpack = ("fakeroot", "-s", str(owners), "--", *unpack)
        make = ("fakeroot", "-i", str(owners), "--", *make)
    for argv in (unpack, make):
        log.add([f"+ {' '.join(argv)}"])
        status = await run_process(
            argv,
            environment=build_environment(workplace.scratch),
            on_error_text=lambda text: log.add(text.splitlines()),
        )
        if status != 0:
            raise failure(recipe, log.lines, kept_log)


def _finish(workplace: Workplace, recipe: ImageRecipe, facts: TreeFacts) -> None:
    """Describe the image, remove all that is not part of it, and bring the rest to the disk."""
    directory = workplace.directory
    manifest = Manifest(
        digest=recipe.digest,
        suite=recipe.suite,
        kernel_release=facts.modules.release,
        kernel_arguments=list(KERNEL_ARGUMENTS),
        requested_packages=list(recipe.packages),
        packages=dict(facts.packages),
        created_at=datetime.now(UTC),
        file_bytes={
            name: (directory / name).stat().st_size for name in (ROOT_DISK, KERNEL, INITRD)
        },
    )
    (directory / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n")
    keep = {ROOT_DISK, KERNEL, INITRD, MANIFEST, LOG}
    for path in directory.iterdir():
        if path.name not in keep and not path.is_symlink():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in keep:
        # A crash of the host after the rename must not leave an image of zeros.
        with (directory / name).open("rb") as file:
            os.fsync(file.fileno())
