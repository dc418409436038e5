from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.report.escape import SHOWN_CHARACTERS, cleaned, cleaned_line

REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}

anything = st.text(st.characters(), max_size=200)


@pytest.mark.parametrize(
    "harmful",
    ["\x1b[2J", "\x07", "\x9b31m", "\u202e", "\u2066", "\u200f", "\u2028", "\u2029", "\ufeff",
     "\ud800", "\U000e0041", "\x00", "\x7f"],
)  # fmt: skip
def test_what_drives_a_terminal_or_reorders_text_is_replaced(harmful: str) -> None:
    assert harmful[0] not in cleaned(f"a{harmful}b")
    assert cleaned(f"a{harmful}b").startswith("a\ufffd")


@given(anything)
def test_no_control_or_format_character_but_tab_and_newline_is_left_of_ascii_and_bidi(
    text: str,
) -> None:
    shown = cleaned(text)
    assert all(unicodedata.category(c) != "Cc" or c in "\t\n" for c in shown)
    assert not any(unicodedata.bidirectional(c) in REORDERING for c in shown)
    shown.encode()


@given(anything)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert cleaned(cleaned(text)) == cleaned(text)


@given(st.text("abc åß漢字\t\n-+.,", max_size=100))
def test_ordinary_text_stays(text: str) -> None:
    assert cleaned(text) == text


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    shown = cleaned("x" * (SHOWN_CHARACTERS + 1234))
    assert shown.endswith("… (1,234 more characters)")
    assert len(shown) < SHOWN_CHARACTERS + 40


def test_a_line_has_no_line_ends() -> None:
    assert cleaned_line("one\r\n two\t three ") == "one two three"
