"""Progress for people: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from cvmbench.report.escape import cleaned
from cvmbench.runner.progress import (
    BootBegan,
    BootFailed,
    Event,
    GuestReady,
    Listener,
    Note,
    RunBegan,
    Step,
    TrialEnded,
)
from cvmbench.units import format_duration

if TYPE_CHECKING:
    from cvmbench.guest.image.build import BuildStep


def sentence(event: Event) -> str | None:
    """The event as a line of narration; None for those that only move a live display."""
    match event:
        case RunBegan():
            return (
                f"Run {event.key}: {event.trials_left} of {event.trials} trials to do, "
                f"about {format_duration(event.left_s)}."
            )
        case BootBegan():
            again = f", attempt {event.attempt}" if event.attempt > 1 else ""
            return f"Block {event.block} of {event.blocks}: boot {event.arm}{again}"
        case GuestReady():
            return f"  {event.arm} ready after {event.seconds:.1f} s, verified"
        case BootFailed():
            return f"  {event.arm}, block {event.block}: boot lost ({event.kind}). {event.reason}"
        case Step():
            return None
        case TrialEnded():
            result = event.headline or f"{event.status}. {event.reason}"
            left = f"{format_duration(event.left_s)} left" if event.trials_left else "done"
            return f"  {event.workload}: {result} ({left})"
        case Note():
            return f"{'Warning: ' if event.is_warning else ''}{event.text}"


@contextlib.contextmanager
def listener(console: Console) -> Iterator[Listener]:
    """A listener for the engine; live if `console` is a terminal."""
    if not console.is_terminal:
        yield _PlainLines(console)
        return
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:.0f}/{task.total:.0f} trials"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        yield _LiveLine(bars)


class _PlainLines:
    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, event: Event) -> None:
        line = sentence(event)
        if line is not None:
            self._console.print(cleaned(line), markup=False, soft_wrap=True)


class _LiveLine:
    """Narration above, and below it one bar that says what happens now."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def __call__(self, event: Event) -> None:
        line = sentence(event)
        if line is not None:
            style = "yellow" if isinstance(event, BootFailed | Note) else None
            self._bars.console.print(cleaned(line), markup=False, style=style)
        match event:
            case RunBegan():
                self._task = self._bars.add_task(
                    "starting",
                    total=event.trials,
                    completed=event.trials - event.trials_left,
                    left=_left(event.left_s),
                )
            case BootBegan():
                self._say(f"{event.arm} boots")
            case Step():
                self._say(f"{event.arm}: {event.workload}, {event.what}")
            case TrialEnded() if self._task is not None:
                self._bars.update(self._task, advance=1, left=_left(event.left_s))

    def _say(self, what: str) -> None:
        if self._task is not None:
            self._bars.update(self._task, description=escape(cleaned(what)))


def _left(seconds: float) -> str:
    return f"about {format_duration(seconds)} left"


@contextlib.contextmanager
def build_display(console: Console) -> Iterator[Callable[[BuildStep], None]]:
    """A display for an image build: a bar on a terminal, a line for each new step elsewhere."""
    if not console.is_terminal:
        yield _PlainSteps(console)
        return
    columns = (TextColumn("Guest image: {task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("looking", total=1.0, visible=False)

        def show(step: BuildStep) -> None:
            bars.update(
                task, completed=step.fraction, description=escape(cleaned(step.title)), visible=True
            )

        yield show


class _PlainSteps:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""

    def __call__(self, step: BuildStep) -> None:
        if step.title != self._last:
            self._last = step.title
            text = f"Guest image: {cleaned(step.title)} ({step.fraction:.0%})"
            self._console.print(text, markup=False)
