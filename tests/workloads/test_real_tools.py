"""Each workload's own commands, run with the tools of this machine on loopback, and parsed."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from pathlib import Path

import pytest

from cvmbench.guest.command import Command
from cvmbench.workloads.catalogue import find
from cvmbench.workloads.contract import Surroundings

_SHORT = {
    "sysbench-cpu": {"time_s": 1},
    "mbw": {"array_mib": 32, "runs": 3},
    "fio-randread": {"runtime_s": 1, "area_mib": 8, "jobs": 2},
    "redis": {"set_requests": 5000, "get_requests": 8000, "io_threads": None},
    "iperf3-tcp": {"time_s": 1, "streams": 2},
}
_PROGRAMS = {
    "sysbench-cpu": ("sysbench",),
    "mbw": ("mbw",),
    "fio-randread": ("fio",),
    "redis": ("redis-server", "redis-benchmark", "xargs"),
    "iperf3-tcp": ("iperf3",),
}


@pytest.fixture
def here(tmp_path: Path) -> Surroundings:
    disk = tmp_path / "disk"
    with disk.open("wb") as file:
        os.truncate(file.fileno(), 16 * 2**20)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return Surroundings(2, 2**30, str(disk), 16 * 2**20, "127.0.0.1", port, "127.0.0.1", port)


async def _run(command: Command) -> str:
    process = await asyncio.create_subprocess_exec(
        *command.argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"LC_ALL": "C"},
    )
    try:
        async with asyncio.timeout(60):
            stdout, stderr = await process.communicate(command.stdin)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, (stdout[-500:], stderr[-500:])
    return stdout.decode()


async def _until_listening(port: int) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                await writer.wait_closed()
                return


@pytest.mark.parametrize("name", sorted(_SHORT))
async def test_a_real_run_gives_every_metric(name: str, here: Surroundings) -> None:
    missing = [program for program in _PROGRAMS[name] if not shutil.which(program)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    workload = find(name)
    p = workload.parameters.model_validate(_SHORT[name])
    for command in workload.prepare(p, here):
        await _run(command)
    listening = workload.server(p, here)
    server = None
    try:
        if listening:
            server = await asyncio.create_subprocess_exec(
                *listening.argv,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=Path(here.data_disk).parent,
            )
            await _until_listening(here.server_port)
        for _ in range(2):
            await asyncio.sleep(workload.settle_s)
            printed = [await _run(command) for command in workload.measure(p, here)]
            samples = workload.parse("".join(printed), p)
            assert set(samples) == {metric.name for metric in workload.metrics}
            assert all(value > 0 for values in samples.values() for value in values)
    finally:
        if server and server.returncode is None:
            server.terminate()
            await server.wait()
