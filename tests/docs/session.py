"""A reader at a shell: runs the commands of a page in order, in a folder of their own."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.kinds import COMPARED, MADE, Kind, adapted, bare, kinds
from tests.docs.pages import ROOT, Command, files

_TIME_LIMIT_S = 900
_CHECKER = doctest.OutputChecker()
_LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Session:
    """The files that `page` tells its reader to write are in `folder`, as is a `.venv`."""

    page: Path
    folder: Path
    environment: Mapping[str, str]
    status: int = 0
    plugins: Path = field(init=False)

    def __post_init__(self) -> None:
        self.plugins = self.folder / "plugins"
        (self.folder / ".venv").symlink_to(sys.prefix)
        for name, content in files(self.page).items():
            (self.folder / name).write_text(content)

    def run(self, command: Command, *, may_fail: bool = False) -> None:
        """Run a command and hold status and output against the page."""
        [kind] = kinds(command)
        if bare(command) == "echo $?":
            assert command.shown.strip() == str(self.status), str(command)
            self.status = 0
            return
        if kind is Kind.MAKE:
            said = self._call(f"{command.line.partition('#')[0].strip()} -n", ROOT)
            for words in MADE[bare(command)]:
                assert words in said, f"{command}: make would not run {words!r}"
        elif bare(command).startswith("cd "):
            self.folder = self.folder / bare(command).removeprefix("cd ")
            assert self.folder.is_dir(), str(command)
            return
        else:
            line = adapted(command, root=str(ROOT), plugins=str(self.plugins))
            said = self._call(line, self.folder)
        assert "Traceback" not in said, f"{command}: {said}"
        assert self.status == 0 or may_fail, f"{command}: status {self.status}: {said}"
        if command.shown.strip() and COMPARED.fullmatch(bare(command)):
            same = _CHECKER.check_output(f"{command.shown}\n", said, _LOOSELY)
            assert same, f"{command}: the page shows\n{command.shown}\nbut it printed\n{said}"

    def _call(self, line: str, folder: Path) -> str:
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=folder,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "PYTHONPATH": str(self.plugins),
                "NO_COLOR": "1",
                "COLUMNS": "100",
                **self.environment,
            },
            # What a reader would type into the shell of `vm start`.
            input="exit\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIME_LIMIT_S,
            check=False,
        )
        self.status = done.returncode
        return done.stdout
