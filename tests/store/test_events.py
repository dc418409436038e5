from collections.abc import Callable

from cvmbench.store.records import BootStatus, NewRun, Recovered, RunRow, TrialResult, TrialStatus
from cvmbench.store.store import Store

Begin = Callable[[RunRow, int], int]


def test_events_come_back_in_order(store: Store, run: RunRow, begin: Begin) -> None:
    trial_id = begin(run, 0)
    boot_id = store.trials(run.id)[0].boot_id
    store.add_event(run.id, "begun", "The run began.")
    store.add_event(
        run.id, "retry", "Once more.", level="warning", boot_id=boot_id, trial_id=trial_id
    )
    first, second = store.events(run.id)
    assert (first.kind, first.message, first.level) == ("begun", "The run began.", "info")
    assert (first.boot_id, first.trial_id) == (None, None)
    assert (second.level, second.boot_id, second.trial_id) == ("warning", boot_id, trial_id)
    assert second.at >= first.at


def test_recovering_gives_up_open_boots_and_plans_their_trials_again(
    store: Store, run: RunRow, begin: Begin, measured: Callable[..., TrialResult]
) -> None:
    finished, cut_short = begin(run, 0), begin(run, 2)
    store.finish_trial(finished, measured())
    assert store.recover(run.id) == Recovered(boots_lost=2, trials_requeued=1)
    assert {boot.status for boot in store.boots(run.id)} == {BootStatus.LOST}
    trials = {trial.id: trial for trial in store.trials(run.id)}
    assert trials[finished].status is TrialStatus.MEASURED
    assert (trials[cut_short].status, trials[cut_short].attempts) == (TrialStatus.PLANNED, 1)
    assert store.samples(run.id).height == 3
    (told,) = store.events(run.id)
    assert (told.kind, told.level) == ("recovered", "warning")
    assert "Boots given up: 2; trials put back into the plan: 1" in told.message


def test_recovering_twice_changes_nothing_more(store: Store, run: RunRow, begin: Begin) -> None:
    begin(run, 0)
    store.recover(run.id)
    assert store.recover(run.id) == Recovered(0, 0)
    assert len(store.events(run.id)) == 1


def test_recovering_leaves_other_runs_alone(
    store: Store, run: RunRow, begin: Begin, new_run: Callable[..., NewRun]
) -> None:
    other = store.add_run(new_run())
    begin(other, 0)
    assert store.recover(run.id) == Recovered(0, 0)
    assert store.trials(other.id)[0].status is TrialStatus.RUNNING
