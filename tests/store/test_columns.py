import json
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from cvmbench.store.columns import WORDS_LIMIT, UtcTime, Words, canonical_json, to_json

DIALECT = sqlite.dialect()
JSON_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


@given(st.text(st.characters(), max_size=200))
def test_words_are_what_every_database_takes(text: str) -> None:
    stored = Words().process_bind_param(text, DIALECT)
    assert stored is not None
    assert "\0" not in stored
    stored.encode()


def test_words_keep_ordinary_text_and_replace_what_guests_smuggle_in() -> None:
    bind = Words().process_bind_param
    assert bind("Kernel-Panik: früh…", DIALECT) == "Kernel-Panik: früh…"
    assert bind("a\0b\udcffc", DIALECT) == "a\ufffdb\ufffdc"


def test_words_are_bounded() -> None:
    stored = Words().process_bind_param("x" * (WORDS_LIMIT + 1), DIALECT)
    assert stored is not None
    assert len(stored) == WORDS_LIMIT
    assert stored.endswith("x…")
    assert Words().process_bind_param("x" * WORDS_LIMIT, DIALECT) == "x" * WORDS_LIMIT


def test_a_time_is_stored_in_utc() -> None:
    there = datetime(2026, 11, 20, 9, 30, tzinfo=timezone(timedelta(hours=5)))
    stored = UtcTime().process_bind_param(there, DIALECT)
    assert stored == datetime(2026, 11, 20, 4, 30, tzinfo=UTC)
    assert stored.utcoffset() == timedelta(0)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        UtcTime().process_bind_param(datetime(2026, 11, 20), DIALECT)


@given(JSON_DATA)
def test_json_comes_back_equal(data: object) -> None:
    assert json.loads(to_json(data)) == data


@given(st.dictionaries(st.text(), JSON_DATA))
def test_canonical_json_does_not_depend_on_the_order_of_keys(data: dict[str, object]) -> None:
    assert canonical_json(data) == canonical_json(dict(reversed(data.items())))


def test_json_takes_frozen_mappings_and_refuses_what_is_no_number() -> None:
    assert to_json(MappingProxyType({"a": MappingProxyType({"b": (1, 2)})})) == '{"a":{"b":[1,2]}}'
    with pytest.raises(ValueError, match="JSON"):
        to_json({"a": float("nan")})
    with pytest.raises(TypeError, match="set"):
        to_json({"a": {1}})
