from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.report.spans import spans


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([4], "4"), ([3, 1, 2, 5], "1–3, 5"), ([1, 1, 2], "1–2")],
)
def test_runs_are_drawn_together(numbers: list[int], text: str) -> None:
    assert spans(numbers) == text


@given(st.sets(st.integers(0, 60)))
def test_nothing_is_lost(numbers: set[int]) -> None:
    found: set[int] = set()
    for part in spans(numbers).split(", "):
        if part:
            first, _, last = part.partition("–")
            found |= set(range(int(first), int(last or first) + 1))
    assert found == numbers
