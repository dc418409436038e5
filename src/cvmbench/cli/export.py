"""`cvmbench export`: the samples of a run for other programs."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cvmbench.cli.options import RunKey, StorePath, store_path


class Format(StrEnum):
    """File formats of `export`."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def export(
    run: RunKey = "last",
    file_format: Annotated[Format, typer.Option("--format", "-f", help="File format.")] = (
        Format.CSV
    ),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; standard output without it.")
    ] = None,
    store: StorePath = None,
) -> None:
    """Write every sample of a run, with what is needed to understand it."""
    from cvmbench.errors import UsageError
    from cvmbench.report.export import export as write
    from cvmbench.store.store import Store

    if output is None and file_format is Format.PARQUET and sys.stdout.isatty():
        raise UsageError("Parquet is not for terminals.", remedy="Name a file with --output.")
    with Store.open(store_path(store)) as opened:
        row = opened.run(run)
        if output is None:
            try:
                write(opened, row, file_format.value, sys.stdout.buffer)
            except OSError as error:
                # polars tells of a closed pipe in words of its own.
                if "roken pipe" in str(error):
                    raise BrokenPipeError from None
                raise
            return
        try:
            with output.open("wb") as stream:
                write(opened, row, file_format.value, stream)
        except OSError as error:
            raise UsageError(f"{output} cannot be written.", why=f"{error.strerror}.") from None
