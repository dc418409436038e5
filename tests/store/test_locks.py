import fcntl
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cvmbench.errors import UsageError
from cvmbench.store.store import Store

HOLD = """
import sys
from pathlib import Path
from cvmbench.store.store import Store
with Store.open(Path(sys.argv[1])) as store, store.lock_run("a-run"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_run_that_another_process_holds(store: Store, store_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert store.active_runs() == ["a-run"]
        with (
            pytest.raises(UsageError, match="is being worked on") as caught,
            store.lock_run("a-run"),
        ):
            pytest.fail("the lock was given twice")
        assert f"The process {holder.pid} holds it." in caught.value.why
        with store.lock_run("another-run"):
            assert store.active_runs() == ["a-run", "another-run"]
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert store.active_runs() == [], "the lock ends with its process"
    with store.lock_run("a-run"):
        assert store.active_runs() == ["a-run"]


def test_a_lock_leaves_no_file(store: Store) -> None:
    with pytest.raises(RuntimeError, match="inside"), store.lock_run("a-run"):
        raise RuntimeError("inside")
    assert list(store.locks.iterdir()) == []
    assert store.active_runs() == []


def test_one_process_cannot_hold_a_run_twice(store: Store) -> None:
    with store.lock_run("a-run"):
        with pytest.raises(UsageError), store.lock_run("a-run"):
            pytest.fail("the lock was given twice")
        assert store.active_runs() == ["a-run"]


def test_asking_who_is_active_does_not_hinder_anyone(store: Store) -> None:
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            store.active_runs()

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    try:
        for _ in range(200):
            with store.lock_run("a-run"):
                pass
    finally:
        stop.set()
        for thread in asking:
            thread.join()


def test_two_holders_at_once_never_happen(store: Store) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        done = 0
        while done < 30:
            try:
                with store.lock_run("a-run"):
                    inside.append(number)
                    most.append(len(inside))
                    inside.remove(number)
                    done += 1
            except UsageError:
                continue

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 120
    assert max(most) == 1


def test_a_lock_file_that_its_last_holder_removes_is_made_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.locks / "a-run.lock"
    really_lock = fcntl.flock
    opened: list[int] = []

    def lock_after_removal(handle: int, operation: int) -> None:
        if not opened:
            path.unlink()
        opened.append(handle)
        really_lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", lock_after_removal)
    with store.lock_run("a-run"):
        assert len(opened) == 2
        assert store.active_runs() == ["a-run"]


@pytest.mark.parametrize("key", ["../escape", "", "a/b", "a.lock"])
def test_what_is_no_key_is_no_file_either(store: Store, key: str) -> None:
    with pytest.raises(ValueError, match="not the key of a run"), store.lock_run(key):
        pytest.fail("locked")
