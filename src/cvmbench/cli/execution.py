"""Executing an engine from the command line: signals, progress, result, report, exit code."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import typer

from cvmbench.cli.terminal import data, errors
from cvmbench.errors import Interrupted
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
        raise interrupted() from None


def stopped_before_start() -> Interrupted:
    """The error for an interruption before there was a run."""
    return Interrupted("Interrupted before the run began; nothing was measured.")


def execute(store: Store, run: RunRow, engine: Engine, report_path: Path | None) -> None:
    """Work on a run to its end, then print its results and the path of its report, last.

    Raises Interrupted with how to go on; leaves with exit code 1 if trials failed.
    """

    def interrupted() -> Interrupted:
        return Interrupted(
            f"The run {run.key} was interrupted; everything finished is kept.",
            remedy=f"Go on with: cvmbench resume {run.key}",
        )

    with store.lock_run(run.key):
        until_done(engine.execute(), interrupted)
    finished = store.run(run.key)
    show(store, finished)
    path = write_report(store, finished, report_path)
    errors().print("Report:", end=" ")
    data().print(str(path), soft_wrap=True, markup=False)
    if finished.trials.get(TrialStatus.FAILED, 0):
        raise typer.Exit(1)


def show(store: Store, run: RunRow) -> None:
    """Print the results of a run."""
    terminal.render(load(store, run), data())


def write_report(store: Store, run: RunRow, path: Path | None) -> Path:
    """Write the HTML report of a run; in the data directory unless a path is given."""
    from cvmbench.paths import data_directory

    target = path if path is not None else data_directory() / "reports" / run.key / "report.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    html.write(load(store, run), target)
    return target.absolute()
