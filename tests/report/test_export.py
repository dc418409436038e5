import io
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvmbench.errors import UsageError
from cvmbench.report.export import ExportFormat, export
from cvmbench.store.records import (
    ArmRecord,
    BlockRecord,
    NewRun,
    RunRow,
    TrialResult,
    WorkloadRecord,
)
from cvmbench.store.store import Store
from cvmbench.units import Better, Metric

AWKWARD = 'plain,"quoted"\n=1+1'
COLUMNS = [
    *("run", "functional", "accelerator", "workload", "metric", "unit", "better", "headline"),
    *("arm", "block", "boot_id", "trial_id", "iteration", "position", "value"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "results.sqlite") as opened:
        yield opened


def measured(store: Store, values: list[float]) -> RunRow:
    """A run of one trial with these values."""
    run = store.add_run(
        NewRun(
            name="quick",
            campaign_text="",
            campaign={},
            seed=1,
            tool_version="0.1.0",
            functional=True,
            accelerator="tcg",
            host={},
            image={},
            arms=(ArmRecord(AWKWARD, "plain", True, {}, ()),),
            workloads=(WorkloadRecord("cpu", "cpu", {}, (Metric("t", "s", Better.LOWER),)),),
            blocks=(BlockRecord(1, (AWKWARD,), ("cpu",)),),
        )
    )
    (trial,) = store.trials(run.id)
    if values:
        store.begin_trial(trial.id, store.begin_boot(run.id, trial.block_id, trial.arm_id).id)
        now = datetime.now(UTC)
        store.finish_trial(trial.id, TrialResult({"t": [values]}, now, now))
    return run


def read_back(content: bytes, kind: ExportFormat) -> pl.DataFrame:
    match kind:
        case ExportFormat.CSV:
            return pl.read_csv(content, schema_overrides={"value": pl.Float64})
        case ExportFormat.JSON:
            return pl.DataFrame(json.loads(content))
        case ExportFormat.PARQUET:
            return pl.read_parquet(content)


@pytest.mark.parametrize("kind", list(ExportFormat))
def test_every_format_says_what_was_measured_where(store: Store, kind: ExportFormat) -> None:
    run = measured(store, [0.1, 2.5e-9])
    stream = io.BytesIO()
    export(store, run, kind, stream)
    frame = read_back(stream.getvalue(), kind)
    assert frame.columns == COLUMNS
    assert frame["value"].to_list() == [0.1, 2.5e-9]
    first = frame.row(0, named=True)
    assert (first["run"], first["functional"], first["accelerator"]) == (run.key, True, "tcg")
    assert (first["arm"], first["unit"], first["better"]) == (AWKWARD, "s", "lower")


@pytest.mark.parametrize("kind", list(ExportFormat))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_values_read_back_exactly(store: Store, kind: ExportFormat, values: list[float]) -> None:
    stream = io.BytesIO()
    export(store, measured(store, values), kind, stream)
    assert read_back(stream.getvalue(), kind)["value"].to_list() == values


@pytest.mark.parametrize("kind", list(ExportFormat))
def test_a_run_without_samples_is_an_empty_table(store: Store, kind: ExportFormat) -> None:
    stream = io.BytesIO()
    export(store, measured(store, []), kind, stream)
    content = stream.getvalue()
    if kind is ExportFormat.JSON:
        assert json.loads(content) == []
    else:
        frame = read_back(content, kind)
        assert (frame.columns, frame.height) == (COLUMNS, 0)


@pytest.mark.parametrize("kind", list(ExportFormat))
def test_an_export_can_go_into_a_pipe(store: Store, kind: ExportFormat) -> None:
    run = measured(store, [1.5])
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as stream:
        export(store, run, kind, stream)
    with os.fdopen(read_end, "rb") as received:
        assert read_back(received.read(), kind)["value"].to_list() == [1.5]


def test_an_unknown_format_is_answered_with_the_nearest(store: Store) -> None:
    with pytest.raises(UsageError, match="no export format 'parket'") as caught:
        export(store, measured(store, []), "parket", io.BytesIO())
    assert "parquet" in caught.value.remedy
    with pytest.raises(UsageError, match="csv, json, parquet"):
        export(store, measured(store, []), "xml", io.BytesIO())
