"""Programs of a build are followed, and end with the task that runs them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest

from cvmbench.errors import MissingToolError
from cvmbench.guest.image.process import build_environment, require_tools, run_process


async def run(tmp_path: Path, *argv: str, terminal: bool = False) -> tuple[int, str]:
    pieces: list[str] = []
    status = await run_process(
        argv,
        environment=build_environment(tmp_path),
        on_error_text=pieces.append,
        terminal=terminal,
    )
    return status, "".join(pieces)


async def test_status_and_standard_error_come_back(tmp_path: Path) -> None:
    assert await run(tmp_path, "sh", "-c", "echo out; echo err >&2; exit 3") == (3, "err\n")


async def test_a_terminal_of_eighty_columns_where_asked(tmp_path: Path) -> None:
    status, text = await run(tmp_path, "sh", "-c", "stty size </dev/tty >&2", terminal=True)
    assert (status, text.split()) == (0, ["25", "80"])
    status, _ = await run(tmp_path, "sh", "-c", "test -t 2")
    assert status == 1


@pytest.mark.parametrize("terminal", [False, True])
async def test_cancelling_ends_the_program_and_its_children(tmp_path: Path, terminal: bool) -> None:
    pids: list[int] = []
    started = asyncio.Event()

    def note(text: str) -> None:
        pids.extend(int(word) for word in text.split())
        started.set()

    task = asyncio.create_task(
        run_process(
            ("sh", "-c", "sleep 60 & echo $$ $! >&2; wait"),
            environment=build_environment(tmp_path),
            on_error_text=note,
            terminal=terminal,
        )
    )
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(pids) == 2
    for _ in range(200):
        if not any(psutil.pid_exists(pid) and _alive(pid) for pid in pids):
            break
        await asyncio.sleep(0.01)
    else:
        pytest.fail("a child is still running")


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_missing_programs_are_named_with_their_packages() -> None:
    with pytest.raises(MissingToolError, match="no-such-tool") as caught:
        require_tools({"sh": "dash", "no-such-tool": "some-package"})
    assert caught.value.remedy == "Install it with: apt-get install some-package"


def test_the_environment_has_the_administrators_programs(tmp_path: Path) -> None:
    environment = build_environment(tmp_path)
    assert "/usr/sbin" in environment["PATH"].split(":")
    assert environment["TMPDIR"] == str(tmp_path)
