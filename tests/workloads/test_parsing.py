from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.errors import TrialFailure
from cvmbench.workloads.parsing import (
    TEXT_LIMIT,
    Count,
    ToolModel,
    agree,
    bounded,
    number,
    read_json,
    read_model,
    the_match,
)

_LINE = re.compile("^rate: (.*)$", re.MULTILINE)


def test_a_match_must_be_there_exactly_once() -> None:
    assert the_match(_LINE, "a\nrate: 5\nb", "tool", "a rate")[1] == "5"
    with pytest.raises(TrialFailure, match="no line with a rate"):
        the_match(_LINE, "my rate: 5", "tool", "a rate")
    with pytest.raises(TrialFailure, match="more than one line with a rate"):
        the_match(_LINE, "rate: 5\nrate: 5", "tool", "a rate")


def test_text_has_a_bound() -> None:
    assert bounded("x" * TEXT_LIMIT, "tool")
    with pytest.raises(TrialFailure, match="more than"):
        bounded("x" * (TEXT_LIMIT + 1), "tool")
    with pytest.raises(TrialFailure, match="nothing"):
        bounded(" \n", "tool")


@given(st.decimals(min_value="0.001", max_value=10**15, places=3))
def test_plain_decimals_are_read_to_the_digit(value: object) -> None:
    assert number(str(value), "tool", "it") == float(str(value))


@given(st.text().filter(lambda text: not re.fullmatch("[0-9.]+", text, re.ASCII)))
def test_whatever_is_not_a_plain_decimal_is_refused(text: str) -> None:
    with pytest.raises(TrialFailure):
        number(text, "tool", "it")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


@given(json_values.filter(lambda value: value != ""))
def test_all_json_is_read(value: object) -> None:
    assert read_json(json.dumps(value), "tool") == value


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "-Infinity", '{"a":1,"a":2}', "1,5", "{} {}"]
)
def test_what_only_some_call_json_is_refused(text: str) -> None:
    with pytest.raises(TrialFailure, match="not valid JSON"):
        read_json(text, "tool")


def test_a_key_given_twice_with_one_value_is_read() -> None:
    assert read_json('{"a": [1], "b": 2, "a": [1]}', "tool") == {"a": [1], "b": 2}


def test_depth_beyond_the_stack_is_refused() -> None:
    with pytest.raises(TrialFailure, match="not valid JSON"):
        read_json("[" * 10**6, "tool")


class _Model(ToolModel):
    reads: Count


@pytest.mark.parametrize("value", [True, 1.0, "1", None, -1, 2**63, 10**400])
def test_counts_are_whole_numbers_of_64_bits_and_nothing_else(value: object) -> None:
    with pytest.raises(TrialFailure, match="reads"):
        read_model({"reads": value}, _Model, "tool")


def test_a_message_never_carries_control_characters_or_a_page_of_text() -> None:
    with pytest.raises(TrialFailure) as caught:
        number("\x1b[31m" + "9" * 10_000 + "x", "tool", "it")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@given(st.floats(1e-6, 1e12), st.floats(0, 0.0099))
def test_numbers_agree_within_the_tolerance_only(value: float, share: float) -> None:
    agree(value * (1 + share), value, 0.01, "tool", "they")
    with pytest.raises(TrialFailure, match="disagree"):
        agree(value * (1.011 + share), value, 0.01, "tool", "they")
