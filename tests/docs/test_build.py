"""The pages build, and what they link to is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, pages

_LINK = re.compile(r"\]\((?P<target>[^)#:]+)(?:#[^)]*)?\)")
_ASKED_FOR = re.compile(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"(?:https?:)?//")


def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html"),
            *("-d", str(tmp_path / "doctrees"), str(ROOT / "docs"), str(tmp_path / "html")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    built = {path.stem for path in (tmp_path / "html").glob("*.html")}
    assert {page.stem for page in pages() if page.parent.name == "docs"} <= built
    for page in (tmp_path / "html").glob("*.html"):
        assert not _ASKED_FOR.search(page.read_text()), "a page loads nothing from elsewhere"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for match in _LINK.finditer(page.read_text()):
        assert (page.parent / match["target"]).exists(), match["target"]
