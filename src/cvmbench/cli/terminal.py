"""The two streams: data goes to standard output, narration to standard error."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def data() -> Console:
    """The console for results."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False)


def errors() -> Console:
    """The console for narration, progress and errors."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False)


def print_json(value: Any) -> None:
    """Print `value` as JSON on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True, default=str) + "\n")
