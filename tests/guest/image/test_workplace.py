"""One builder at a time, and nothing left over."""

from __future__ import annotations

import asyncio
import fcntl
from pathlib import Path

import pytest

from cvmbench.errors import HostCannotError
from cvmbench.guest.image.workplace import exclusive_workplace, sweep

NAME = "0123456789abcdef"


async def test_a_workplace_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    cache = tmp_path / "images"
    async with exclusive_workplace(cache, NAME, lambda: None) as workplace:
        assert workplace.directory.stat().st_mode & 0o777 == 0o700
        (workplace.scratch / "file").write_text("x")
    assert not workplace.directory.exists()
    assert not workplace.scratch.exists()
    assert list(cache.glob(".building-*")) == []


async def test_a_second_builder_of_the_same_image_waits(tmp_path: Path) -> None:
    order = []
    waiting = asyncio.Event()

    async def second() -> None:
        async with exclusive_workplace(tmp_path, NAME, waiting.set):
            order.append("second")

    async with exclusive_workplace(tmp_path, NAME, lambda: None):
        task = asyncio.create_task(second())
        await waiting.wait()
        order.append("first")
    await task
    assert order == ["first", "second"]


async def test_builders_of_different_images_do_not_wait(tmp_path: Path) -> None:
    async with (
        exclusive_workplace(tmp_path, NAME, lambda: None) as one,
        exclusive_workplace(tmp_path, NAME[::-1], lambda: None) as other,
    ):
        assert one.directory != other.directory
        assert one.directory.exists()


async def test_cancelling_leaves_nothing(tmp_path: Path) -> None:
    entered = asyncio.Event()

    async def work() -> None:
        async with exclusive_workplace(tmp_path, NAME, lambda: None) as workplace:
            (workplace.directory / "tree").mkdir()
            entered.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(tmp_path.glob(".building-*")) == []


async def test_what_a_killed_build_left_is_swept_by_the_next(tmp_path: Path) -> None:
    leftover = tmp_path / f".building-{NAME}-dead"
    (leftover / "tree").mkdir(parents=True)
    async with exclusive_workplace(tmp_path, NAME[::-1], lambda: None):
        assert not leftover.exists()


async def test_a_build_that_still_runs_is_not_swept(tmp_path: Path) -> None:
    running = tmp_path / f".building-{NAME}-alive"
    running.mkdir(parents=True)
    with (tmp_path / f".{NAME}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        await sweep(tmp_path)
        assert running.exists()
    await sweep(tmp_path)
    assert not running.exists()


async def test_a_cache_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HostCannotError, match="cannot be used"):
        async with exclusive_workplace(tmp_path / "file" / "images", NAME, lambda: None):
            pass
