"""`cvmbench resume`: go on with a run that was interrupted or killed."""

from __future__ import annotations

from cvmbench.cli.options import RunKey, StorePath, store_path
from cvmbench.cli.run import ReportPath


def resume(run: RunKey = "last", store: StorePath = None, report: ReportPath = None) -> None:
    """Go on with a run that was interrupted or killed, where it stood."""
    from cvmbench.cli.execution import (
        conclude,
        execute,
        insist_on_place,
        stopped_before_start,
        until_done,
    )
    from cvmbench.cli.terminal import errors
    from cvmbench.report.progress import listener
    from cvmbench.runner.preparation import resumed
    from cvmbench.store.store import Store
    from cvmbench.vm.workspace import sweep

    insist_on_place(report)
    with Store.open(store_path(store)) as opened:
        row = opened.run(run)
        sweep()
        with listener(errors()) as listen:
            engine = until_done(resumed(row, opened, listen), stopped_before_start)
            execute(opened, row, engine)
        conclude(opened, row, report)
