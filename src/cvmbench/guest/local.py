"""Commands on this host: clients of a measured network, and workloads without a VM."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import time

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Command, Output
from cvmbench.guest.connection import over_time, read_both
from cvmbench.host.tools import dies_with_us, reap
from cvmbench.vm.workspace import Workspace


class LocalConnection:
    """Runs commands as children of this process, each in a process group of its own.

    `prefix` goes before every argv (say, `nsenter --net`); commands belong to the machine of
    `where`. `cpu_s` is the CPU time, user and system, of the last command, in seconds: it tells
    whether a client was the bottleneck.
    """

    def __init__(self, prefix: tuple[str, ...] = (), where: Workspace | None = None) -> None:
        self._prefix = prefix
        self._where = where
        self.cpu_s = 0.0

    async def run(self, command: Command) -> Output:
        """Run a command to its end; see `Connection.run`."""
        argv = (*self._prefix, *dies_with_us(command.argv))
        inherited = self._where.environment if self._where else os.environ
        started = time.monotonic()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**inherited, "LC_ALL": "C.UTF-8", **command.environment},
            cwd=self._where.folder if self._where else None,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(command.timeout_s):
                stdout, stderr = await _talk(process, command)
                status = await process.wait()
        except TimeoutError:
            raise over_time(command) from None
        finally:
            await _end(process)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu_s = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
        if status == 127 and f"exec: {command.argv[0]}: not found".encode() in stderr:
            raise TrialFailure(
                FailureKind.HOST_PROBLEM,
                f"The program '{command.argv[0]}' is not installed on this host.",
                remedy="`cvmbench doctor` names the package.",
            )
        return Output(
            command.argv,
            status,
            stdout.decode(errors="replace"),
            stderr.decode(errors="replace"),
            time.monotonic() - started,
        )


async def _talk(process: asyncio.subprocess.Process, command: Command) -> tuple[bytes, bytes]:
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise RuntimeError("the process was opened without pipes")
    with contextlib.suppress(ConnectionError):
        process.stdin.write(command.stdin)
        await process.stdin.drain()
        process.stdin.close()
    return await read_both(process.stdout.read, process.stderr.read, command)


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await reap(process)
