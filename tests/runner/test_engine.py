"""The engine over a real store, with guests in memory."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from cvmbench.errors import FailureKind, HostCannotError, TrialFailure
from cvmbench.runner.progress import BootBegan, BootFailed, RunBegan, TrialEnded
from cvmbench.runner.timing import TimeLeft
from cvmbench.store.records import BootStatus, RunStatus, TrialStatus
from tests.runner.conftest import Bench

PLAN = ["plain", "plain+idle-poll", "plain+idle-poll", "plain"]


def lost(kind: FailureKind = FailureKind.GUEST_PANIC) -> TrialFailure:
    return TrialFailure(kind, "It broke.")


async def test_everything_planned_is_measured_once_and_in_order(bench: Bench) -> None:
    await bench.engine.execute()
    assert bench.boots == PLAN
    assert bench.statuses() == {TrialStatus.MEASURED}
    frame = bench.store.samples(bench.run.id)
    assert frame.height == 2 * 2 * 2 * 2, "blocks, arms, workloads, iterations; no warm-up"
    per_boot = [name for _, name in bench.commands[:6]]
    assert per_boot == ["two"] * 3 + ["one"] * 3, "one warm-up and two iterations, in plan order"
    assert bench.store.run(bench.run.key).status is RunStatus.FINISHED


@pytest.mark.parametrize(
    "kind",
    [
        FailureKind.GUEST_PANIC,
        FailureKind.GUEST_HANG,
        FailureKind.QEMU_DIED,
        FailureKind.CONNECTION_LOST,
    ],
)
async def test_a_lost_boot_is_repeated_inside_its_block(bench: Bench, kind: FailureKind) -> None:
    def answers(arm: str, command: str, count: int) -> str:
        if len(bench.boots) == 2 and command == "one" and count == 2:
            raise lost(kind)
        return "5"

    bench.answers = answers
    await bench.engine.execute()
    assert bench.boots == ["plain", "plain+idle-poll", *PLAN[1:]]
    assert bench.statuses() == {TrialStatus.MEASURED}
    boots = bench.store.boots(bench.run.id)
    assert [boot.status for boot in boots].count(BootStatus.FAILED) == 1
    assert [(boot.attempt, boot.kind) for boot in boots][1:3] == [(1, kind), (2, "")]
    trials = {(t.block, t.arm, t.workload): t for t in bench.trials()}
    assert trials[1, "plain+idle-poll", "two"].attempts == 1, "finished before the boot was lost"
    assert trials[1, "plain+idle-poll", "one"].attempts == 2
    assert any(isinstance(event, BootFailed) for event in bench.events)


async def test_a_failing_tool_is_tried_again_in_the_same_boot(bench: Bench) -> None:
    failed: list[str] = []

    def answers(arm: str, command: str, count: int) -> str:
        if not failed:
            failed.append(command)
            raise lost(FailureKind.TOOL_FAILED)
        return "5"

    bench.answers = answers
    await bench.engine.execute()
    assert bench.boots == PLAN
    assert bench.statuses() == {TrialStatus.MEASURED}


async def test_a_tool_that_keeps_failing_fails_its_trials_and_no_others(bench: Bench) -> None:
    def answers(arm: str, command: str, count: int) -> str:
        if command == "one" and arm == "plain":
            raise lost(FailureKind.TOOL_FAILED)
        return "5"

    bench.answers = answers
    await bench.engine.execute()
    for trial in bench.trials():
        expected = (
            TrialStatus.FAILED
            if (trial.arm, trial.workload) == ("plain", "one")
            else TrialStatus.MEASURED
        )
        assert trial.status is expected
        if expected is TrialStatus.FAILED:
            assert (trial.attempts, trial.kind) == (2, FailureKind.TOOL_FAILED)
            assert "It broke." in trial.reason


async def test_output_that_is_not_understood_is_not_tried_again(bench: Bench) -> None:
    calls: list[str] = []

    def answers(arm: str, command: str, count: int) -> str:
        calls.append(command)
        if command == "two":
            raise lost(FailureKind.OUTPUT_NOT_UNDERSTOOD)
        return "5"

    bench.answers = answers
    await bench.engine.execute()
    assert calls.count("two") == 4, "once in each boot"


@pytest.mark.parametrize("said", ["nan", "1e309", "-inf", "abc", ""])
async def test_a_lax_parser_of_others_fails_its_trials_and_nothing_else(
    bench: Bench, said: str
) -> None:
    bench.answers = lambda arm, command, count: said if command == "two" else "5"
    await bench.engine.execute()
    for trial in bench.trials():
        if trial.workload == "two":
            assert trial.status is TrialStatus.FAILED
            assert trial.kind == FailureKind.OUTPUT_NOT_UNDERSTOOD
        else:
            assert trial.status is TrialStatus.MEASURED


async def test_a_defect_of_ours_leaves_the_run_stopped_and_resumable(bench: Bench) -> None:
    def answers(arm: str, command: str, count: int) -> str:
        raise ZeroDivisionError("oops")

    bench.answers = answers
    with pytest.raises(ZeroDivisionError):
        await bench.engine.execute()
    assert bench.store.run(bench.run.key).status is RunStatus.STOPPED
    bench.answers = lambda arm, command, count: "5"
    await bench.engine.execute()
    assert bench.statuses() == {TrialStatus.MEASURED}


async def test_an_arm_that_never_boots_fails_after_its_attempts(bench: Bench) -> None:
    bench.refuse = lambda arm, count: (
        lost(FailureKind.NOT_VERIFIED) if arm == "plain+idle-poll" else None
    )
    await bench.engine.execute()
    assert bench.boots.count("plain+idle-poll") == 2 * 3, "three attempts in each block"
    for trial in bench.trials():
        assert (trial.status is TrialStatus.MEASURED) == (trial.arm == "plain")
    frame = bench.store.samples(bench.run.id)
    assert set(frame["arm"]) == {"plain"}, "numbers of a guest not verified do not exist"


async def test_an_unavailable_workload_is_a_status_with_its_reason(bench: Bench) -> None:
    bench.workloads["two"].reason = "There is no disk."
    await bench.engine.execute()
    unavailable = [t for t in bench.trials() if t.workload == "two"]
    assert {t.status for t in unavailable} == {TrialStatus.UNAVAILABLE}
    assert {t.reason for t in unavailable} == {"There is no disk."}
    assert ("plain", "two") not in bench.commands


async def test_a_problem_of_the_host_stops_the_run_and_loses_nothing(bench: Bench) -> None:
    bench.refuse = lambda arm, count: (
        lost(FailureKind.HOST_PROBLEM) if len(bench.boots) == 3 else None
    )
    with pytest.raises(HostCannotError, match="It broke"):
        await bench.engine.execute()
    row = bench.store.run(bench.run.key)
    assert row.status is RunStatus.STOPPED
    assert row.trials[TrialStatus.MEASURED] == 4
    assert row.trials[TrialStatus.PLANNED] == 4
    bench.refuse = lambda arm, count: None
    await bench.engine.execute()
    assert bench.statuses() == {TrialStatus.MEASURED}
    assert bench.boots == [*PLAN[:3], *PLAN[2:]]


async def test_an_interrupted_run_goes_on_where_it_stood(bench: Bench) -> None:
    def answers(arm: str, command: str, count: int) -> str:
        if len(bench.boots) == 2 and command == "one":
            raise asyncio.CancelledError
        return "5"

    bench.answers = answers
    with contextlib.suppress(asyncio.CancelledError):
        await bench.engine.execute()
    assert bench.store.run(bench.run.key).status is RunStatus.INTERRUPTED
    assert bench.statuses() == {TrialStatus.MEASURED, TrialStatus.PLANNED}
    bench.answers = lambda arm, command, count: "5"
    await bench.engine.execute()
    assert bench.statuses() == {TrialStatus.MEASURED}
    boots = bench.store.boots(bench.run.id)
    assert [boot.status for boot in boots].count(BootStatus.LOST) == 1


async def test_listeners_hear_how_much_is_left(bench: Bench) -> None:
    await bench.engine.execute()
    [began] = [event for event in bench.events if isinstance(event, RunBegan)]
    assert (began.trials, began.trials_left) == (8, 8)
    ended = [event for event in bench.events if isinstance(event, TrialEnded)]
    assert [event.trials_left for event in ended] == list(range(7, -1, -1))
    assert ended[-1].left_s == 0
    assert [e.arm for e in bench.events if isinstance(e, BootBegan)] == PLAN


async def test_raw_output_is_kept_beside_every_number(bench: Bench) -> None:
    await bench.engine.execute()
    trial = bench.trials()[0]
    kept = bench.store.raw_files(trial_id=trial.id)
    assert [file.role for file in kept] == [
        "warm-up-1-stdout",
        "iteration-1-stdout",
        "iteration-2-stdout",
    ]
    assert bench.store.read_raw(kept[1].sha256) == b"5"
    boot = bench.store.boots(bench.run.id)[0]
    roles = [file.role for file in bench.store.raw_files(boot_id=boot.id)]
    assert roles == ["serial", "qemu-log"]


def test_time_left_learns_from_what_it_saw() -> None:
    left = TimeLeft({"a": 10.0}, 5.0)
    assert left.left_s(["a", "a"], 2) == 30
    left.saw_trial("a", 2.0)
    left.saw_trial("a", 4.0)
    left.saw_boot(1.0)
    assert left.left_s(["a", "a"], 2) == 8
