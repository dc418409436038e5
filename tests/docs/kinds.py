"""How each command of the documentation is tested; a command of no kind fails a test."""

from __future__ import annotations

import re
import shlex
from enum import StrEnum

from tests.docs.pages import Command


class Kind(StrEnum):
    """What running a command needs."""

    AS_IT_IS = "run as it is"
    NEEDS_A_RUN = "run as it is, on a store that holds a run"
    ADAPTED = "run with the changes of `adapted`; no guest"
    GUEST = "run under the marker `guest`, with the changes of `adapted`"
    MAKE = "shown by `make -n`, and covered by the tests in `COVERED`"
    COVERED = "covered by the tests in `COVERED`"


_PATTERNS = {
    Kind.AS_IT_IS: (
        r"cvmbench (doctor|list|plan|runs|vm argv|image list|--help|--version)\b.*",
        r"\. \.venv/bin/activate",
        r"echo \$\?",
    ),
    Kind.NEEDS_A_RUN: (r"cvmbench (show|report|export)\b.*",),
    Kind.ADAPTED: (r"pip install .*", r"pytest .*", r"git clone .*", r"cd .*"),
    Kind.GUEST: (r"cvmbench (run|vm start|image build)\b.*",),
    Kind.MAKE: (r"make (demo|test|check|docs)",),
    Kind.COVERED: (r"cvmbench resume\b.*",),
}

COVERED = {
    "cvmbench resume": (
        "tests/cli/test_runs.py::test_a_run_killed_three_times_ends_with_every_trial_once",
        "tests/cli/test_runs.py::test_an_interrupted_run_says_how_to_go_on",
    ),
    "make demo": ("tests/cli/test_runs.py::test_a_run_ends_with_a_table_and_a_report",),
    "make docs": ("tests/docs/test_build.py::test_the_pages_build_without_a_warning",),
    # These two are what runs the tests.
    "make test": (),
    "make check": (),
}
"""Beginning of a command -> the tests that do what it does."""

MADE = {
    "make demo": ("tools/setup.sh demo", "cvmbench run quick"),
    "make test": ("tools/setup.sh test", "ruff check", "mypy", "pytest"),
    "make check": ("ruff check", "ruff format --check", "mypy"),
    "make docs": ("sphinx-build -W",),
}
"""Target -> what `make -n` must show."""

COMPARED = re.compile(r"cvmbench (list|plan|vm argv)\b.*")
"""Commands whose output is the same on every machine, and is compared with what a page shows."""

_TINY = (
    *("blocks=1", "iterations=1", "warm_up=0", "accelerator=tcg", "vm.data_disk=128 MiB"),
    'arms=["plain", "plain+swiotlb"]',
)


def bare(command: Command) -> str:
    """The command without comment and without variables set before it."""
    words = shlex.split(command.line, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    return " ".join(words)


def kinds(command: Command) -> list[Kind]:
    """The kinds whose patterns fit; exactly one must."""
    return [
        kind
        for kind, patterns in _PATTERNS.items()
        if any(re.fullmatch(pattern, bare(command)) for pattern in patterns)
    ]


def adapted(command: Command, *, root: str, plugins: str) -> str:
    """The line that is run in place of the command: smaller, and without network."""
    words = shlex.split(command.line, comments=True)
    match words:
        case ["cvmbench", "run", *_]:
            settings = [word for setting in _TINY for word in ("--set", setting)]
            return shlex.join([*words, *settings])
        case ["pip", "install", *rest]:
            offline = ["-q", "--no-index", "--no-deps", "--no-build-isolation", "--target", plugins]
            return shlex.join(["python", "-m", "pip", "install", *offline, *rest])
        case ["pytest", *rest]:
            collect = ["--collect-only", "-q", "-p", "no:cacheprovider", f"--rootdir={root}"]
            return shlex.join(["python", "-m", "pytest", *collect, *rest, f"{root}/tests"])
        case ["git", "clone", *_]:
            return shlex.join(["git", "clone", "-q", root, "cvmbench"])
        case _:
            return command.line
