"""`cvmbench show`: the results of a run, or what is kept of one of its trials or boots."""

from __future__ import annotations

from typing import Annotated

import typer

from cvmbench.cli.options import Json, RunKey, StorePath, store_path


def show(
    run: RunKey = "last",
    json: Json = False,
    trials: Annotated[bool, typer.Option("--trials", help="List every trial.")] = False,
    trial: Annotated[
        int | None, typer.Option("--trial", help="Print the raw output of this trial.")
    ] = None,
    boots: Annotated[bool, typer.Option("--boots", help="List every boot.")] = False,
    boot: Annotated[
        int | None,
        typer.Option("--boot", help="Print the evidence, serial log and QEMU log of this boot."),
    ] = None,
    store: StorePath = None,
) -> None:
    """Print what each arm costs in a run, and what was not measured and why."""
    from cvmbench.cli.terminal import data, print_json
    from cvmbench.report import terminal
    from cvmbench.report.as_data import results
    from cvmbench.report.raw import boots_table, render_boot, render_trial, trials_table
    from cvmbench.report.view import load
    from cvmbench.store.store import Store

    with Store.open(store_path(store)) as opened:
        row = opened.run(run)
        if trial is not None:
            render_trial(opened, row, trial, data())
        elif boot is not None:
            render_boot(opened, row, boot, data())
        elif boots:
            boots_table(opened, row, data())
        elif trials:
            trials_table(opened, row, data())
        elif json:
            print_json(results(load(opened, row)))
        else:
            terminal.render(load(opened, row), data())
