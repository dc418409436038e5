import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.store.faults import WrongStateError
from cvmbench.store.records import BlockRecord, NewRun, RawFile, RunRow, TrialResult, TrialStatus
from cvmbench.store.store import Store

Begin = Callable[[RunRow, int], int]
Measured = Callable[..., TrialResult]
NewRunOf = Callable[..., NewRun]

WRITER = Path(__file__).with_name("writing_process.py")


def test_a_finished_trial_is_stored_whole(
    store: Store, run: RunRow, begin: Begin, measured: Measured, store_path: Path
) -> None:
    trial_id = begin(run, 0)
    facts = MappingProxyType({"fio": "3.39"})
    result = measured(raw=(RawFile("stdout-1", b"rate 1.5\n"),), facts=facts)
    store.finish_trial(trial_id, result)
    with Store.open(store_path, read_only=True) as other:
        trial = other.trials(run.id)[0]
        assert (trial.status, trial.attempts) == (TrialStatus.MEASURED, 1)
        assert other.samples(run.id).select("iteration", "position", "value").rows() == [
            (0, 0, 1.5),
            (0, 1, 2.5),
            (1, 0, 3.5),
        ]
        ((role, sha256, size),) = other.raw_files(trial_id=trial_id)
        assert (role, size, other.read_raw(sha256)) == ("stdout-1", 9, b"rate 1.5\n")
        assert other.trial_facts(trial_id) == {"fio": "3.39"}
        row = other.trials_frame(run.id).row(0, named=True)
        assert (row["started_at"], row["ended_at"]) == (result.started_at, result.ended_at)


def test_a_trial_is_measured_once(
    store: Store, run: RunRow, begin: Begin, measured: Measured
) -> None:
    trial_id = begin(run, 0)
    store.finish_trial(trial_id, measured())
    boot_id = store.trials(run.id)[0].boot_id
    assert boot_id is not None
    again: list[Callable[[], object]] = [
        lambda: store.finish_trial(trial_id, measured()),
        lambda: store.requeue_trial(trial_id),
        lambda: store.end_trial(trial_id, TrialStatus.FAILED, reason="late"),
        lambda: store.begin_trial(trial_id, boot_id),
    ]
    for step in again:
        with pytest.raises(WrongStateError):
            step()
    assert store.samples(run.id).height == 3
    assert store.trials(run.id)[0].status is TrialStatus.MEASURED


def test_a_trial_that_was_not_begun_cannot_finish(
    store: Store, run: RunRow, measured: Measured
) -> None:
    with pytest.raises(WrongStateError):
        store.finish_trial(store.trials(run.id)[0].id, measured())
    assert store.samples(run.id).is_empty()


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        ({"rate": [[1.0, float("nan")]]}, "finite"),
        ({"rate": [[float("inf")]]}, "finite"),
        ({"rate": [[10**400]]}, "finite"),
        ({"speed": [[1.0]]}, "unknown metric, 'speed'"),
        ({"rate": [[], []]}, "no value"),
        ({}, "no value"),
    ],
)
def test_what_is_no_measurement_is_not_stored(
    store: Store,
    run: RunRow,
    begin: Begin,
    measured: Measured,
    samples: dict[str, list[list[float]]],
    why: str,
) -> None:
    trial_id = begin(run, 0)
    with pytest.raises(TrialFailure, match=why) as caught:
        store.finish_trial(trial_id, measured(samples=samples))
    assert caught.value.kind is FailureKind.OUTPUT_NOT_UNDERSTOOD
    assert store.samples(run.id).is_empty()
    assert store.trials(run.id)[0].status is TrialStatus.RUNNING


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20), min_size=1
    ).filter(any)
)
def test_every_finite_value_comes_back_exactly(
    store: Store, new_run: NewRunOf, measured: Measured, iterations: list[list[float]]
) -> None:
    run = store.add_run(new_run(blocks=(BlockRecord(1, ("plain",), ("cpu",)),)))
    (trial,) = store.trials(run.id)
    store.begin_trial(trial.id, store.begin_boot(run.id, trial.block_id, trial.arm_id).id)
    store.finish_trial(trial.id, measured(samples={"latency": iterations}))
    # (SQLite gives minus zero back as zero, which is equal to it.)
    stored = store.samples(run.id).select("iteration", "position", "value").rows()
    assert stored == [
        (i, p, value) for i, values in enumerate(iterations) for p, value in enumerate(values)
    ]


def test_a_trial_without_a_number_keeps_the_reason(store: Store, run: RunRow, begin: Begin) -> None:
    failed = begin(run, 0)
    store.end_trial(
        failed,
        TrialStatus.FAILED,
        kind=FailureKind.TIME_LIMIT,
        reason="It took more than 60 s.",
        raw=[RawFile("stdout-1", b"half")],
    )
    skipped = store.trials(run.id)[1].id
    store.end_trial(skipped, TrialStatus.SKIPPED, reason="Its arm never booted.")
    rows = store.trials(run.id)
    assert (rows[0].status, rows[0].kind, rows[0].reason) == (
        TrialStatus.FAILED,
        "time limit",
        "It took more than 60 s.",
    )
    assert (rows[1].status, rows[1].reason) == (TrialStatus.SKIPPED, "Its arm never booted.")
    assert store.samples(run.id).is_empty()
    with pytest.raises(ValueError, match="cannot end as measured"):
        store.end_trial(failed, TrialStatus.MEASURED, reason="")


def test_another_attempt_keeps_the_count_and_the_raw_files(
    store: Store, run: RunRow, begin: Begin, measured: Measured
) -> None:
    trial_id = begin(run, 0)
    store.end_trial(
        trial_id, TrialStatus.FAILED, reason="garbage", raw=[RawFile("stdout-1", b"@@@")]
    )
    store.requeue_trial(trial_id)
    waiting = store.trials(run.id)[0]
    assert (waiting.status, waiting.attempts, waiting.boot_id, waiting.reason) == (
        TrialStatus.PLANNED,
        1,
        None,
        "",
    )
    begin(run, 0)
    store.finish_trial(trial_id, measured(raw=(RawFile("stdout-1", b"1.5"),)))
    assert store.trials(run.id)[0].attempts == 2
    assert [file.size for file in store.raw_files(trial_id=trial_id)] == [3, 3]
    (second,) = store.raw_files(trial_id=trial_id, attempt=2)
    assert store.read_raw(second.sha256) == b"1.5"


def test_a_trial_runs_only_in_a_live_boot_of_its_own_arm(store: Store, run: RunRow) -> None:
    trials = store.trials(run.id)
    other = store.begin_boot(run.id, trials[2].block_id, trials[2].arm_id)
    with pytest.raises(WrongStateError):
        store.begin_trial(trials[0].id, other.id)
    own = store.begin_boot(run.id, trials[0].block_id, trials[0].arm_id)
    assert store.begin_trial(trials[0].id, own.id) == 1
    with pytest.raises(WrongStateError):
        store.begin_trial(trials[0].id, own.id)


def test_facts_of_a_trial_that_is_not_there(store: Store) -> None:
    with pytest.raises(KeyError):
        store.trial_facts(1)


def test_a_writer_killed_at_any_moment_leaves_whole_trials_only(
    store_path: Path, new_run: NewRunOf
) -> None:
    samples, trials = 5000, 40
    with Store.open(store_path) as store:
        run = store.add_run(
            new_run(
                blocks=tuple(BlockRecord(n, ("plain",), ("cpu",)) for n in range(1, trials + 1))
            )
        )
    chance = random.Random()
    kills = 0
    while True:
        writer = start_writer(store_path, run, samples)
        assert writer.stdout is not None
        with writer.stdout:
            let_go(writer)
            said = writer.stdout.readline()
            if kills < 8 and said != "done\n":
                time.sleep(chance.uniform(0, 0.03))
                writer.send_signal(signal.SIGKILL)
            writer.stdout.read()
        if writer.wait() == 0:
            break
        assert writer.returncode == -signal.SIGKILL
        kills += 1
        with Store.open(store_path) as store:
            assert store.active_runs() == []
            assert_whole_trials_only(store, run, samples)
    assert kills >= 2
    with Store.open(store_path) as store:
        assert store.run(run.key).trials[TrialStatus.MEASURED] == trials
        assert store.samples(run.id).height == trials * samples
        assert_whole_trials_only(store, run, samples)


def assert_whole_trials_only(store: Store, run: RunRow, samples: int) -> None:
    with store.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    counted = dict(store.samples(run.id).group_by("trial_id").len().rows())
    for trial in store.trials(run.id):
        measured = trial.status is TrialStatus.MEASURED
        assert counted.get(trial.id, 0) == (samples if measured else 0)
        raw = [store.read_raw(file.sha256) for file in store.raw_files(trial_id=trial.id)]
        assert raw == ([f"trial {trial.id}\n".encode() * 100] if measured else [])


def test_two_processes_write_two_runs_at_once(store_path: Path, new_run: NewRunOf) -> None:
    samples, trials = 500, 60
    blocks = tuple(BlockRecord(n, ("plain",), ("cpu",)) for n in range(1, trials + 1))
    with Store.open(store_path) as store:
        runs = [store.add_run(new_run(name=name, blocks=blocks)) for name in ("one", "two")]
        start = datetime.now(UTC)
        writers = [start_writer(store_path, run, samples) for run in runs]
        for writer in writers:
            let_go(writer)
        for writer in writers:
            assert writer.communicate(timeout=120)[0].endswith("done\n")
        frames = [store.trials_frame(run.id) for run in runs]
        assert frames[0]["started_at"].min() < frames[1]["ended_at"].max()  # type: ignore[operator]
        assert frames[1]["started_at"].min() < frames[0]["ended_at"].max()  # type: ignore[operator]
        assert frames[0]["started_at"].min() > start  # type: ignore[operator]
        for run in runs:
            assert store.run(run.key).trials[TrialStatus.MEASURED] == trials
            assert_whole_trials_only(store, run, samples)


def start_writer(store_path: Path, run: RunRow, samples: int) -> subprocess.Popen[str]:
    """A process that waits, ready to measure all trials of `run`."""
    writer = subprocess.Popen(
        [sys.executable, str(WRITER), str(store_path), run.key, str(samples)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    return writer


def let_go(writer: subprocess.Popen[str]) -> None:
    """Let a waiting writer begin."""
    assert writer.stdin is not None
    writer.stdin.write("\n")
    writer.stdin.close()
    writer.stdin = None
