"""A run in the terminal: overheads with verdicts, and what was not measured."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from cvmbench.analysis.comparison import Comparison
from cvmbench.analysis.estimates import Estimate
from cvmbench.analysis.verdicts import Verdict
from cvmbench.report import wording
from cvmbench.report.escape import cleaned_line
from cvmbench.report.sentences import arm_verdicts
from cvmbench.report.spans import spans
from cvmbench.report.view import RunView
from cvmbench.store.records import BootStatus, RunRow, RunStatus, TrialStatus
from cvmbench.units import format_duration, format_quantity

_STYLES = {
    Verdict.WORSE: "red",
    Verdict.BETTER: "green",
    Verdict.SAME: "",
    Verdict.CANNOT_TELL: "yellow",
}

_FAILED_BOOTS_SHOWN = 10


def render(view: RunView, console: Console, *, all_metrics: bool = False) -> None:
    """Print `view`: head, verdicts, overheads, and everything without a number.

    `all_metrics` shows every metric instead of each workload's headline metric. Arms are columns
    where the console is wide enough, else rows. Strings are shown literally: markup in them does
    nothing, and control characters are replaced.
    """
    console.print(_head(view))
    if view.run.functional:
        console.print(_text(wording.FUNCTIONAL, "bold yellow"))
    console.print()
    shown = [e for e in view.estimates if all_metrics or e.headline]
    if shown:
        by_columns = _arms_as_columns(view, shown)
        fits = _width(by_columns, console) <= console.width
        _print_titled(console, _title(view), by_columns if fits else _arms_as_rows(view, shown))
        hidden = len({(e.workload, e.metric) for e in view.estimates if not e.headline})
        if hidden and not all_metrics:
            plural = "" if hidden == 1 else "s"
            console.print(_text(f"{hidden} further metric{plural} in the report.", "dim"))
        console.print()
    elif not view.boot_values.is_empty():
        mark = " · functional (TCG)" if view.run.functional else ""
        title = f"Values in {view.baseline.name}, means of boots{mark}"
        _print_titled(console, title, _values(view))
    for verdict in arm_verdicts(view):
        line = _text(f"{verdict.arm.name}: ", "bold")
        line.append_text(_text(verdict.lead))
        console.print(line)
    _print_missing(view, console)


def runs_table(rows: Sequence[RunRow], console: Console) -> None:
    """Print the runs of a store, in the order given."""
    table = _table()
    table.add_column("run", overflow="fold", style="bold")
    table.add_column("status")
    table.add_column("trials", justify="right")
    table.add_column("started (UTC)")
    table.add_column("numbers")
    for row in rows:
        measured, total = _counts(row)
        status = row.status.value
        table.add_row(
            _text(row.key),
            _text(status, "" if row.status is RunStatus.FINISHED else "yellow"),
            f"{measured} / {total}",
            f"{row.created_at:%Y-%m-%d %H:%M}",
            "functional" if row.functional else _text(row.accelerator.upper()),
        )
    console.print(table)


def _head(view: RunView) -> Text:
    run = view.run
    measured, total = _counts(run)
    parts = [run.status.value, f"{measured} of {total} trials measured"]
    if run.ended_at is not None:
        parts.append(format_duration((run.ended_at - run.created_at).total_seconds()))
    head = _text(run.key, "bold")
    head.append_text(_text("  " + " · ".join(parts), "dim"))
    if run.reason:
        head.append_text(_text(f"\n{run.reason}", "yellow"))
    return head


def _arms_as_columns(view: RunView, shown: Sequence[Estimate]) -> Table:
    table = _table()
    table.add_column("workload", style="bold", no_wrap=True)
    table.add_column("metric", no_wrap=True)
    table.add_column(_text(view.baseline.name), justify="right", no_wrap=True)
    for arm in view.compared:
        table.add_column(_text(arm.name), no_wrap=True)
    by_arm = {(e.workload, e.metric, e.arm): e for e in shown}
    before = ""
    for workload, metric in dict.fromkeys((e.workload, e.metric) for e in shown):
        of_metric = [by_arm[workload, metric, arm.name] for arm in view.compared]
        table.add_row(
            _text("" if workload == before else workload),
            _text(metric),
            _value(of_metric[0].baseline_value, of_metric[0].unit),
            *(_cell(e.comparison) for e in of_metric),
        )
        before = workload
    if len(view.workloads) > 1:
        means = [view.mean(arm.name).comparison for arm in view.compared]
        table.add_section()
        table.add_row("geometric mean", "", "", *(_cell(mean) for mean in means))
    return table


def _arms_as_rows(view: RunView, shown: Sequence[Estimate]) -> Table:
    table = _table()
    longest = max(len(f"  {arm.name}") for arm in view.arms)
    table.add_column("workload, arm", overflow="fold", min_width=min(longest, 28))
    table.add_column("value", justify="right")
    table.add_column("overhead", justify="right")
    table.add_column("interval", justify="right")
    table.add_column("verdict", overflow="fold")
    for workload, metric in dict.fromkeys((e.workload, e.metric) for e in shown):
        of_metric = [e for e in shown if (e.workload, e.metric) == (workload, metric)]
        first = of_metric[0]
        table.add_section()
        title = _text(workload, "bold")
        title.append_text(_text(f" {metric}", "dim"))
        table.add_row(title, _value(first.baseline_value, first.unit), "", "", "")
        for e in of_metric:
            table.add_row(_text(f"  {e.arm}"), _value(e.value, e.unit), *_cells(e.comparison))
    if len(view.workloads) > 1:
        table.add_section()
        table.add_row(_text("geometric mean", "bold"), "", "", "", "")
        for arm in view.compared:
            table.add_row(_text(f"  {arm.name}"), "", *_cells(view.mean(arm.name).comparison))
    return table


def _values(view: RunView) -> Table:
    """Mean over boots of every metric, for a run with a single arm."""
    table = _table()
    for name in ("workload", "metric"):
        table.add_column(name, overflow="fold")
    for name in ("value", "boots"):
        table.add_column(name, justify="right")
    metrics = view.boot_values.group_by("workload", "metric", "unit", maintain_order=True)
    rows = metrics.agg(pl.col("value").mean(), pl.len().alias("boots"))
    for workload, metric, unit, value, boots in rows.iter_rows():
        table.add_row(_text(workload, "bold"), _text(metric), _value(value, unit), f"{boots:,}")
    return table


def _title(view: RunView) -> str:
    mark = " · functional (TCG)" if view.run.functional else ""
    return f"Overhead against {view.baseline.name} (positive = worse){mark}"


def _cell(comparison: Comparison) -> Text:
    """Overhead, interval and verdict in one cell of two or three short lines."""
    style = _style(comparison)
    if comparison.overhead_percent is None:
        return _text(wording.verdict(comparison), style)
    cell = _text(f"{wording.percent(comparison.overhead_percent):>7}", f"bold {style}".strip())
    cell.append_text(_text(f"  {wording.interval(comparison)}\n", "dim"))
    cell.append_text(_text(wording.verdict(comparison).replace(" (", "\n("), style))
    return cell


def _cells(comparison: Comparison) -> tuple[Text, Text, Text]:
    style = _style(comparison)
    return (
        _text(wording.percent(comparison.overhead_percent), f"bold {style}".strip()),
        _text(wording.interval(comparison), "dim"),
        _text(wording.verdict(comparison), style),
    )


def _style(comparison: Comparison) -> str:
    return _STYLES[comparison.verdict]


def _value(value: float | None, unit: str) -> Text:
    return _text(wording.NO_NUMBER if value is None else format_quantity(value, unit))


def _print_missing(view: RunView, console: Console) -> None:
    planned = sum(t.status is TrialStatus.PLANNED for t in view.trials)
    rows = [t for t in view.not_measured if t.status is not TrialStatus.PLANNED]
    if rows:
        console.print()
        table = _table()
        table.add_column("workload")
        table.add_column("arm")
        table.add_column("blocks", justify="right")
        table.add_column("status and reason", overflow="fold", ratio=1)
        grouped: dict[tuple[str, str, str], list[int]] = {}
        for t in rows:
            reason = f"{t.status.value}{f' ({t.kind})' if t.kind else ''}"
            key = (t.workload, t.arm, f"{reason}: {t.reason}" if t.reason else reason)
            grouped.setdefault(key, []).append(t.block)
        for (workload, arm, reason), blocks in grouped.items():
            table.add_row(_text(workload), _text(arm), spans(blocks), _text(reason))
        _print_titled(console, "Not measured", table)
    failed = [b for b in view.boots if b.status is BootStatus.FAILED]
    for boot in failed[:_FAILED_BOOTS_SHOWN]:
        why = f"Boot of {boot.arm} in block {boot.block} failed ({boot.kind}): {boot.reason}"
        console.print(_text(why, "yellow"))
    if len(failed) > _FAILED_BOOTS_SHOWN:
        more = len(failed) - _FAILED_BOOTS_SHOWN
        console.print(_text(f"{more} more failed boots in the report.", "yellow"))
    if planned:
        plural = "" if planned == 1 else "s"
        line = f"{planned} trial{plural} still planned. "
        line += f"Unless it is being worked on, `cvmbench resume {view.run.key}` goes on."
        console.print(_text(line, "yellow"))


def _counts(run: RunRow) -> tuple[int, int]:
    return run.trials.get(TrialStatus.MEASURED, 0), sum(run.trials.values())


def _text(value: str, style: str = "") -> Text:
    """`value` literally: no markup, no control characters, one line unless built of several."""
    lines = value.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    clean = [cleaned_line(line) for line in lines]
    trail = " " if value.endswith(" ") else ""
    return Text(" " * indent + "\n".join(clean) + trail, style=style)


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, collapse_padding=True)


def _print_titled(console: Console, title: str, table: Table) -> None:
    """A title of its own line: one inside the table would wrap at the table's width."""
    console.print(_text(title, "bold"))
    console.print(table)


def _width(table: Table, console: Console) -> int:
    """The width `table` would take if nothing had to wrap."""
    unbounded = console.options.update(width=10_000)
    return Measurement.get(console, unbounded, table).maximum
