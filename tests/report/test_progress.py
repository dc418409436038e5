from __future__ import annotations

import io

import pytest
from rich.console import Console

from cvmbench.guest.image.build import BuildStep
from cvmbench.report.progress import build_display, listener, sentence
from cvmbench.runner.progress import (
    BootBegan,
    BootFailed,
    Event,
    GuestReady,
    Note,
    RunBegan,
    Step,
    TrialEnded,
)

EVENTS: list[Event] = [
    RunBegan("quick-1", 12, 8, 300.0),
    BootBegan("plain", 1, 3, 1),
    GuestReady("plain", 1, 4.56),
    Step("plain", 1, "mbw", "iteration 1 of 3"),
    TrialEnded("plain", 1, "mbw", "measured", "", "3.1 GB/s", 7, 250.0),
    BootBegan("plain", 1, 3, 2),
    BootFailed("plain", 1, "guest panic", "It said: [bold]x[/] \x1b[31mred"),
    TrialEnded("plain", 1, "fio", "failed", "It broke.", "", 0, 0.0),
    Note("Look here.", is_warning=True),
]


def test_every_event_is_a_sentence_or_none() -> None:
    said = [sentence(event) for event in EVENTS]
    assert said == [
        "Run quick-1: 8 of 12 trials to do, about 5 min 00 s.",
        "Block 1 of 3: boot plain",
        "  plain ready after 4.6 s, verified",
        None,
        "  mbw: 3.1 GB/s (4 min 10 s left)",
        "Block 1 of 3: boot plain, attempt 2",
        "  plain, block 1: boot lost (guest panic). It said: [bold]x[/] \x1b[31mred",
        "  fio: failed. It broke. (done)",
        "Warning: Look here.",
    ]


@pytest.mark.parametrize("terminal", [False, True])
def test_narration_shows_what_was_said_and_obeys_nothing(terminal: bool) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100, color_system=None)
    with listener(console) as listen:
        for event in EVENTS:
            listen(event)
    text = stream.getvalue()
    assert "Block 1 of 3: boot plain" in text
    assert "[bold]x[/]" in text
    assert "\x1b[31m" not in text


def test_an_image_build_tells_each_step_once() -> None:
    stream = io.StringIO()
    with build_display(Console(file=stream, width=100)) as show:
        for fraction in (0.1, 0.2, 0.3):
            show(BuildStep("installing packages", fraction))
        show(BuildStep("done", 1.0))
    assert stream.getvalue().splitlines() == [
        "Guest image: installing packages (10%)",
        "Guest image: done (100%)",
    ]


def test_an_image_build_on_a_terminal_draws_a_bar() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100)
    with build_display(console) as show:
        show(BuildStep("installing packages", 0.5))
    assert "installing packages" in stream.getvalue()
