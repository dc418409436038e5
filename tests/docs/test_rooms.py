"""The source is divided into rooms; each imports only from itself and from those below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import cvmbench
from tests.docs.pages import ROOT, tables

PACKAGE = ROOT / "src" / "cvmbench"
ROOMS = [
    tuple(name.strip(" `") for name in row[0].split(","))
    for row in tables(ROOT / "docs" / "how-it-works.md")["rooms"]
]
"""From the top of the house down; rooms of one floor may import each other."""

DEPTH = {name: depth for depth, names in enumerate(ROOMS) for name in names}


def imported_rooms(path: Path) -> Iterator[tuple[str, int]]:
    """The rooms that a module imports from, anywhere in it, with line numbers."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            room = rest.partition(".")[0]
            # `from cvmbench import __version__` is no room.
            if package == cvmbench.__name__ and not room.startswith("__"):
                yield room, getattr(node, "lineno", 0)


def test_every_room_is_named_in_the_documentation() -> None:
    there = {
        entry.name.removesuffix(".py")
        for entry in PACKAGE.iterdir()
        if entry.suffix == ".py" or (entry / "__init__.py").exists()
    }
    assert there - {"__init__", "__main__"} == set(DEPTH)


@pytest.mark.parametrize("room", DEPTH)
def test_a_room_imports_from_below_only(room: str) -> None:
    place = PACKAGE / room
    modules = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    upwards = [
        f"{module.relative_to(PACKAGE)}:{line} imports {other}"
        for module in modules
        for other, line in imported_rooms(module)
        if other != room and DEPTH[other] < DEPTH[room]
    ]
    assert not upwards
