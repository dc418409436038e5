"""mmdebstrap is called without choices left open, followed, and its failures are explained."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.guest.image.mmdebstrap import ProgressReader, failure, mmdebstrap_argv
from cvmbench.guest.image.recipe import ImageRecipe

DATA = Path(__file__).with_name("data")


def recorded(name: str) -> str:
    """What mmdebstrap wrote to its terminal; addresses were replaced."""
    return (DATA / f"mmdebstrap-1.3.5-{name}.txt").read_bytes().decode()


def lines(name: str) -> list[str]:
    return ProgressReader().feed(recorded(name))


def test_arguments(recipe: ImageRecipe) -> None:
    argv = mmdebstrap_argv(
        recipe,
        mode="unshare",
        overlay=Path("/cache/it's here/overlay.tar"),
        target=Path("/cache/tree.tar"),
        mirror="http://mirror.example/debian",
    )
    assert argv[-3:] == ("trixie", "/cache/tree.tar", "http://mirror.example/debian")
    assert "--mode=unshare" in argv
    assert f"--include={','.join(recipe.packages)}" in argv
    assert "--customize-hook=tar-in '/cache/it'\\''s here/overlay.tar' /" in argv


def test_without_a_mirror_mmdebstrap_chooses(recipe: ImageRecipe) -> None:
    argv = mmdebstrap_argv(recipe, mode="root", overlay=Path("/o"), target=Path("/t"), mirror=None)
    assert argv[-2:] == ("trixie", "/t")


def test_progress_of_a_recorded_build_rises_to_the_end() -> None:
    reader = ProgressReader()
    fractions = []
    titles = []
    text = recorded("success")
    for start in range(0, len(text), 100):
        reader.feed(text[start : start + 100])
        fractions.append(reader.fraction)
        if reader.phase and reader.phase.title not in titles:
            titles.append(reader.phase.title)
    assert fractions == sorted(fractions)
    assert fractions[0] == 0
    assert 0.9 < fractions[-1] <= 1
    # Percentages within a phase move the fraction, not only the phases themselves.
    assert len(set(fractions)) > 3 * len(titles)
    assert titles == [
        "reading the package lists",
        "downloading the base system",
        "unpacking the base system",
        "configuring the base system",
        "installing packages",
        "adding files",
        "packing the tree",
    ]


def test_the_log_holds_messages_without_bars_and_escapes() -> None:
    kept = lines("success")
    assert "I: running apt-get update..." in kept
    assert kept[-1].startswith("I: success in ")
    assert len(kept) < 40
    assert not any("\x1b" in line or "===" in line for line in kept)


@given(st.lists(st.text(max_size=200), max_size=20))
def test_any_output_gives_a_fraction_that_never_falls(pieces: list[str]) -> None:
    reader = ProgressReader()
    before = 0.0
    for piece in pieces:
        reader.feed(piece)
        assert before <= reader.fraction <= 1
        before = reader.fraction


@given(st.lists(st.integers(1, 400), max_size=60))
def test_how_output_is_cut_into_pieces_does_not_matter(cuts: list[int]) -> None:
    text = recorded("no-mirror")
    whole = ProgressReader()
    kept = whole.feed(text)
    reader = ProgressReader()
    pieces: list[str] = []
    rest = text
    for cut in cuts:
        pieces += reader.feed(rest[:cut])
        rest = rest[cut:]
    pieces += reader.feed(rest)
    assert pieces == kept
    assert reader.fraction == whole.fraction


def test_an_endless_line_does_not_fill_the_memory() -> None:
    reader = ProgressReader()
    for _ in range(100):
        reader.feed("x" * 10_000)
    assert sum(len(line) for line in reader.feed("\n")) < 20_000


@pytest.mark.parametrize(
    ("name", "why", "remedy"),
    [
        ("no-mirror", "The Debian mirror cannot be reached", "Check the network"),
        ("unknown-package", "has no package called no-such-package", "Correct the package list"),
    ],
)
def test_a_recorded_failure_is_explained(
    recipe: ImageRecipe, name: str, why: str, remedy: str
) -> None:
    error = failure(recipe, lines(name), Path("/cache/x.log"))
    assert why in error.why
    assert remedy in error.remedy
    assert "/cache/x.log" in error.remedy
    assert "E: " in error.why


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("E: The repository is not signed. NO_PUBKEY 6ED0E7B82643E131", "signed with"),
        ("tar: ./usr: Cannot write: No space left on device", "disk is full"),
        ("newuidmap: write to uid_map failed: Operation not permitted", "user namespace"),
        ("E: something nobody foresaw", "without a reason that cvmbench knows"),
    ],
)
def test_other_failures_are_told_apart(recipe: ImageRecipe, line: str, why: str) -> None:
    error = failure(recipe, ["I: running apt-get update...", line], Path("/cache/x.log"))
    assert why in error.why
    assert line in error.why
