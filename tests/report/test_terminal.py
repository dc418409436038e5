from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from cvmbench.report import terminal, wording
from cvmbench.report.view import RunView
from cvmbench.store.records import RunStatus


def _printed(view: RunView, width: int, *, color: bool = False, all_metrics: bool = False) -> str:
    console = Console(
        file=io.StringIO(), width=width, force_terminal=color, no_color=not color,
        color_system="standard" if color else None,
    )  # fmt: skip
    terminal.render(view, console, all_metrics=all_metrics)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_no_line_is_wider_than_the_terminal(view: RunView, width: int) -> None:
    assert max(len(line) for line in _printed(view, width).splitlines()) <= width


def test_80_columns_cut_no_arm_name_in_two(view: RunView) -> None:
    text = _printed(view, 80)
    assert text.count("sev-snp+idle-poll") >= 6
    assert all(len(line) <= 80 for line in text.splitlines())


def test_arms_are_columns_where_they_fit(view: RunView) -> None:
    header = next(line for line in _printed(view, 160).splitlines() if "workload" in line)
    assert all(arm.name in header for arm in view.arms)
    assert "plain+swiotlb" not in next(
        line for line in _printed(view, 80).splitlines() if "workload" in line
    )


@pytest.mark.parametrize("width", [80, 160])
def test_verdicts_are_in_words(view: RunView, width: int) -> None:
    text = " ".join(_printed(view, width).split())
    for word in ("worse", "better", "same within 2%", "cannot tell yet", "not measured"):
        assert word in text


def test_emulated_runs_are_marked_and_others_are_not(view_of: Callable[..., RunView]) -> None:
    assert wording.FUNCTIONAL in _printed(view_of(), 100)
    assert "functional" not in _printed(view_of(functional=False), 100)


def test_what_was_not_measured_comes_with_its_reason(view: RunView) -> None:
    text = " ".join(_printed(view, 140).split())
    assert "unavailable: The guest image has no mbw" in text
    assert "failed (time limit): redis-benchmark was not done after 70 s." in text
    assert "Boot of plain+swiotlb in block 2 failed (guest hang)" in text


def test_other_metrics_are_shown_on_request(view: RunView) -> None:
    assert "latency-p99" not in _printed(view, 120)
    assert "5 further metrics" in _printed(view, 120)
    assert "latency-p99" in _printed(view, 120, all_metrics=True)


def test_colour_is_only_there_when_wanted(view: RunView) -> None:
    assert "\x1b[" not in _printed(view, 100)
    assert "\x1b[" in _printed(view, 100, color=True)


def test_strings_of_guests_neither_drive_the_terminal_nor_count_as_markup(
    view_of: Callable[..., RunView],
) -> None:
    text = _printed(view_of(hostile="\x1b]0;owned\x07[bold red]\u202e[/]"), 120)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[bold red]" in text


def test_an_unfinished_run_says_how_to_go_on(view_of: Callable[..., RunView]) -> None:
    view = view_of(measured_blocks=2, status=RunStatus.INTERRUPTED)
    text = " ".join(_printed(view, 100).split())
    assert "80 trials still planned" in text
    assert f"cvmbench resume {view.run.key}" in text


def test_a_run_without_numbers_prints(view_of: Callable[..., RunView]) -> None:
    assert "not measured" in _printed(view_of(measured_blocks=0), 80)


def test_a_run_of_one_arm_shows_its_values(view_of: Callable[..., RunView]) -> None:
    text = _printed(view_of(arms=["plain"]), 80)
    assert "Values in plain, means of boots · functional (TCG)" in text
    assert "Gbit/s" in next(line for line in text.splitlines() if "iperf3-tcp" in line)


def test_runs_are_listed_with_state_and_kind(view_of: Callable[..., RunView]) -> None:
    rows = [view_of().run, view_of(functional=False, status=RunStatus.STOPPED).run]
    console = Console(file=io.StringIO(), width=80)
    terminal.runs_table(rows, console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    first = next(line for line in lines if "functional" in line)
    assert rows[0].key in first
    assert "113 / 120" in first
    assert any("stopped" in line and "KVM" in line for line in lines)
