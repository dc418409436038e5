"""The two streams: data goes to standard output, narration to standard error."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rich.console import Console


def data() -> Console:
    """The console for results."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False)


def errors() -> Console:
    """The console for narration, progress and errors."""
    from rich.console import Console

    class Narration(Console):
        def on_broken_pipe(self) -> None:
            """Nobody listens any more; the work goes on without telling."""
            self.quiet = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())

    return Narration(file=sys.stderr, highlight=False)


def make_safe() -> None:
    """Streams that can always be written to: closed ones lead nowhere, signs they lack are `?`."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        else:
            stream.reconfigure(errors="replace")


def leave_pipe() -> NoReturn:
    """End quietly after the reader of our output went away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


def print_json(value: Any) -> None:
    """Print `value` as JSON on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True, default=str) + "\n")
