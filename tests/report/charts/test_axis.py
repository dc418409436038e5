from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.report.charts.axis import scaled_unit


@pytest.mark.parametrize(
    ("largest", "unit", "factor", "shown"),
    [
        (1.3e9, "bit/s", 1e9, "Gbit/s"),
        (14_900, "1/s", 1e3, "thousands /s"),
        (0.5, "1/s", 1, "/s"),
        (0.0021, "s", 1e-3, "ms"),
        (4000, "s", 1, "s"),
        (12, "frames", 1, "frames"),
        (0, "s", 1, "s"),
    ],
)
def test_units_get_the_prefix_that_suits(
    largest: float, unit: str, factor: float, shown: str
) -> None:
    found, name = scaled_unit(largest, unit)
    assert found == pytest.approx(factor)
    assert name == shown


@given(st.floats(), st.sampled_from(["s", "B", "1/s", "bit/s", ""]))
def test_any_value_has_a_scale(largest: float, unit: str) -> None:
    assert scaled_unit(largest, unit)[0] > 0
