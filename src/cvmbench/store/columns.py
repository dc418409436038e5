"""Column types that hold the store's rules: times are UTC, words are bounded, JSON is finite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

WORDS_LIMIT = 8192
"""Characters kept of a reason or message. They may quote a guest, which may say anything."""


class UtcTime(TypeDecorator[datetime]):
    """A moment, stored and given back in UTC; ValueError for a time without a zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC, as it is stored."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The stored moment; SQLite keeps no zone, so UTC is put back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Words(TypeDecorator[str]):
    """Text for people, at most `WORDS_LIMIT` characters, without what a database refuses.

    PostgreSQL takes no NUL, and neither database takes a surrogate that stands alone; both turn
    up when a guest's bytes were decoded. They become U+FFFD.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text as it is stored."""
        if value is None:
            return None
        if len(value) > WORDS_LIMIT:
            value = value[: WORDS_LIMIT - 1] + "…"
        return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in value)


def to_json(value: Any) -> str:
    """`value` as compact JSON; ValueError for NaN and infinity, TypeError for unknown objects."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_plain)


def canonical_json(value: Any) -> str:
    """`value` as JSON that is equal for equal data, whatever the order of keys."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")
