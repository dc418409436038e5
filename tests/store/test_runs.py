import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from cvmbench.errors import UsageError
from cvmbench.store.records import NewRun, RunRow, RunStatus, TrialStatus
from cvmbench.store.store import Store

NewRunOf = Callable[..., NewRun]


def test_a_run_comes_back_as_it_was_planned(store: Store, new_run: NewRunOf) -> None:
    added = store.add_run(new_run())
    assert store.run(added.key) == added
    planned = new_run()
    for name in ("name", "campaign_text", "campaign", "seed", "functional", "accelerator"):
        assert getattr(added, name) == getattr(planned, name)
    assert (added.host, added.image) == (planned.host, planned.image)
    assert added.status is RunStatus.RUNNING
    assert added.ended_at is None
    assert datetime.now(UTC) - added.created_at < timedelta(minutes=1)
    assert added.trials == {s: 8 if s is TrialStatus.PLANNED else 0 for s in TrialStatus}


def test_a_key_tells_name_and_time(store: Store, new_run: NewRunOf) -> None:
    run = store.add_run(new_run())
    assert re.fullmatch(r"quick-look-\d{8}-\d{6}-[0-9a-f]{4}", run.key)
    assert f"{run.created_at:%Y%m%d-%H%M%S}" in run.key
    assert store.add_run(new_run(name="/../" + "ü" * 300)).key.startswith("run-")
    assert len(store.add_run(new_run(name="x" * 1000)).key) <= 80


def test_keys_are_unique_within_one_second(store: Store, new_run: NewRunOf) -> None:
    assert len({store.add_run(new_run()).key for _ in range(20)}) == 20


def test_runs_come_newest_first_and_last_is_the_newest(store: Store, new_run: NewRunOf) -> None:
    keys = [store.add_run(new_run(name=name)).key for name in ("a", "b", "c")]
    assert [run.key for run in store.runs()] == keys[::-1]
    assert store.run("last").key == keys[-1]


def test_a_beginning_stands_for_a_run_if_no_other_begins_so(
    store: Store, new_run: NewRunOf
) -> None:
    redis, fio = (store.add_run(new_run(name=name)).key for name in ("redis", "fio"))
    assert store.run("re").key == redis
    assert store.run("fio").key == fio
    store.add_run(new_run(name="redis"))
    with pytest.raises(UsageError, match="more than one run") as caught:
        store.run("redis")
    assert redis in caught.value.why


def test_an_unknown_key_is_answered_with_the_nearest(store: Store, new_run: NewRunOf) -> None:
    with pytest.raises(UsageError, match="There is no run 'last'"):
        store.run("last")
    key = store.add_run(new_run()).key
    for wrong in (key.replace("quick", "quack"), "", "zzz", "%", key + "0"):
        with pytest.raises(UsageError, match="There is no run") as caught:
            store.run(wrong)
        assert key in caught.value.why


def test_one_host_is_stored_once(store: Store, new_run: NewRunOf) -> None:
    first = new_run()
    store.add_run(first)
    store.add_run(new_run(host=dict(reversed(list(first.host.items())))))
    store.add_run(new_run(host={"cpu": "another"}))
    with store.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM host").scalar() == 2


def test_the_status_of_a_run_and_its_end(store: Store, run: RunRow) -> None:
    store.set_run_status(run.id, RunStatus.STOPPED, "The disk is full.")
    stopped = store.run(run.key)
    assert (stopped.status, stopped.reason) == (RunStatus.STOPPED, "The disk is full.")
    assert stopped.ended_at is not None
    store.set_run_status(run.id, RunStatus.RUNNING)
    assert store.run(run.key).ended_at is None


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_no_database_holds(store: Store, new_run: NewRunOf, seed: int) -> None:
    with pytest.raises(ValueError, match="64-bit"):
        store.add_run(new_run(seed=seed))


def test_a_run_that_cannot_be_stored_leaves_nothing(store: Store, new_run: NewRunOf) -> None:
    with pytest.raises(ValueError, match="not in the run"):
        store.add_run(new_run(workloads=()))
    assert store.runs() == []
    with store.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM arm").scalar() == 0
