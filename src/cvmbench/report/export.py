"""A run's samples for other programs: CSV, JSON or Parquet."""

from __future__ import annotations

import difflib
from enum import StrEnum
from typing import TYPE_CHECKING, BinaryIO, cast

from cvmbench.errors import UsageError

if TYPE_CHECKING:
    from io import IOBase

    import polars as pl

    from cvmbench.store.records import RunRow
    from cvmbench.store.store import Store


class ExportFormat(StrEnum):
    """What an export is written as."""

    CSV = "csv"
    JSON = "json"
    """An array of objects, one a sample."""
    PARQUET = "parquet"


def export(store: Store, run: RunRow, format: str, stream: BinaryIO) -> None:
    """Write all samples of `run` to `stream`, one a row, in plan order.

    Columns: run (key), functional (true if measured under TCG: not to be mixed with other
    numbers), accelerator, then those of `Store.samples`. Values are in the metric's unit, written
    so that they read back exactly. Raises UsageError if `format` is no `ExportFormat`.
    """
    chosen = _format(format)
    frame = _table(store, run)
    match chosen:
        case ExportFormat.CSV:
            frame.write_csv(stream)
        case ExportFormat.JSON:
            # Anything that can be written to will do; polars names a narrower type.
            frame.write_json(cast("IOBase", stream))
        case ExportFormat.PARQUET:
            frame.write_parquet(stream)


def _table(store: Store, run: RunRow) -> pl.DataFrame:
    import polars as pl

    return store.samples(run.id).select(
        pl.lit(run.key).alias("run"),
        pl.lit(run.functional).alias("functional"),
        pl.lit(run.accelerator).alias("accelerator"),
        pl.all(),
    )


def _format(name: str) -> ExportFormat:
    try:
        return ExportFormat(name.lower())
    except ValueError:
        near = difflib.get_close_matches(name.lower(), list(ExportFormat), n=1)
        raise UsageError(
            f"There is no export format {name!r}.",
            why=f"The formats are {', '.join(ExportFormat)}.",
            remedy=f"Did you mean {near[0]!r}?" if near else "Choose one of these.",
        ) from None
