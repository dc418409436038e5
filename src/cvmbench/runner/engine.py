"""The engine: works through what a run still has to do, block by block, boot by boot.

It goes by the store alone: what is planned there is done, in plan order. So a run that was killed
goes on where it stood, and a finished trial is never done twice.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from cvmbench.campaign.arm import Arm
from cvmbench.errors import (
    FailureKind,
    HostCannotError,
    StoreError,
    TrialFailure,
)
from cvmbench.guest.command import Command
from cvmbench.runner.guest_boot import BootPlan, BootTrace, Guest, boot
from cvmbench.runner.jobs import Job
from cvmbench.runner.progress import (
    BootBegan,
    BootFailed,
    GuestReady,
    Listener,
    Note,
    RunBegan,
    Step,
    TrialEnded,
)
from cvmbench.runner.retries import CONSEQUENCES
from cvmbench.runner.timing import TimeLeft
from cvmbench.runner.trial import Trace, measure
from cvmbench.store.records import (
    BootStatus,
    RawFile,
    RunRow,
    RunStatus,
    TrialResult,
    TrialRow,
    TrialStatus,
)
from cvmbench.store.store import Store
from cvmbench.units import format_quantity

_STILL_THERE_S = 15.0
"""How long a guest may take to answer `true` after a trial ran out of time."""


Starter = Callable[[BootPlan, Arm, BootTrace], AbstractAsyncContextManager[Guest]]
"""Brings a guest up for the length of a block; `guest_boot.boot`, or a double in tests."""


@dataclass(slots=True)
class Engine:
    """Executes one run. `jobs` maps a workload's key to what is to be done."""

    store: Store
    run: RunRow
    plan: BootPlan
    arms: Mapping[str, Arm]
    jobs: Mapping[str, Job]
    listen: Listener
    time_left: TimeLeft
    boot: Starter = boot
    _failed_attempts: Counter[int] = field(default_factory=Counter)
    _left: dict[int, TrialRow] = field(default_factory=dict)
    _blocks: int = 0

    async def execute(self) -> RunStatus:
        """Do all that is left. Gives `finished`; every trial has its final status then.

        Raises HostCannotError if the host stopped it, after the run was marked `stopped`; on
        cancellation the run is marked `interrupted`. Finished trials are kept in every case.
        """
        try:
            await self._work()
        except asyncio.CancelledError:
            self._leave(RunStatus.INTERRUPTED, "stopped by the user")
            raise
        except BaseException as error:
            self._leave(RunStatus.STOPPED, str(error) or type(error).__name__)
            raise
        self.store.set_run_status(self.run.id, RunStatus.FINISHED)
        return RunStatus.FINISHED

    async def _work(self) -> None:
        self.store.recover(self.run.id)
        self.store.set_run_status(self.run.id, RunStatus.RUNNING)
        trials = self.store.trials(self.run.id)
        self._blocks = max((trial.block for trial in trials), default=0)
        self._left = {t.id: t for t in trials if t.status is TrialStatus.PLANNED}
        self.listen(RunBegan(self.run.key, len(trials), len(self._left), self._left_s()))
        while self._left:
            await self._arm_in_block(next(iter(self._left.values())))

    async def _arm_in_block(self, first: TrialRow) -> None:
        """Boot the arm of `first` until all its trials of the block have a final status."""
        boots_failed = 0
        while remaining := [
            trial
            for trial in self._left.values()
            if (trial.block_id, trial.arm_id) == (first.block_id, first.arm_id)
        ]:
            failure = await self._boot(remaining)
            if failure is None:
                continue
            boots_failed += 1
            if boots_failed >= self.plan.campaign.limits.boot_attempts:
                self._give_up([trial for trial in remaining if trial.id in self._left], failure)

    async def _boot(self, trials: Sequence[TrialRow]) -> TrialFailure | None:
        """Boot once and do these trials; gives the failure that ended the boot early, if one did.

        Raises HostCannotError for a problem of the host.
        """
        arm, block = trials[0].arm, trials[0].block
        ref = self.store.begin_boot(self.run.id, trials[0].block_id, trials[0].arm_id)
        self.listen(BootBegan(arm, block, self._blocks, ref.attempt))
        trace = BootTrace()
        status, failure = BootStatus.LOST, None
        began = time.monotonic()
        in_trials = 0.0
        try:
            async with self.boot(self.plan, self.arms[arm], trace) as guest:
                self.store.boot_ready(
                    ref.id,
                    ready_s=trace.ready_s,
                    evidence=trace.evidence_data(),
                    facts=trace.facts(),
                )
                self.listen(GuestReady(arm, block, trace.ready_s))
                trials_began = time.monotonic()
                for trial in trials:
                    await self._trial(trial, ref.id, guest)
                in_trials = time.monotonic() - trials_began
            status = BootStatus.ENDED
            self.time_left.saw_boot(time.monotonic() - began - in_trials)
        except TrialFailure as error:
            status, failure = BootStatus.FAILED, error
        except HostCannotError as error:
            status = BootStatus.FAILED
            failure = TrialFailure(
                FailureKind.HOST_PROBLEM, error.what, why=error.why, remedy=error.remedy
            )
        finally:
            if failure is not None and failure.kind is FailureKind.NOT_VERIFIED:
                self.store.note_evidence(ref.id, trace.evidence_data())
            self.store.end_boot(
                ref.id,
                status,
                kind=failure.kind if failure else "",
                reason=str(failure) if failure else "",
                raw=_boot_files(trace),
            )
        if failure is not None:
            stops = CONSEQUENCES[failure.kind].stops_run
            self.listen(BootFailed(arm, block, failure.kind, str(failure)))
            if stops:
                raise HostCannotError(failure.what, why=failure.why, remedy=failure.remedy)
        return failure

    async def _trial(self, row: TrialRow, boot_id: int, guest: Guest) -> None:
        """Do one trial in a boot, again if its kind of failure allows.

        Raises TrialFailure when the boot is lost; the trial is planned again then, or failed for
        good when its attempts are used up.
        """
        job = self.jobs[row.workload]
        if reason := job.workload.unavailable(job.parameters, guest.surroundings):
            self.store.end_trial(row.id, TrialStatus.UNAVAILABLE, reason=reason)
            self._tell_end(row, TrialStatus.UNAVAILABLE, reason, "")
            return
        while True:
            attempt = self.store.begin_trial(row.id, boot_id)
            trace = Trace()
            began = time.monotonic()
            try:
                result = await measure(
                    job,
                    guest,
                    trace,
                    lambda what: self.listen(Step(row.arm, row.block, row.workload, what)),
                )
                self.store.finish_trial(row.id, result)
            except TrialFailure as error:
                failure = await closer_look(error, guest)
            else:
                self.time_left.saw_trial(row.workload, time.monotonic() - began)
                self._tell_end(row, TrialStatus.MEASURED, "", _headline(job, result))
                for warning in result.facts.get("warnings", ()):
                    self._warn(row, warning)
                return
            self._failed_attempts[row.id] += 1
            consequence = CONSEQUENCES[failure.kind]
            used_up = self._failed_attempts[row.id] >= self.plan.campaign.limits.trial_attempts
            final = not consequence.stops_run and (used_up or not consequence.repeats)
            self.store.end_trial(
                row.id,
                TrialStatus.FAILED,
                kind=failure.kind,
                reason=str(failure),
                raw=trace.raw,
            )
            self.store.add_event(
                self.run.id,
                "trial failed",
                f"Attempt {attempt} of {row.workload} in {row.arm}, block {row.block}: {failure}",
                level="warning",
                boot_id=boot_id,
                trial_id=row.id,
            )
            if final:
                self._tell_end(row, TrialStatus.FAILED, str(failure), "")
            else:
                self.store.requeue_trial(row.id)
            if consequence.loses_boot:
                raise failure
            if final:
                return

    def _give_up(self, trials: Sequence[TrialRow], failure: TrialFailure) -> None:
        """No boot of this arm in this block lasts: its trials have failed with that reason."""
        for trial in trials:
            self.store.end_trial(
                trial.id, TrialStatus.FAILED, kind=failure.kind, reason=str(failure)
            )
            self._tell_end(trial, TrialStatus.FAILED, str(failure), "")

    def _warn(self, row: TrialRow, warning: str) -> None:
        self.store.add_event(
            self.run.id, "trial warning", warning, level="warning", trial_id=row.id
        )
        self.listen(Note(f"{row.workload} in {row.arm}: {warning}", is_warning=True))

    def _tell_end(self, row: TrialRow, status: TrialStatus, reason: str, headline: str) -> None:
        del self._left[row.id]
        self.listen(
            TrialEnded(
                row.arm,
                row.block,
                row.workload,
                status,
                reason,
                headline,
                len(self._left),
                self._left_s(),
            )
        )

    def _left_s(self) -> float:
        boots = {(trial.block_id, trial.arm_id) for trial in self._left.values()}
        return self.time_left.left_s((t.workload for t in self._left.values()), len(boots))

    def _leave(self, status: RunStatus, reason: str) -> None:
        """Mark the run; a store that cannot be written any more leaves that to `recover`."""
        try:
            self.store.recover(self.run.id)
            self.store.set_run_status(self.run.id, status, reason)
        except StoreError:
            return


async def closer_look(
    failure: TrialFailure, guest: Guest, patience_s: float = _STILL_THERE_S
) -> TrialFailure:
    """What a failure really was: a time limit in a guest that does not answer is a hang."""
    if failure.kind is not FailureKind.TIME_LIMIT:
        return failure
    try:
        await guest.run(Command(("true",), timeout_s=patience_s))
    except TrialFailure as silence:
        if silence.kind is not FailureKind.TIME_LIMIT:
            return silence
        return TrialFailure(
            FailureKind.GUEST_HANG,
            "The guest does not answer any more.",
            why=failure.what,
            remedy="`cvmbench show RUN --boots` and `--boot N` print its serial log.",
        )
    return failure


def _boot_files(trace: BootTrace) -> tuple[RawFile, ...]:
    machine = trace.machine
    if machine is None:
        return ()
    files = (RawFile("serial", machine.serial.content()), RawFile("qemu-log", machine.qemu_log))
    return tuple(file for file in files if file.content)


def _headline(job: Job, result: TrialResult) -> str:
    """The mean of the headline metric for people."""
    metric = next((m for m in job.workload.metrics if m.headline), None)
    if metric is None:
        return ""
    values = [value for iteration in result.samples[metric.name] for value in iteration]
    return format_quantity(sum(values) / len(values), metric.unit)
