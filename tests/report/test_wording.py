from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cvmbench.analysis.comparison import Comparison, compare
from cvmbench.report import wording
from cvmbench.units import Better


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (12.34, "+12.3%"),
        (-0.44, "−0.4%"),
        (0.0, "0.0%"),
        (-0.04, "0.0%"),
        (99.94, "+99.9%"),
        (99.96, "+100%"),
        (1234.6, "+1,235%"),
        (12345.0, "+>10,000%"),
        (float("inf"), "+>10,000%"),
        (None, "–"),
    ],
)
def test_percent(value: float | None, words: str) -> None:
    assert wording.percent(value) == words


def _compared(x: list[float], b: list[float]) -> Comparison:
    return compare(np.array(x), np.array(b), Better.LOWER, arm="tdx", baseline="plain")


def test_verdicts_are_the_words_of_the_design() -> None:
    assert wording.verdict(_compared([2.0, 2.01], [1.0, 1.01])) == "worse"
    assert wording.verdict(_compared([1.0, 1.01], [2.0, 2.01])) == "better"
    assert wording.verdict(_compared([1.0, 1.0], [1.0, 1.0])) == "same within 2%"
    assert wording.verdict(_compared([1.5], [1.0, 1.1])) == (
        "cannot tell yet (needs at least 1 more boot)"
    )
    undecided = _compared([1.0, 1.3, 0.9], [1.0, 1.1, 0.9])
    assert undecided.boots_needed is not None
    assert wording.verdict(undecided) == (
        f"cannot tell yet (needs about {undecided.boots_needed} more boots)"
    )
    assert "too few boots to say" in wording.verdict(replace(undecided, boots_needed=None))
    assert wording.verdict(_compared([], [1.0])) == "not measured"
    assert wording.verdict(_compared([0.0, 1.0], [1.0])) == "no ratio"


def test_an_interval_has_a_sign_at_each_end() -> None:
    comparison = replace(_compared([1.0, 1.1], [1.0, 1.1]), low=-1.25, high=14.5)
    assert wording.interval(comparison) == "−1.2 to +14.5%"
    assert wording.interval(_compared([1.0], [1.0])) == "–"
