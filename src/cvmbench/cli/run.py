"""`cvmbench run`: execute a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cvmbench.cli.options import CampaignName, Settings, StorePath, store_path

ReportPath = Annotated[
    Path | None, typer.Option("--report", help="Where to write the HTML report.")
]


def run(
    campaign: CampaignName,
    settings: Settings = None,
    store: StorePath = None,
    report: ReportPath = None,
) -> None:
    """Execute a campaign: boot, verify, measure, and print what each arm costs."""
    from cvmbench.campaign.reading import read_campaign
    from cvmbench.cli.execution import (
        conclude,
        execute,
        insist_on_place,
        stopped_before_start,
        until_done,
    )
    from cvmbench.cli.terminal import errors
    from cvmbench.report.progress import build_display, listener
    from cvmbench.runner.obstacles import disturbances
    from cvmbench.runner.preparation import create_run, engine_for, prepare
    from cvmbench.runner.progress import Note
    from cvmbench.store.store import Store
    from cvmbench.vm.workspace import sweep

    insist_on_place(report)
    source = read_campaign(campaign, settings or ())
    with Store.open(store_path(store)) as opened:
        sweep()
        with listener(errors()) as listen:
            with build_display(errors()) as building:
                ready = until_done(prepare(source, listen, building), stopped_before_start)
            found = disturbances(opened)
            row = create_run(ready, opened)
            for text in found:
                opened.add_event(row.id, "disturbance", text, level="warning")
                listen(Note(text, is_warning=True))
            execute(opened, row, engine_for(ready, row, opened, listen))
        conclude(opened, row, report)
