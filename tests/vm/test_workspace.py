from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cvmbench.errors import HostCannotError
from cvmbench.vm.workspace import open_workspace, sweep

HOLD = """
import subprocess, sys, time
from pathlib import Path
from cvmbench.vm.workspace import open_workspace
with open_workspace(Path(sys.argv[1])) as where:
    child = subprocess.Popen(
        ["qemu-system-x86_64", "-S", "-nodefaults", "-display", "none",
         "-pidfile", str(where.folder / "pid")],
        start_new_session=True, stdout=subprocess.DEVNULL, env=where.environment)
    while not (where.folder / "pid").exists():
        time.sleep(0.05)
    print(where.id, child.pid, flush=True)
    time.sleep(600)
"""


def start_owner(parent: Path) -> tuple[subprocess.Popen[str], str, int]:
    owner = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(parent)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    with owner.stdout as told:
        identity, child = told.readline().split()
    return owner, identity, int(child)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_workspace_is_gone_at_its_end(tmp_path: Path) -> None:
    with open_workspace(tmp_path) as where:
        (where.folder / "file").write_text("x")
        assert len(where.id) <= 15, "a network interface's name has at most 15 characters"
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_living_owners_workspace_is_left_alone(tmp_path: Path) -> None:
    owner, identity, child = start_owner(tmp_path)
    try:
        assert sweep(tmp_path) == []
        assert (tmp_path / identity).exists()
        assert is_running(child)
    finally:
        os.kill(child, signal.SIGKILL)
        owner.kill()
        owner.wait()
    assert sweep(tmp_path) == [identity]


def test_everything_of_a_killed_owner_is_swept(tmp_path: Path) -> None:
    owner, identity, child = start_owner(tmp_path)
    owner.kill()
    owner.wait()
    assert is_running(child), "this QEMU was started without setpriv, so it outlives its owner"
    assert sweep(tmp_path) == [identity]
    assert not is_running(child)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    assert sweep(tmp_path) == []


def test_sweeping_never_disturbs_a_machine_that_is_being_made(tmp_path: Path) -> None:
    done = threading.Event()
    swept: list[str] = []

    def keep_sweeping() -> None:
        while not done.is_set():
            swept.extend(sweep(tmp_path))

    sweepers = [threading.Thread(target=keep_sweeping) for _ in range(2)]
    for sweeper in sweepers:
        sweeper.start()
    try:
        for _ in range(30):
            with open_workspace(tmp_path) as where:
                assert where.folder.is_dir()
                assert (where.folder / "lock").exists()
    finally:
        done.set()
        for sweeper in sweepers:
            sweeper.join()
    assert swept == []


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(HostCannotError, match="No folder for a machine"),
        open_workspace(tmp_path / "file" / "machines"),
    ):
        pass
