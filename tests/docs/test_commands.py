"""Every command that the documentation shows does what a reader expects of it."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest

from cvmbench.guest.image.keys import default_key_directory
from tests.docs.kinds import COVERED, MADE, Kind, bare, kinds
from tests.docs.pages import ROOT, Command, commands, pages
from tests.docs.session import Session

EVERY = [command for page in pages() for command in commands(page)]
NEED_GUESTS = {command.page for command in EVERY if Kind.GUEST in kinds(command)}


def may_fail(page: Path) -> set[Command]:
    """The commands after which the page asks for the status, and so tells what it is."""
    return {one for one, other in pairwise(commands(page)) if other.line == "echo $?"}


@pytest.mark.parametrize("command", EVERY, ids=str)
def test_a_command_is_of_exactly_one_kind(command: Command) -> None:
    assert len(kinds(command)) == 1, f"{command}: say in kinds.py how it is tested"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_commands_that_start_no_guest_work(page: Path, tmp_path: Path, filled_store: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    places = {
        "CVMBENCH_STORE": str(filled_store),
        "CVMBENCH_DATA": str(tmp_path / "data"),
        "CVMBENCH_CACHE": str(tmp_path / "cache"),
    }
    session = Session(page, folder, places)
    for command in commands(page):
        if not {Kind.GUEST, Kind.COVERED} & set(kinds(command)):
            session.run(command, may_fail=command in may_fail(page))


@pytest.mark.guest
@pytest.mark.parametrize("page", sorted(NEED_GUESTS), ids=lambda page: page.name)
def test_commands_that_run_guests_work(page: Path, tmp_path: Path, image: object) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    # The image was made with the keys of this installation; reports go elsewhere.
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "keys").symlink_to(default_key_directory())
    places = {
        "CVMBENCH_STORE": str(tmp_path / "results.sqlite"),
        "CVMBENCH_DATA": str(tmp_path / "data"),
    }
    session = Session(page, folder, places)
    for command in commands(page):
        if kinds(command)[0] in {Kind.AS_IT_IS, Kind.NEEDS_A_RUN, Kind.GUEST}:
            session.run(command, may_fail=command in may_fail(page))


@pytest.mark.parametrize("command", EVERY, ids=str)
def test_what_is_covered_elsewhere_names_tests_that_exist(command: Command) -> None:
    if not {Kind.MAKE, Kind.COVERED} & set(kinds(command)):
        assert not [known for known in COVERED if bare(command).startswith(known)]
        return
    [covered] = [known for known in COVERED if bare(command).startswith(known)]
    assert COVERED[covered] or covered in MADE
    for test in COVERED[covered]:
        path, _, name = test.partition("::")
        tree = ast.parse((ROOT / path).read_text())
        assert name in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}, test


def test_the_readme_shows_commands() -> None:
    shown = {bare(command) for command in EVERY if command.page == ROOT / "README.md"}
    assert {"make demo", "make test"} <= shown
