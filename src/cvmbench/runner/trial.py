"""One trial: prepare, warm up, measure, parse."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Command, Output
from cvmbench.runner.guest_boot import Guest
from cvmbench.runner.jobs import Job
from cvmbench.store.records import RawFile, TrialResult
from cvmbench.workloads.contract import Place, Surroundings, not_understood, one_line

SERVER_UNIT = "cvmbench-server"
SERVER_LOG = "/run/cvmbench-server.log"
_SERVER_START_S = 60.0
_SERVER_STOP_S = 20.0
_CLIENT_SATURATED = 0.9
"""Share of one CPU above which a single-threaded client may be what was measured."""


@dataclass(slots=True)
class Trace:
    """What a trial has produced so far; kept with the trial even when it fails."""

    raw: list[RawFile] = field(default_factory=list)
    client_cpu: list[float] = field(default_factory=list)

    def add(self, what: str, output: Output) -> None:
        """Keep the output of one command."""
        for role, text in (("stdout", output.stdout), ("stderr", output.stderr)):
            if text:
                self.raw.append(RawFile(f"{what}-{role}", text.encode()))


async def measure(job: Job, guest: Guest, trace: Trace, tell: Callable[[str], None]) -> TrialResult:
    """Run a job in a boot. Raises TrialFailure; what was produced until then is in `trace`."""
    around = guest.surroundings
    started = datetime.now(UTC)
    tell("prepare")
    for number, command in enumerate(job.workload.prepare(job.parameters, around), 1):
        trace.add(f"prepare-{number}", await guest.run(_limited(job, command)))
    samples: dict[str, list[Sequence[float]]] = {m.name: [] for m in job.workload.metrics}
    async with _server(job, guest):
        for number in range(1, job.warm_up + 1):
            tell(f"warm-up {number} of {job.warm_up}")
            _parse(job, await _measured_run(job, guest, f"warm-up-{number}", trace))
        trace.client_cpu.clear()
        for number in range(1, job.iterations + 1):
            tell(f"iteration {number} of {job.iterations}")
            stdout = await _measured_run(job, guest, f"iteration-{number}", trace)
            for name, values in _parse(job, stdout).items():
                samples[name].append(values)
    return TrialResult(
        samples=samples,
        started_at=started,
        ended_at=datetime.now(UTC),
        raw=tuple(trace.raw),
        facts=_facts(job, around, trace),
    )


def _facts(job: Job, around: Surroundings, trace: Trace) -> Mapping[str, Any]:
    facts: dict[str, Any] = {
        "argv": [list(c.argv) for c in job.workload.measure(job.parameters, around)],
        "warnings": [],
    }
    if trace.client_cpu:
        facts["client_cpu_share"] = trace.client_cpu
        if max(trace.client_cpu) > _CLIENT_SATURATED:
            facts["warnings"].append(
                f"The client used {max(trace.client_cpu):.0%} of a CPU: "
                "it may have limited the result, not the guest."
            )
    return facts


async def _measured_run(job: Job, guest: Guest, name: str, trace: Trace) -> str:
    """One measured run; gives what its commands printed, one after the other."""
    outside = job.workload.place is Place.CLIENT_SERVER
    await asyncio.sleep(job.workload.settle_s)
    commands = job.workload.measure(job.parameters, guest.surroundings)
    printed = []
    for number, command in enumerate(commands, 1):
        output = await guest.attempt(_limited(job, command), outside=outside)
        trace.add(name if len(commands) == 1 else f"{name}-{number}", output)
        if output.status != 0:
            raise _tool_failed(job, output)
        if outside:
            trace.client_cpu.append(guest.client.cpu_s / max(output.duration_s, 1e-9))
        printed.append(output.stdout)
    return "".join(printed)


def _tool_failed(job: Job, output: Output) -> TrialFailure:
    complaint = job.workload.complaint(output)
    return TrialFailure(
        FailureKind.TOOL_FAILED,
        f"'{output.argv[0]}' ended with status {output.status}.",
        why=f"It said: {complaint!r}." if complaint else "It said nothing.",
    )


def _limited(job: Job, command: Command) -> Command:
    expected = float(job.workload.duration_s(job.parameters))
    return dataclasses.replace(command, timeout_s=expected * job.patience + job.grace_s)


def _parse(job: Job, stdout: str) -> Mapping[str, Sequence[float]]:
    try:
        samples: Mapping[str, Sequence[float]] = job.workload.parse(stdout, job.parameters)
    except TrialFailure:
        raise
    except Exception as error:  # a workload of others may raise anything on what a guest printed
        raise not_understood(
            job.workload.name, f"its parser raised {type(error).__name__}: {one_line(str(error))}"
        ) from error
    known = {metric.name for metric in job.workload.metrics}
    if not _is_whole(samples, known):
        raise TrialFailure(
            FailureKind.OUTPUT_NOT_UNDERSTOOD,
            f"The workload '{job.workload.name}' did not give finite numbers for its metrics.",
            why=f"Declared: {sorted(known)}; given: {one_line(repr(samples))}.",
        )
    return samples


def _is_whole(samples: object, known: set[str]) -> bool:
    """Every declared metric and no other, each with at least one finite number."""
    return (
        isinstance(samples, Mapping)
        and set(samples) == known
        and all(
            isinstance(values, Sequence) and len(values) > 0 and all(map(_is_finite, values))
            for values in samples.values()
        )
    )


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


@contextlib.asynccontextmanager
async def _server(job: Job, guest: Guest) -> AsyncIterator[None]:
    """The workload's server, running in the guest as a transient unit while the block runs."""
    command = job.workload.server(job.parameters, guest.surroundings)
    if command is None:
        yield
        return
    unit = (
        *("systemd-run", "--quiet", "--collect", f"--unit={SERVER_UNIT}"),
        *(f"--setenv={key}={value}" for key, value in command.environment.items()),
        *(f"--property=Standard{stream}=truncate:{SERVER_LOG}" for stream in ("Output", "Error")),
        "--",
    )
    await guest.run(Command((*unit, *command.argv)))
    try:
        await _until_listening(job, guest)
        yield
    except asyncio.CancelledError:
        # The whole machine goes now, and a guest that hangs would not answer.
        raise
    except BaseException:
        await _stop_server(guest)
        raise
    await _stop_server(guest)


async def _stop_server(guest: Guest) -> None:
    with contextlib.suppress(TrialFailure):
        await guest.run(Command(("systemctl", "stop", SERVER_UNIT), timeout_s=_SERVER_STOP_S))


async def _until_listening(job: Job, guest: Guest) -> None:
    look = Command(("ss", "-Hltn", f"sport = :{guest.surroundings.server_port}"))
    try:
        async with asyncio.timeout(_SERVER_START_S):
            while not (await guest.run(look)).stdout.strip():  # noqa: ASYNC110 - asks the guest
                await asyncio.sleep(0.1)
    except TimeoutError:
        log = Command(("tail", "-c", "300", SERVER_LOG))
        said = (await guest.run(log)).stdout.strip()
        raise TrialFailure(
            FailureKind.TOOL_FAILED,
            f"The server of '{job.workload.name}' did not listen within {_SERVER_START_S:.0f} s.",
            why=f"It said: {said!r}." if said else "It said nothing.",
        ) from None
