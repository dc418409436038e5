"""Making strings from guests, tools and files harmless to look at.

HTML escaping is Jinja2's business and XML escaping the chart renderer's; what is done here comes
before both: characters that drive a terminal or reorder a line are replaced, and length is bounded.
"""

from __future__ import annotations

import re

SHOWN_CHARACTERS = 4000
"""A longer string is cut when shown; the store keeps all of it."""

# C0 and C1 controls but tab and newline; marks, embeddings, overrides and isolates that reorder
# text (UAX #9); zero-width characters; line and paragraph separators; surrogates, which no
# encoder takes; the byte order mark; and tags (U+E0000 to U+E007F), which no font shows.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def cleaned(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """`text` with harmful characters replaced by U+FFFD, cut to `limit` characters.

    Line ends of every kind become newlines. A cut text ends in a note that says how much is left
    out.
    """
    over = len(text) - limit
    shown = text[:limit].replace("\r\n", "\n").replace("\r", "\n")
    shown = _HARMFUL.sub("\ufffd", shown)
    return f"{shown} … ({over:,} more characters)" if over > 0 else shown


def cleaned_line(text: str, limit: int = 300) -> str:
    """As `cleaned`, on a single line: runs of white space become one space."""
    return " ".join(cleaned(text, limit).split())
