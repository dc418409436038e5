"""The trials of a run one by one, and the raw output behind each."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cvmbench.errors import UsageError
from cvmbench.report.escape import cleaned
from cvmbench.store.records import RunRow
from cvmbench.store.store import Store

SHOWN_CHARACTERS = 20_000
"""How much of one raw file is printed; the whole of it lies in the store."""


def trials_table(store: Store, run: RunRow, console: Console) -> None:
    """Print every trial of a run with its status, and the reason where it has no number."""
    table = Table("Trial", "Block", "Arm", "Workload", "Status", "Attempts", "Reason")
    for trial in store.trials(run.id):
        table.add_row(
            str(trial.id),
            str(trial.block),
            _cell(trial.arm),
            _cell(trial.workload),
            trial.status.value,
            str(trial.attempts),
            _cell(f"{trial.kind}: {trial.reason}" if trial.kind else trial.reason),
        )
    console.print(table)


def render_trial(store: Store, run: RunRow, trial_id: int, console: Console) -> None:
    """Print what is kept of one trial: facts and raw files, control characters made harmless.

    Raises UsageError if the run has no such trial.
    """
    trial = next((t for t in store.trials(run.id) if t.id == trial_id), None)
    if trial is None:
        raise UsageError(
            f"The run {run.key} has no trial {trial_id}.",
            remedy=f"`cvmbench show {run.key} --trials` lists them.",
        )
    say = console.print
    head = f"Trial {trial.id}: {trial.workload} in {trial.arm}, block {trial.block}: {trial.status}"
    say(cleaned(head), style="bold", markup=False)
    if trial.reason:
        say(cleaned(f"  {trial.kind}: {trial.reason}"), markup=False)
    for name, value in store.trial_facts(trial_id).items():
        say(cleaned(f"  {name}: {value}"), markup=False, soft_wrap=True)
    for file in store.raw_files(trial_id=trial_id):
        say(cleaned(f"--- {file.role} ({file.size} bytes, sha256 {file.sha256})"), markup=False)
        text = store.read_raw(file.sha256).decode(errors="replace")
        for line in text[:SHOWN_CHARACTERS].splitlines():
            say(cleaned(line), markup=False, soft_wrap=True)
        if len(text) > SHOWN_CHARACTERS:
            say(f"[{len(text) - SHOWN_CHARACTERS} more characters in the store]", markup=False)


def _cell(text: str) -> Text:
    """A table cell that shows `text` as it is: no markup, nothing that drives a terminal."""
    return Text(cleaned(text))
