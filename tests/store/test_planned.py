from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvmbench.store.records import BlockRecord, NewRun, RunRow, TrialStatus
from cvmbench.store.store import Store

NewRunOf = Callable[..., NewRun]


def test_the_records_of_a_plan_come_back_equal(store: Store, new_run: NewRunOf) -> None:
    planned = new_run()
    run = store.add_run(planned)
    assert tuple(store.arms(run.id)) == planned.arms
    assert tuple(store.workloads(run.id)) == planned.workloads
    assert tuple(store.blocks(run.id)) == planned.blocks


def test_trials_follow_the_orders_of_their_block(store: Store, run: RunRow) -> None:
    trials = store.trials(run.id)
    assert [(t.block, t.arm, t.workload) for t in trials] == [
        (1, "plain+swiotlb", "disk"),
        (1, "plain+swiotlb", "cpu"),
        (1, "plain", "disk"),
        (1, "plain", "cpu"),
        (2, "plain", "cpu"),
        (2, "plain", "disk"),
        (2, "plain+swiotlb", "cpu"),
        (2, "plain+swiotlb", "disk"),
    ]
    assert {(t.status, t.attempts, t.boot_id) for t in trials} == {(TrialStatus.PLANNED, 0, None)}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_any_order_of_any_blocks_is_kept(
    store: Store, new_run: NewRunOf, data: st.DataObject
) -> None:
    base = new_run()
    arms = [a.name for a in base.arms]
    workloads = [w.label for w in base.workloads]
    numbers = data.draw(st.lists(st.integers(0, 1000), unique=True, max_size=5))
    blocks = tuple(
        BlockRecord(
            number,
            tuple(data.draw(st.permutations(arms))),
            tuple(data.draw(st.permutations(workloads))),
        )
        for number in numbers
    )
    run = store.add_run(new_run(blocks=blocks))
    assert [(t.block, t.arm, t.workload) for t in store.trials(run.id)] == [
        (b.number, a, w)
        for b in sorted(blocks, key=lambda b: b.number)
        for a in b.arms
        for w in b.workloads
    ]


def test_a_plan_that_contradicts_itself_is_refused(store: Store, new_run: NewRunOf) -> None:
    base = new_run()
    wrong: dict[str, dict[str, Any]] = {
        "arm 'plain' occurs twice": {"arms": base.arms[:1] * 2},
        "workload 'cpu' occurs twice": {"workloads": base.workloads[:1] * 2},
        "block '1' occurs twice": {"blocks": base.blocks[:1] * 2},
        "arm of block 1 'plain' occurs twice": {
            "blocks": (BlockRecord(1, ("plain", "plain"), ("cpu",)),)
        },
        "workload of block 1 'gpu' is not in the run": {
            "blocks": (BlockRecord(1, ("plain",), ("gpu",)),)
        },
    }
    for message, changes in wrong.items():
        with pytest.raises(ValueError, match=message):
            store.add_run(new_run(**changes))
