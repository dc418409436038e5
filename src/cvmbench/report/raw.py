"""The trials and boots of a run one by one, and the raw output behind each."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from cvmbench.errors import UsageError
from cvmbench.report.escape import cleaned
from cvmbench.report.literal import literal
from cvmbench.store.artifacts import StoredFile
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
            literal(trial.arm),
            literal(trial.workload),
            trial.status.value,
            str(trial.attempts),
            literal(f"{trial.kind}: {trial.reason}" if trial.kind else trial.reason),
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
    _render_files(store, store.raw_files(trial_id=trial_id), console)


def boots_table(store: Store, run: RunRow, console: Console) -> None:
    """Print every boot of a run with its status, and why it was lost if it was."""
    table = Table("Boot", "Block", "Arm", "Attempt", "Status", "Ready after", "Reason")
    for boot in store.boots(run.id):
        table.add_row(
            str(boot.id),
            str(boot.block),
            literal(boot.arm),
            str(boot.attempt),
            boot.status.value,
            f"{boot.ready_s:.1f} s" if boot.ready_s is not None else "",
            literal(f"{boot.kind}: {boot.reason}" if boot.kind else boot.reason),
        )
    console.print(table)


def render_boot(store: Store, run: RunRow, boot_id: int, console: Console) -> None:
    """Print what is kept of one boot: command line, checks, serial log and QEMU's own log.

    Raises UsageError if the run has no such boot.
    """
    boot = next((b for b in store.boots(run.id) if b.id == boot_id), None)
    if boot is None:
        raise UsageError(
            f"The run {run.key} has no boot {boot_id}.",
            remedy=f"`cvmbench show {run.key} --boots` lists them.",
        )
    say = console.print
    head = f"Boot {boot.id}: {boot.arm}, block {boot.block}, attempt {boot.attempt}: {boot.status}"
    say(cleaned(head), style="bold", markup=False, soft_wrap=True)
    if boot.reason:
        say(cleaned(f"  {boot.kind}: {boot.reason}"), markup=False, soft_wrap=True)
    for check in boot.evidence.get("checks", ()):
        mark = "ok " if check["holds"] else "BAD"
        text = f"  {mark} {check['what']}: expected {check['expected']}, saw {check['seen']}"
        say(cleaned(text), markup=False, soft_wrap=True)
    if argv := boot.evidence.get("argv"):
        say(cleaned(f"  {shlex.join(argv)}"), markup=False, soft_wrap=True)
    _render_files(store, store.raw_files(boot_id=boot_id), console)


def _render_files(store: Store, files: Sequence[StoredFile], console: Console) -> None:
    for file in files:
        head = f"--- {file.role} ({file.size} bytes, sha256 {file.sha256})"
        console.print(cleaned(head), markup=False, soft_wrap=True)
        text = store.read_raw(file.sha256).decode(errors="replace")
        for line in text[:SHOWN_CHARACTERS].splitlines():
            console.print(cleaned(line), markup=False, soft_wrap=True)
        if len(text) > SHOWN_CHARACTERS:
            left = f"[{len(text) - SHOWN_CHARACTERS} more characters in the store]"
            console.print(left, markup=False)
