from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from cvmbench.runner.obstacles import disturbances
from cvmbench.store.store import Store


def test_a_busy_host_is_told(tmp_path: Path) -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        time.sleep(0.5)
        with Store.open(tmp_path / "results.sqlite") as store:
            told = disturbances(store)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert any(text.startswith("This host is busy") for text in told)


def test_another_run_at_the_same_time_is_told(tmp_path: Path) -> None:
    with Store.open(tmp_path / "results.sqlite") as store, store.lock_run("other-1"):
        told = disturbances(store)
    assert any("Another run is being worked on at the same time: other-1" in t for t in told)
