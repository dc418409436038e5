"""Executing an engine from the command line: signals, progress, result, report, exit code."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import typer

from cvmbench.cli.terminal import data, errors
from cvmbench.errors import Interrupted, UsageError
from cvmbench.paths import data_directory
from cvmbench.report import html, terminal
from cvmbench.report.view import load
from cvmbench.runner.engine import Engine
from cvmbench.store.records import RunRow, TrialStatus
from cvmbench.store.store import Store

T = TypeVar("T")


def until_done(work: Coroutine[Any, Any, T], interrupted: Callable[[], Interrupted]) -> T:
    """Run `work`; Ctrl-C and SIGTERM end it in order and raise what `interrupted` gives."""

    async def watched() -> T:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
        try:
            return await task
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError:
        # All is put away; a second Ctrl-C has nothing left to stop.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise interrupted() from None


def stopped_before_start() -> Interrupted:
    """The error for an interruption before there was a run."""
    return Interrupted("Interrupted before the run began; nothing was measured.")


def execute(store: Store, run: RunRow, engine: Engine) -> None:
    """Work on a run to its end. Raises Interrupted with how to go on."""

    def interrupted() -> Interrupted:
        return Interrupted(
            f"The run {run.key} was interrupted; everything finished is kept.",
            remedy=f"Go on with: cvmbench resume {run.key}",
        )

    with store.lock_run(run.key):
        until_done(engine.execute(), interrupted)


def conclude(store: Store, run: RunRow, report_path: Path | None) -> None:
    """Print the results of a finished run and the path of its report, last.

    Leaves with exit code 1 if trials failed.
    """
    finished = store.run(run.key)
    terminal.render(load(store, finished), data())
    path = write_report(store, finished, report_path)
    errors().print("Report:", end=" ")
    data().print(str(path), soft_wrap=True, markup=False)
    if finished.trials.get(TrialStatus.FAILED, 0):
        raise typer.Exit(1)


def write_report(store: Store, run: RunRow, path: Path | None) -> Path:
    """Write the HTML report of a run; in the data directory unless a path is given."""
    target = path if path is not None else data_directory() / "reports" / run.key / "report.html"
    insist_on_place(target)
    html.write(load(store, run), target)
    return target.absolute()


def insist_on_place(report: Path | None) -> None:
    """Raise UsageError if a report cannot be written there; asked before a run, not after it."""
    if report is None:
        return
    try:
        report.parent.mkdir(parents=True, exist_ok=True)
        exists = report.exists() and not report.is_file()
        problem = "It is there already, and not a regular file" if exists else ""
        if not os.access(report.parent, os.W_OK):
            problem = "Its folder cannot be written to"
    except OSError as error:
        problem = f"{error.strerror}"
    if problem:
        raise UsageError(
            f"The report cannot be written to {report}.",
            why=f"{problem}.",
            remedy="Name another file.",
        )
