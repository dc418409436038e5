from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from cvmbench.errors import UsageError
from cvmbench.report import html, wording
from cvmbench.report.view import RunView

EVIL = (
    "</script></style></pre><script>window.owned = 1</script>"
    '<img src=x onerror="window.owned = 2">"\'>{{ 7 * 7 }}\u2028\x1b[31m\u202e'
)


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def page(view: RunView) -> str:
    return html.render(view)


def test_the_page_refers_to_nothing_outside(page: str) -> None:
    for _, attributes in _Page(page).tags:
        for name in ("src", "srcset", "action", "poster", "data", "xlink:href", "style"):
            assert name not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page


def test_only_our_own_style_and_script_are_allowed(page: str) -> None:
    policy = _Page(page).all("meta")[1]["content"] or ""
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_the_page_is_small(page: str) -> None:
    assert len(page.encode()) < 500_000


def test_every_section_with_numbers_carries_the_functional_mark(
    view_of: Callable[..., RunView], page: str
) -> None:
    for part in ("verdict", "overhead", "boots", "table", "trials"):
        section = page.split(f'<section id="{part}"')[1].split("</section>")[0]
        assert wording.FUNCTIONAL in section
    measured = html.render(view_of(functional=False)).split("Words</h2>")[0]
    assert "functional" not in measured


def test_links_lead_to_sections_that_exist_and_headings_are_in_order(page: str) -> None:
    tags = _Page(page)
    ids = [attributes["id"] for _, attributes in tags.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for link in tags.all("a"):
        assert (link["href"] or "").removeprefix("#") in ids
    levels = [int(name[1]) for name, _ in tags.tags if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


def test_every_table_has_a_caption_and_every_picture_a_label(page: str) -> None:
    tags = _Page(page)
    assert len(tags.all("caption")) == len(tags.all("table")) > 0
    charts = [a for a in tags.all("svg") if a.get("role") == "img"]
    assert len(charts) == 2 + 10
    assert all(a.get("aria-label") for a in charts)
    assert all(a.get("role") == "img" or a.get("aria-hidden") == "true" for a in tags.all("svg"))


def test_the_page_tells_what_a_reader_needs(page: str, view: RunView) -> None:
    for text in (
        view.run.key, "AMD EPYC 9654", "6.12.48+deb13-cloud-amd64", "5:8.0.2-3",
        "swiotlb=65536,force", "The guest image has no mbw", f"cvmbench export {view.run.key}",
        "guest hang", "Seed of the order: 20261120", "blocks = 6",
    ):  # fmt: skip
        assert text in page


def test_strings_of_guests_and_files_stay_text(view_of: Callable[..., RunView]) -> None:
    page = html.render(view_of(hostile=EVIL))
    tags = _Page(page)
    assert len(tags.all("script")) == 1
    assert len(tags.all("img")) == 0
    assert not any(name.startswith("on") for _, attributes in tags.tags for name in attributes)
    assert not re.search("[\u2028\u202e\x1b]", page)
    assert "{{ 7 * 7 }}" in page


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_an_unfinished_run_has_a_page(view_of: Callable[..., RunView], blocks: int) -> None:
    page = html.render(view_of(measured_blocks=blocks))
    assert "planned" in page
    assert "nan" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL).lower().split()


def test_a_run_of_one_arm_has_a_page(view_of: Callable[..., RunView]) -> None:
    page = html.render(view_of(arms=["plain"]))
    assert "nothing to compare" in page
    assert page.count('role="img"') == 10


def test_the_file_is_written_whole_with_ordinary_rights(view: RunView, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")
    html.write(view, target)
    assert target.read_text().startswith("<!DOCTYPE html>")
    assert target.stat().st_mode & 0o600 == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_place_that_cannot_be_written_is_a_sentence(view: RunView, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be written to .*no/report\.html") as caught:
        html.write(view, tmp_path / "no" / "report.html")
    assert "--output" in caught.value.remedy


def test_a_place_that_is_a_folder_is_a_sentence_and_leaves_nothing(
    view: RunView, tmp_path: Path
) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(UsageError):
        html.write(view, tmp_path / "report.html")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
