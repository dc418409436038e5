"""Text for the terminal that shows a string as it is."""

from __future__ import annotations

from rich.text import Text

from cvmbench.report.escape import cleaned


def literal(text: str, style: str = "") -> Text:
    """`text` for a table cell or a line: no markup in it works, nothing in it drives a terminal."""
    return Text(cleaned(text), style=style)
