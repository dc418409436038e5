"""The page in headless Chromium, as readers meet it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright

from cvmbench.report import html
from cvmbench.report.view import RunView

CHROMIUM = os.environ.get("CVMBENCH_CHROMIUM") or shutil.which("chromium")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH"),
]

EVIL = (
    "</script></style></pre></title><script>window.owned = 1</script>"
    '<img src="http://192.0.2.1/x" onerror="window.owned = 2">\'">\u2028'
)
SIZES = [(1280, 900), (390, 844)]


@dataclass
class Watched:
    """A page with what it asked for beyond itself, and what it complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync", "--no-first-run"],
        )  # fmt: skip
        yield started
        await started.close()


Open = Callable[..., Any]


@pytest.fixture
async def opened(browser: Browser, tmp_path: Path) -> AsyncIterator[Open]:
    pages: list[Page] = []

    async def show(view: RunView, size: tuple[int, int], **options: Any) -> Watched:
        path = tmp_path / "report.html"
        html.write(view, path)
        viewport = {"width": size[0], "height": size[1]}
        page = await browser.new_page(viewport=viewport, **options)  # type: ignore[arg-type]
        pages.append(page)
        watched = Watched(page)
        page.on("console", lambda message: watched.complaints.append(message.text))
        page.on("pageerror", lambda error: watched.complaints.append(str(error)))
        page.on("request", lambda request: watched.requests.append(request.url))
        await page.goto(path.as_uri(), wait_until="load")
        watched.requests.remove(path.as_uri())
        return watched

    yield show
    for page in pages:
        await page.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(
    opened: Open, view: RunView, size: tuple[int, int], scheme: str
) -> None:
    watched = await opened(view, size, color_scheme=scheme)
    await watched.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    width = await watched.page.evaluate("document.documentElement.scrollWidth")
    assert watched.requests == []
    assert watched.complaints == []
    assert width <= size[0]


@pytest.mark.parametrize("size", SIZES)
async def test_strings_of_guests_are_shown_and_not_executed(
    opened: Open, view_of: Callable[..., RunView], size: tuple[int, int]
) -> None:
    watched = await opened(view_of(hostile=EVIL), size)
    await watched.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert await watched.page.evaluate("window.owned === undefined")
    assert watched.requests == []
    assert watched.complaints == []
    assert await watched.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert await watched.page.get_by_text("window.owned = 1").count() > 0


@pytest.mark.parametrize(("size", "shown"), [(SIZES[0], "wide"), (SIZES[1], "narrow")])
async def test_one_overhead_chart_is_seen_and_it_suits_the_width(
    opened: Open, view: RunView, size: tuple[int, int], shown: str
) -> None:
    watched = await opened(view, size)
    for layout in ("wide", "narrow"):
        chart = watched.page.locator(f"svg.{layout}")
        assert await chart.is_visible() == (layout == shown)
    box = await watched.page.locator(f"svg.{shown}").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= size[0]


async def test_arms_change_colour_with_the_scheme(opened: Open, view: RunView) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        watched = await opened(view, SIZES[0], color_scheme=scheme)
        colours.add(
            await watched.page.evaluate(
                "getComputedStyle(document.querySelector('svg.wide [fill=\"var(--arm-1)\"]')).fill"
            )
        )
    assert len(colours) == 2
    assert all(colour.startswith("rgb(") for colour in colours)


async def test_the_table_is_sorted_by_keyboard(opened: Open, view: RunView) -> None:
    watched = await opened(view, SIZES[0])
    header = watched.page.locator("#table table[data-sortable] th", has_text="overhead")
    rows = watched.page.locator("#table table[data-sortable] tbody tr td:nth-child(3)")
    at_first = await rows.all_inner_texts()

    async def keys() -> list[float | None]:
        found = await rows.evaluate_all("cells => cells.map(cell => cell.dataset.key)")
        return [float(key) if key else None for key in found]

    await header.locator("button").focus()
    await watched.page.keyboard.press("Enter")
    assert await header.get_attribute("aria-sort") == "ascending"
    numbers = [key for key in await keys() if key is not None]
    assert numbers == sorted(numbers)
    assert (await keys())[-1] is None

    await watched.page.keyboard.press("Space")
    assert await header.get_attribute("aria-sort") == "descending"
    numbers = [key for key in await keys() if key is not None]
    assert numbers == sorted(numbers, reverse=True)
    assert (await keys())[-1] is None

    await watched.page.keyboard.press("Enter")
    assert await header.get_attribute("aria-sort") is None
    assert await rows.all_inner_texts() == at_first


async def test_the_first_tab_stop_skips_to_the_verdict(opened: Open, view: RunView) -> None:
    watched = await opened(view, SIZES[0])
    await watched.page.keyboard.press("Tab")
    assert await watched.page.evaluate("document.activeElement.hash") == "#verdict"
    box = await watched.page.locator(".skip").bounding_box()
    assert box is not None
    assert box["x"] >= 0


async def test_without_scripts_everything_is_there(
    browser: Browser, view: RunView, tmp_path: Path
) -> None:
    html.write(view, tmp_path / "report.html")
    page = await browser.new_page(java_script_enabled=False)
    await page.goto((tmp_path / "report.html").as_uri())
    assert await page.locator("svg.wide").is_visible()
    assert await page.locator("#table tbody tr").count() > 0
    await page.close()
