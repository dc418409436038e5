import fcntl
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cvmbench import __version__
from cvmbench.errors import StoreError
from cvmbench.store.faults import StoreFullError
from cvmbench.store.records import NewRun, TrialResult
from cvmbench.store.store import Store

NewRunOf = Callable[..., NewRun]
MountDisk = Callable[..., Path]


def test_a_store_is_made_with_a_private_folder(store_path: Path) -> None:
    with Store.open(store_path) as store:
        assert store.runs() == []
    assert stat.S_IMODE(store_path.parent.stat().st_mode) == 0o700


def test_what_was_stored_is_there_after_opening_again(store_path: Path, new_run: NewRunOf) -> None:
    with Store.open(store_path) as store:
        key = store.add_run(new_run()).key
    with Store.open(store_path, read_only=True) as store:
        assert [run.key for run in store.runs()] == [key]


def test_the_store_waits_for_the_disk_and_checks_references(store: Store) -> None:
    with store.reading() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "synchronous": 2,
        "busy_timeout": 30_000,
    }


def test_a_current_store_opens_without_alembic(store_path: Path) -> None:
    Store.open(store_path).close()
    check = (
        "import sys; from pathlib import Path; from cvmbench.store.store import Store; "
        f"Store.open(Path({str(store_path)!r})).close(); "
        "print([name for name in ('alembic', 'polars') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_many_processes_can_make_one_store_at_once(store_path: Path) -> None:
    make = (
        "from pathlib import Path; from cvmbench.store.store import Store; "
        f"Store.open(Path({str(store_path)!r})).close()"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", make], stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [(process.communicate()[1], process.returncode) for process in processes] == [
        ("", 0)
    ] * 4
    with Store.open(store_path, read_only=True) as store:
        assert store.runs() == []


def test_the_default_place_is_the_users_data_unless_the_environment_names_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CVMBENCH_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Store.default_path() == tmp_path / "cvmbench" / "results.sqlite"
    monkeypatch.setenv("CVMBENCH_STORE", str(tmp_path / "mine.sqlite"))
    assert Store.default_path() == tmp_path / "mine.sqlite"


def test_reading_a_store_that_was_never_made(store_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no result store at") as caught:
        Store.open(store_path, read_only=True)
    assert caught.value.remedy
    assert not store_path.parent.exists()


def test_a_read_only_store_cannot_be_written(store_path: Path, new_run: NewRunOf) -> None:
    Store.open(store_path).close()
    with (
        Store.open(store_path, read_only=True) as store,
        pytest.raises(StoreError, match="cannot be written"),
    ):
        store.add_run(new_run())


def test_a_store_on_a_read_only_disk_can_be_read(mount_disk: MountDisk, new_run: NewRunOf) -> None:
    disk = mount_disk(4096)
    path = disk / "results.sqlite"
    with Store.open(path) as store:
        key = store.add_run(new_run()).key
    mount_disk(4096, again_read_only=disk)
    with Store.open(path, read_only=True) as store:
        assert store.run("last").key == key
        assert store.active_runs() == []
    with pytest.raises(StoreError, match="cannot be written") as caught:
        Store.open(path)
    assert "CVMBENCH_STORE" in caught.value.remedy


def test_a_folder_that_cannot_be_written(mount_disk: MountDisk) -> None:
    disk = mount_disk(64)
    mount_disk(64, again_read_only=disk)
    for path in (disk / "results.sqlite", disk / "new" / "results.sqlite"):
        with pytest.raises(StoreError, match="cannot be written"):
            Store.open(path)


def test_a_path_through_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Not a directory"):
        Store.open(tmp_path / "file" / "results.sqlite")


def test_a_directory_instead_of_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a regular file"):
        Store.open(tmp_path)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_database(store_path: Path, read_only: bool) -> None:
    store_path.parent.mkdir()
    store_path.write_text("plain text, long enough to be looked at as a header\n" * 100)
    before = store_path.read_bytes()
    with pytest.raises(StoreError, match="is not a result store, or it is damaged"):
        Store.open(store_path, read_only=read_only)
    assert store_path.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(store_path: Path) -> None:
    store_path.parent.mkdir()
    with sqlite3.connect(store_path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    before = store_path.read_bytes()
    with pytest.raises(StoreError, match="some other program"):
        Store.open(store_path)
    assert store_path.read_bytes() == before


def test_a_newer_store_says_who_wrote_it(store_path: Path) -> None:
    Store.open(store_path).close()
    with sqlite3.connect(store_path) as later:
        later.execute("UPDATE alembic_version SET version_num = '9999'")
        later.execute("INSERT INTO schema_version VALUES ('9999', '7.1.0', '2031-01-01 00:00:00')")
    later.close()
    with pytest.raises(StoreError, match="newer than this program") as caught:
        Store.open(store_path)
    assert "cvmbench 7.1.0 brought it to schema 9999" in caught.value.why
    assert "cvmbench 7.1.0" in caught.value.remedy


def test_an_older_store_is_not_migrated_by_reading(store_path: Path) -> None:
    Store.open(store_path).close()
    with sqlite3.connect(store_path) as earlier:
        earlier.execute("UPDATE alembic_version SET version_num = '0000'")
    earlier.close()
    with pytest.raises(StoreError, match="older than this program"):
        Store.open(store_path, read_only=True)


def test_the_version_that_made_the_store_is_noted(store: Store) -> None:
    with store.reading() as connection:
        noted = connection.exec_driver_sql("SELECT version, tool_version FROM schema_version")
        assert [tuple(row) for row in noted] == [("0001", __version__)]


def test_a_store_that_stays_locked(store_path: Path, new_run: NewRunOf) -> None:
    with Store.open(store_path, timeout_s=0.2) as store:
        other = sqlite3.connect(store_path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is locked") as caught:
            store.add_run(new_run())
        assert "Another process" in caught.value.why
        assert store.runs() == [], "reading goes on meanwhile"
        other.execute("ROLLBACK")
        other.close()
        store.add_run(new_run())


def test_a_store_that_another_process_is_making(store_path: Path) -> None:
    store_path.parent.mkdir()
    handle = os.open(store_path.parent, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        with pytest.raises(StoreError, match="is locked"):
            Store.open(store_path, timeout_s=0.1)
    finally:
        os.close(handle)
    Store.open(store_path, timeout_s=0.1).close()


def test_no_room_for_a_new_store(mount_disk: MountDisk) -> None:
    with pytest.raises(StoreFullError, match=r"The disk that holds .* is full"):
        Store.open(mount_disk(32) / "results.sqlite")


def test_a_disk_that_fills_up_costs_the_trial_at_hand_only(
    mount_disk: MountDisk, new_run: NewRunOf, measured: Callable[..., TrialResult]
) -> None:
    disk = mount_disk(4096)
    with Store.open(disk / "results.sqlite") as store:
        run = store.add_run(new_run())
        ballast = disk / "ballast"
        ids = []
        for trial in store.trials(run.id):
            boot = store.begin_boot(run.id, trial.block_id, trial.arm_id)
            store.begin_trial(trial.id, boot.id)
            ids.append(trial.id)
        store.finish_trial(ids[0], measured())
        fill_up(ballast)
        big = measured(samples={"rate": [[float(n) for n in range(20_000)]]})
        with pytest.raises(StoreFullError) as caught:
            store.finish_trial(ids[1], big)
        assert "resume" in caught.value.remedy
        assert set(store.samples(run.id)["trial_id"]) == {ids[0]}

        ballast.unlink()
        store.finish_trial(ids[1], big)
        counted = store.samples(run.id).group_by("trial_id").len().sort("trial_id")
        assert counted.rows() == [(ids[0], 3), (ids[1], 20_000)]


def fill_up(ballast: Path) -> None:
    """Write to `ballast` until its disk takes no more."""
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        for _ in iter(lambda: file.write(bytes(4096)), 0):
            pass
