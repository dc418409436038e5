"""The pages of the documentation taken apart: fenced blocks, commands, files, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]

_FILE_NAME = re.compile(r"# (?P<name>[a-z0-9_-]+\.(?:toml|py))")
_TABLE_MARK = re.compile(r"<!-- table: (?P<name>[a-z ]+) -->")


@dataclass(frozen=True)
class Command:
    """A command as a reader would type it, with the output that the page shows below it."""

    line: str
    shown: str
    page: Path
    line_number: int

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line_number}: {self.line}"


@dataclass(frozen=True)
class Fence:
    """A fenced block: its language, content, and the number of its first line of content."""

    language: str
    content: str
    line_number: int


def pages() -> list[Path]:
    """Every page with commands in it: the README and what is built from `docs/`."""
    built = ROOT / "docs" / "_build"
    docs = [path for path in sorted((ROOT / "docs").rglob("*.md")) if built not in path.parents]
    return [ROOT / "README.md", *docs]


def fences(page: Path) -> list[Fence]:
    """The fenced blocks of a page in order."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    return [
        Fence(token.info.strip(), token.content, token.map[0] + 2)
        for token in tokens
        if token.type == "fence" and token.map is not None
    ]


def commands(page: Path) -> list[Command]:
    """The commands of a page: lines after `$ ` in `console` blocks, all lines of `sh` blocks."""
    found: list[Command] = []
    for fence in fences(page):
        if fence.language == "console":
            found.extend(_of_console(fence, page))
        elif fence.language in {"sh", "bash", "shell"}:
            found.extend(_of_script(fence, page))
    return found


def files(page: Path) -> dict[str, str]:
    """The files that a page tells its reader to write: blocks whose first line is `# NAME`."""
    found = {}
    for fence in fences(page):
        named = _FILE_NAME.fullmatch(fence.content.partition("\n")[0])
        if named:
            found[named["name"]] = fence.content
    return found


def tables(page: Path) -> dict[str, list[tuple[str, ...]]]:
    """The tables below a `<!-- table: NAME -->` mark: their rows, without head and rule."""
    found: dict[str, list[tuple[str, ...]]] = {}
    rows: list[tuple[str, ...]] | None = None
    for line in page.read_text(encoding="utf-8").splitlines():
        if mark := _TABLE_MARK.fullmatch(line):
            rows = found.setdefault(mark["name"], [])
        elif rows is not None and line.startswith("|"):
            rows.append(tuple(cell.strip() for cell in line.strip("|").split("|")))
        elif rows:
            rows = None
    return {name: table[2:] for name, table in found.items()}


def _of_console(fence: Fence, page: Path) -> Iterator[Command]:
    line, number, shown = "", 0, [""]
    for offset, text in enumerate(fence.content.splitlines()):
        if line.endswith("\\") and not shown:
            line = f"{line[:-1]}{text.strip()}"
        elif text.startswith("$ "):
            if line:
                yield Command(line, "\n".join(shown), page, number)
            line, number, shown = text.removeprefix("$ "), fence.line_number + offset, []
        else:
            shown.append(text)
    if line:
        yield Command(line, "\n".join(shown), page, number)


def _of_script(fence: Fence, page: Path) -> Iterator[Command]:
    line, number = "", 0
    for offset, text in enumerate(fence.content.splitlines()):
        number = number if line else fence.line_number + offset
        line += text.strip()
        if line.endswith("\\"):
            line = line[:-1]
            continue
        if line and not line.startswith("#"):
            yield Command(line, "", page, number)
        line = ""
