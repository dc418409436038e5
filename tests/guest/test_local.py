from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Command
from cvmbench.guest.local import LocalConnection
from cvmbench.vm.workspace import sweep


async def test_output_status_and_input() -> None:
    output = await LocalConnection().run(
        Command(("sh", "-c", "cat; echo e >&2; exit 3"), stdin=b"in")
    )
    assert (output.stdout, output.stderr, output.status) == ("in", "e\n", 3)


async def test_the_prefix_goes_first() -> None:
    output = await LocalConnection(("env", "A=b")).run(Command(("sh", "-c", "echo $A")))
    assert output.stdout == "b\n"


async def test_a_time_limit_ends_the_whole_group(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    line = f"(sleep 3; touch {mark}) & sleep 60"
    began = time.monotonic()
    with pytest.raises(TrialFailure) as caught:
        await LocalConnection().run(Command(("sh", "-c", line), timeout_s=0.5))
    assert caught.value.kind is FailureKind.TIME_LIMIT
    assert time.monotonic() - began < 5
    await asyncio.sleep(3.5)
    assert not mark.exists()


async def test_too_much_output_ends_it() -> None:
    with pytest.raises(TrialFailure, match="more than 1,000 bytes") as caught:
        await LocalConnection().run(Command(("yes",), output_limit=1000))
    assert caught.value.kind is FailureKind.TOOL_FAILED


async def test_the_clients_cpu_time_is_known() -> None:
    connection = LocalConnection()
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    await connection.run(Command((sys.executable, "-c", burn)))
    assert 0.2 < connection.cpu_s < 2


async def test_a_missing_program_is_a_problem_of_the_host() -> None:
    with pytest.raises(TrialFailure, match="not installed") as caught:
        await LocalConnection().run(Command(("no-such-program",)))
    assert caught.value.kind is FailureKind.HOST_PROBLEM


async def test_bytes_that_are_no_text_are_replaced() -> None:
    output = await LocalConnection().run(Command(("printf", r"a\377b")))
    assert output.stdout == "a\ufffdb"


@pytest.mark.parametrize("round_", range(3))
def test_a_killed_owner_leaves_no_client(round_: int, tmp_path: Path) -> None:
    """The client dies with its owner, or is found by the next sweep through its mark."""
    script = """
import asyncio, sys
from pathlib import Path
from cvmbench.guest.command import Command
from cvmbench.guest.local import LocalConnection
from cvmbench.vm.workspace import sweep
from cvmbench.vm.workspace import open_workspace
async def main():
    with open_workspace(Path(sys.argv[1])) as where:
        connection = LocalConnection((), where)
        print("go", flush=True)
        while True:
            try:
                await connection.run(Command(("sleep", "777"), timeout_s=0.02))
            except Exception:
                pass
asyncio.run(main())
"""
    owner = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    with owner.stdout as told:
        told.readline()
    time.sleep(0.3 + 0.007 * round_)
    owner.kill()
    owner.wait()
    time.sleep(0.2)
    sweep(tmp_path)
    left = [
        process.pid
        for process in psutil.process_iter()
        if _environment(process).get("CVMBENCH_MACHINE", "").startswith(str(tmp_path))
    ]
    assert left == []


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}


async def test_output_that_nobody_reads_any_more_does_not_block_the_end() -> None:
    """A flood fills the pipe's buffer and pauses its reading; its process must still be reaped."""
    for _ in range(10):
        flood = Command(("sh", "-c", "yes & yes >&2 & wait"), output_limit=1)
        with pytest.raises(TrialFailure):
            await asyncio.wait_for(LocalConnection().run(flood), 10)
