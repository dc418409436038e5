"""A running machine: QEMU started, watched, powered off and, whatever happens, ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from qemu.qmp import QMPClient
from qemu.qmp.error import QMPError

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.host.tools import dies_with_us, find_tool, reap
from cvmbench.vm import cgroup
from cvmbench.vm.argv import Descriptors, qemu_argv
from cvmbench.vm.diagnosis import diagnose
from cvmbench.vm.serial import SerialLog
from cvmbench.vm.spec import VmSpec
from cvmbench.vm.workspace import Workspace

T = TypeVar("T")

_STDERR_KEPT = 64 * 1024
_QMP_TIMEOUT_S = 30.0
_SETTLE_S = 2.0
"""How long to wait, after a connection broke, for the machine's own end to explain it."""


class Machine:
    """QEMU and what is known of it. Made by `running`."""

    def __init__(
        self,
        argv: tuple[str, ...],
        process: asyncio.subprocess.Process,
        qmp: QMPClient,
        started: float,
    ) -> None:
        self.argv = argv
        self.pid = process.pid
        self.serial = SerialLog()
        self.cgroup: Path | None = None
        self.ready_after_s: float | None = None
        self._process = process
        self._qmp = qmp
        self._started = started
        self._stderr = bytearray()
        self._panicked_by_event = False
        self._shutdown_reason = ""
        self._disk_full = False
        self._expected_end = False
        self._ended = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._serial_writer: asyncio.StreamWriter | None = None

    @property
    def qemu_log(self) -> bytes:
        """What QEMU printed on standard error, bounded."""
        return bytes(self._stderr)

    @property
    def age_s(self) -> float:
        """Seconds since QEMU was started."""
        return time.monotonic() - self._started

    async def wait_ready(self, timeout_s: float) -> float:
        """Wait for the guest's ready line; gives seconds since QEMU's start.

        Raises TrialFailure: guest panic, QEMU died, or guest hang when the time is over.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self.guard(self.serial.ready.wait())
        except TimeoutError:
            seen = "nothing" if not self.serial.total_bytes else "no 'ready' line"
            raise TrialFailure(
                FailureKind.GUEST_HANG,
                f"The guest was not ready within {timeout_s:.0f} s.",
                why=f"There was {seen} on its serial line.",
                remedy="`cvmbench show RUN --boot N` prints its serial log; "
                "raise limits.boot_s if it is slow.",
            ) from None
        self.ready_after_s = self.age_s
        return self.ready_after_s

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`, or raise the machine's own failure as soon as the machine ends.

        When `work` itself fails and the machine ends right after, the machine's end is the cause.
        """
        task = asyncio.ensure_future(work)
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise self._failure()
            try:
                return task.result()
            except TrialFailure as failure:
                if failure.kind is FailureKind.CONNECTION_LOST:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._ended.wait(), _SETTLE_S)
                        raise self._failure() from failure
                raise
        finally:
            for pending in (task, ended):
                pending.cancel()
            await asyncio.gather(task, ended, return_exceptions=True)

    async def execute(self, command: str, arguments: Mapping[str, object] | None = None) -> Any:
        """Run a QMP command. Raises TrialFailure when QEMU refuses or is gone."""
        try:
            async with asyncio.timeout(_QMP_TIMEOUT_S):
                return await self._qmp.execute(command, dict(arguments or {}))
        except (QMPError, TimeoutError, OSError) as error:
            raise TrialFailure(
                FailureKind.HOST_PROBLEM, f"QEMU did not carry out '{command}'.", why=f"{error}."
            ) from None

    async def power_off(self, request: Coroutine[Any, Any, object], timeout_s: float) -> bool:
        """End the machine by asking the guest (`request`), by QMP if that does not help.

        Gives True if the guest went down by itself within `timeout_s`.
        """
        self._expected_end = True
        try:
            async with asyncio.timeout(timeout_s):
                with contextlib.suppress(TrialFailure):
                    await self.guard(request)
                await self._ended.wait()
            return True
        except TimeoutError:
            with contextlib.suppress(TrialFailure, TimeoutError):
                await self.execute("quit")
                await asyncio.wait_for(self._ended.wait(), 5)
            return False

    async def come_up(self, qmp: socket.socket, serial: socket.socket, where: Workspace) -> None:
        """Connect to the started QEMU: serial line, standard error, cgroup, QMP."""
        reader, self._serial_writer = await asyncio.open_connection(sock=serial)
        self._tasks = [
            asyncio.create_task(self._watch()),
            asyncio.create_task(self._follow_stderr()),
            asyncio.create_task(self.serial.follow(reader)),
        ]
        group = cgroup.create(where.id)
        if group is not None and cgroup.add(group, self.pid):
            self.cgroup = group
        try:
            async with asyncio.timeout(_QMP_TIMEOUT_S):
                await self.guard(self._connect(qmp))
        except TimeoutError:
            raise TrialFailure(
                FailureKind.QEMU_DIED, f"QEMU did not answer within {_QMP_TIMEOUT_S:.0f} s."
            ) from None
        self._tasks.append(asyncio.create_task(self._watch_events()))

    async def _connect(self, end: socket.socket) -> None:
        try:
            await self._qmp.connect(end)
        except QMPError as error:
            raise TrialFailure(
                FailureKind.CONNECTION_LOST, "QEMU closed its control connection.", why=f"{error}."
            ) from None

    async def _watch(self) -> None:
        await self._process.wait()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*self._tasks[1:3], return_exceptions=True), 2)
        self._ended.set()

    async def _watch_events(self) -> None:
        async for event in self._qmp.events:
            if event["event"] == "GUEST_PANICKED":
                self._panicked_by_event = True
            elif event["event"] == "BLOCK_IO_ERROR":
                data = event.get("data")
                if isinstance(data, dict) and data.get("nospace"):
                    # QEMU has paused the guest; it will not go on.
                    self._disk_full = True
                    self._ended.set()
            elif event["event"] == "SHUTDOWN":
                data = event.get("data")
                self._shutdown_reason = str(data.get("reason")) if isinstance(data, dict) else ""

    def _failure(self) -> TrialFailure:
        """Why the machine is not running any more."""
        if self._disk_full:
            return TrialFailure(
                FailureKind.HOST_PROBLEM,
                "The disk that holds the machine's files is full.",
                why="QEMU had to pause the guest when it wrote to its disk.",
                remedy="Free space there, or point CVMBENCH_CACHE at a disk with room.",
            )
        if self.serial.panicked.is_set() or self._panicked_by_event:
            return TrialFailure(
                FailureKind.GUEST_PANIC,
                "The guest's kernel panicked.",
                why=f"It said: {self.serial.panic_message!r}." if self.serial.panic_message else "",
                remedy="`cvmbench show RUN --boots` and `--boot N` print its serial log.",
            )
        if self._shutdown_reason.startswith("guest"):
            return TrialFailure(
                FailureKind.CONNECTION_LOST,
                f"The guest ended by itself ({self._shutdown_reason}).",
                remedy="`cvmbench show RUN --boots` and `--boot N` print its serial log.",
            )
        return _qemu_failure(self._process.returncode, self.qemu_log)

    async def _follow_stderr(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - opened as a pipe below
        while chunk := await self._process.stderr.read(65536):
            room = _STDERR_KEPT - len(self._stderr)
            self._stderr += chunk[: max(room, 0)]

    async def end(self) -> None:
        """Kill QEMU if it still runs and let go of everything; never fails."""
        await reap(self._process)
        with contextlib.suppress(Exception):
            await self._qmp.disconnect()
        if self._serial_writer is not None:
            self._serial_writer.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _qemu_failure(status: int | None, log: bytes) -> TrialFailure:
    stderr = log.decode(errors="replace").strip()
    last = " | ".join(stderr.splitlines()[-3:])[-400:]
    how = f"with exit status {status}"
    if status is not None and status < 0:
        how = f"by signal {signal.Signals(-status).name}"
    cause = diagnose(stderr)
    kind = FailureKind.QEMU_DIED if cause is None or cause.transient else FailureKind.HOST_PROBLEM
    said = f"QEMU said: {last}" if last else "QEMU said nothing."
    return TrialFailure(
        kind,
        f"QEMU ended {how}.",
        why=f"{cause.why} ({said})" if cause else said,
        remedy=cause.remedy if cause else "`cvmbench show RUN --boot N` prints its whole log.",
    )


@contextlib.asynccontextmanager
async def running(
    spec: VmSpec, workspace: Workspace, taps: Mapping[str, int] | None = None
) -> AsyncIterator[Machine]:
    """Start QEMU for `spec` and end it when the block ends, however it ends.

    `taps` maps a tap network's id to its open descriptor. Raises TrialFailure (QEMU died, host
    problem) if QEMU does not come up.
    """
    logging.getLogger("qemu.qmp").setLevel(logging.CRITICAL)
    ours, theirs = zip(socket.socketpair(), socket.socketpair(), strict=True)
    descriptors = Descriptors(
        qmp=theirs[0].fileno(), serial=theirs[1].fileno(), taps=dict(taps or {})
    )
    argv = qemu_argv(spec, descriptors, qemu=find_tool("qemu-system-x86_64"))
    started = time.monotonic()
    try:
        process = await asyncio.create_subprocess_exec(
            *dies_with_us(argv),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            cwd=workspace.folder,
            env=workspace.environment,
            pass_fds=[end.fileno() for end in theirs] + list(descriptors.taps.values()),
            start_new_session=True,
        )
    except BaseException:
        for end in ours:
            end.close()
        raise
    finally:
        for end in theirs:
            end.close()
    machine = Machine(argv, process, QMPClient("machine"), started)
    try:
        await machine.come_up(ours[0], ours[1], workspace)
        yield machine
    finally:
        await asyncio.shield(machine.end())
        for end in ours:
            end.close()
