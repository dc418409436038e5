"""Where a build works: one builder for each image, and nothing left over from a killed one."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cvmbench.errors import HostCannotError
from cvmbench.guest.image.process import build_environment, run_process

_PREFIX = ".building-"
_SCRATCH = "scratch"
_SCRATCH_PREFIX = "cvmbench-image-"


@dataclass(frozen=True, slots=True)
class Workplace:
    """`directory` is private and becomes the image; `scratch` is where mmdebstrap unpacks.

    For root both are in the cache. An ordinary user's mmdebstrap runs under ids of its own that
    cannot enter the user's home directory, so `scratch` is in the system's temporary directory.
    """

    directory: Path
    scratch: Path


@contextlib.asynccontextmanager
async def exclusive_workplace(
    cache_dir: Path, name: str, on_wait: Callable[[], None]
) -> AsyncIterator[Workplace]:
    """A new workplace for the image directory `name`, while nobody else has one for it.

    Waits as long as another process builds the same image, calling `on_wait` now and then.
    Removes what killed builds of any image left. What is in the workplace at the end is removed.
    Raises HostCannotError if `cache_dir` cannot be written.
    """
    try:
        cache_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (cache_dir / f".{name}.lock").open("w")
    except OSError as error:
        raise HostCannotError(
            f"The directory for guest images cannot be used: {error}.",
            remedy=f"Make {cache_dir} a directory that you may write to, or choose another.",
        ) from error
    with lock:
        while not _try_lock(lock.fileno()):
            on_wait()
            await asyncio.sleep(0.2)
        await sweep(cache_dir, held=name)
        workplace = _make(cache_dir, name)
        try:
            yield workplace
            # What a killed build's orphans were still writing to when this one started.
            await sweep(cache_dir, held=name, keep=workplace.directory)
        finally:
            await asyncio.shield(_remove(workplace.directory))


async def clear_scratch(workplace: Workplace) -> None:
    """Remove the scratch directory, before what is left of the workplace becomes an image."""
    if await _remove_scratch(workplace.directory):
        (workplace.directory / _SCRATCH).unlink(missing_ok=True)


async def sweep(cache_dir: Path, held: str = "", keep: Path | None = None) -> None:
    """Remove what killed builds left in `cache_dir`; builds that are running are let alone.

    `held` is the image whose lock the caller has, `keep` the caller's own workplace.
    """
    for leftover in sorted(cache_dir.glob(f"{_PREFIX}*")):
        if leftover == keep:
            continue
        name = leftover.name.removeprefix(_PREFIX).partition("-")[0]
        with (cache_dir / f".{name}.lock").open("w") as lock:
            if name == held or _try_lock(lock.fileno()):
                await _remove(leftover)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make(cache_dir: Path, name: str) -> Workplace:
    directory = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-", dir=cache_dir))
    if os.geteuid() == 0:
        scratch = directory / _SCRATCH
        scratch.mkdir()
    else:
        scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH_PREFIX))
        # Known to a later sweep by this link.
        (directory / _SCRATCH).symlink_to(scratch)
        scratch.chmod(0o755)
    return Workplace(directory, scratch)


async def _remove(directory: Path) -> None:
    """Delete a workplace, as far as it goes; what resists is tried again by the next sweep."""
    if await _remove_scratch(directory):
        await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)


async def _remove_scratch(directory: Path) -> bool:
    """Delete the scratch directory of the workplace in `directory`; whether it is gone."""
    scratch = directory / _SCRATCH
    if not scratch.is_symlink():
        await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
        return not scratch.exists()
    scratch = scratch.readlink()
    if scratch.name.startswith(_SCRATCH_PREFIX) and _is_mine(scratch):
        for tree in _subdirectories(scratch):
            # Files in it belong to subordinate ids of this user; only a namespace may delete them.
            await run_process(
                ("mmdebstrap", "--unshare-helper", "rm", "-rf", "--", str(tree)),
                environment=build_environment(scratch.parent),
                on_error_text=lambda _: None,
            )
        await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
        return not scratch.exists()
    return True


def _subdirectories(directory: Path) -> Iterator[Path]:
    yield from (path for path in sorted(directory.iterdir()) if not path.is_symlink())


def _is_mine(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
