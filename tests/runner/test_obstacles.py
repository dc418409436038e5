from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

from cvmbench.runner.obstacles import disturbances
from cvmbench.store.store import Store


def burn(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_a_busy_host_is_told(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    busy = [context.Process(target=burn, args=(6.0,)) for _ in range(2)]
    for process in busy:
        process.start()
    time.sleep(1)
    try:
        with Store.open(tmp_path / "results.sqlite") as store:
            told = disturbances(store)
    finally:
        for process in busy:
            process.kill()
            process.join()
    assert any(text.startswith("This host is busy") for text in told)


def test_another_run_at_the_same_time_is_told(tmp_path: Path) -> None:
    with Store.open(tmp_path / "results.sqlite") as store, store.lock_run("other-1"):
        told = disturbances(store)
    assert any("Another run is being worked on at the same time: other-1" in t for t in told)
