"""Lists of block numbers, short."""

from __future__ import annotations

from collections.abc import Iterable


def spans(numbers: Iterable[int]) -> str:
    """Numbers in order, with runs drawn together.

    >>> spans([3, 1, 2, 5])
    '1–3, 5'
    """
    parts: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if parts and parts[-1][1] == number - 1:
            parts[-1] = (parts[-1][0], number)
        else:
            parts.append((number, number))
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in parts)
