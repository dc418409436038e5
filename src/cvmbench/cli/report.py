"""`cvmbench report`: write the HTML report of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cvmbench.cli.options import RunKey, StorePath, store_path


def report(
    run: RunKey = "last",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the file.")
    ] = None,
    store: StorePath = None,
) -> None:
    """Write the report of a run, one HTML file that needs no network, and print its path."""
    from cvmbench.cli.execution import write_report
    from cvmbench.cli.terminal import data
    from cvmbench.store.store import Store

    with Store.open(store_path(store)) as opened:
        path = write_report(opened, opened.run(run), output)
    data().print(str(path), soft_wrap=True, markup=False)
