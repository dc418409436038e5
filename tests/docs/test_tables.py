"""The tables of the documentation say what the code does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cvmbench.analysis.verdicts import Verdict
from cvmbench.campaign.arm import parse_arm
from cvmbench.errors import HostCannotError, Interrupted, StoreError, TrialFailure, UsageError
from cvmbench.guest.evidence import SECTIONS, Evidence
from cvmbench.guest.verification import verify
from cvmbench.report.export import export
from cvmbench.store.store import Store
from tests.docs import expected_tables as expected
from tests.docs.pages import ROOT, fences, tables

DOCS = ROOT / "docs"


def as_markdown(rows: Sequence[expected.Row]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


@pytest.mark.parametrize(
    ("page", "name", "rows"),
    [
        ("campaigns.md", "arm types", expected.arm_types),
        ("campaigns.md", "modifiers", expected.modifiers),
        ("campaigns.md", "presets", expected.preset_rows),
        ("workloads.md", "workloads", expected.workloads),
        ("workloads.md", "parameters", expected.parameters),
        ("workloads.md", "metrics", expected.metrics),
    ],
)
def test_a_table_is_what_the_code_says(
    page: str, name: str, rows: Callable[[], list[expected.Row]]
) -> None:
    assert as_markdown(tables(DOCS / page)[name]) == as_markdown(rows())


@pytest.mark.parametrize(
    ("name", "rows"), [("keys", expected.campaign_keys), ("entries", expected.entry_keys)]
)
def test_every_key_of_a_campaign_is_explained(
    name: str, rows: Callable[[], list[expected.Row]]
) -> None:
    shown = tables(DOCS / "campaigns.md")[name]
    assert as_markdown([row[:3] for row in shown]) == as_markdown(rows())
    assert all(row[3] for row in shown)


def test_every_kind_of_failure_is_explained() -> None:
    shown = tables(DOCS / "running.md")["failures"]
    assert as_markdown([(row[0], *row[2:]) for row in shown]) == as_markdown(expected.failures())
    assert all(row[1] for row in shown)


def test_the_exit_codes_are_those_of_the_errors() -> None:
    codes = {int(row[0]) for row in tables(DOCS / "running.md")["exit codes"]}
    errors = (UsageError, HostCannotError, StoreError, Interrupted, TrialFailure)
    assert codes == {0, *(error.exit_code for error in errors)}


def test_the_verdicts_are_those_of_the_analysis() -> None:
    shown = [row[0].removesuffix(" within T") for row in tables(DOCS / "results.md")["verdicts"]]
    assert shown == [verdict.value for verdict in Verdict]


def test_the_columns_of_an_export_are_explained(filled_store: Path, tmp_path: Path) -> None:
    shown = [row[0].strip("`") for row in tables(DOCS / "results.md")["export columns"]]
    with Store.open(filled_store) as store, (tmp_path / "samples.csv").open("wb") as stream:
        export(store, store.run("last"), "csv", stream)
    assert shown == (tmp_path / "samples.csv").read_text().splitlines()[0].split(",")


def test_every_check_of_a_guest_is_explained() -> None:
    shown = [row[0] for row in tables(DOCS / "verification.md")["checks"]]
    silence = Evidence(dict.fromkeys(SECTIONS, ""))
    checks = verify(parse_arm("plain"), silence, vcpus=1, memory_bytes=2**30)
    assert shown == [check.what for check in checks]


def test_the_packages_of_the_demo_are_those_that_are_installed() -> None:
    script = (ROOT / "tools" / "setup.sh").read_text()
    installed = re.search(r'^packages="([^"]+)"$', script, re.MULTILINE)
    assert installed is not None
    shown = next(f for f in fences(DOCS / "getting-started.md") if f.language == "text")
    assert sorted(shown.content.split()) == sorted(installed[1].split())
