"""The nearest valid spelling of a word that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str:
    """A sentence naming the known words closest to `word`, or all of them if none is close."""
    names = sorted(known)
    inside = [name for name in names if len(word) > 1 and word.lower() in name]
    near = get_close_matches(word.lower(), names, n=2, cutoff=0.5)
    close = list(dict.fromkeys([*near, *inside]))[:3]
    if close:
        return "Did you mean " + " or ".join(f"'{name}'" for name in close) + "?"
    return "Known: " + ", ".join(names) + "." if names else ""
