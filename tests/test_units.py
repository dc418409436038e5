from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.units import format_duration, format_quantity


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1_234_567, "B/s", "1.235 MB/s"),
        (0.00042, "s", "420 µs"),
        (4200, "s", "4200 s"),
        (12_590, "1/s", "12.59 k/s"),
        (723.9, "1/s", "723.9 /s"),
        (0, "s", "0 s"),
        (999.96, "B/s", "1 kB/s"),
        (3.5, "Mop/s", "3.5 Mop/s"),
        (-2e9, "bit/s", "-2 Gbit/s"),
    ],
)
def test_quantities_for_people(value: float, unit: str, shown: str) -> None:
    assert format_quantity(value, unit) == shown


@given(st.floats(1e-8, 1e14), st.sampled_from(["B/s", "1/s", "bit/s"]))
def test_a_shown_quantity_is_the_value_to_four_digits(value: float, unit: str) -> None:
    shown = format_quantity(value, unit)
    match = re.fullmatch(r"([0-9.e+-]+) ([TGMkmµn]?).*", shown)
    assert match is not None
    prefix = "TGMk mµn".find(match[2] or " ")
    factor = 10.0 ** (12 - 3 * prefix)
    assert math.isclose(float(match[1]) * factor, value, rel_tol=6e-4)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (365, "6 min 05 s"),
        (12_000, "3 h 20 min"),
        (187_200, "2 d 04 h"),
    ],
)
def test_durations_for_people(seconds: float, shown: str) -> None:
    assert format_duration(seconds) == shown
