"""The findings of `cvmbench doctor`, for people and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cvmbench.report.escape import cleaned
from cvmbench.report.literal import literal
from cvmbench.runner.checkup import Finding, Verdict

_STYLE = {Verdict.READY: "green", Verdict.LIMITED: "yellow", Verdict.MISSING: "bold red"}


def as_data(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The findings as JSON data."""
    return [asdict(finding) for finding in findings]


def render(findings: Sequence[Finding], console: Console) -> None:
    """Print one row a finding, with its remedy below what was found."""
    table = Table("", "", "", show_header=False, box=None, padding=(0, 1))
    for finding in findings:
        found = literal(finding.found)
        if finding.remedy and finding.verdict is not Verdict.READY:
            found.append(f"\n→ {cleaned(finding.remedy)}", style="bold")
        table.add_row(
            Text(finding.what), Text(finding.verdict, style=_STYLE[finding.verdict]), found
        )
    console.print(table)
