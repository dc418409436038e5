import gzip
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cvmbench.errors import StoreError, UsageError
from cvmbench.store.artifacts import ContentFiles
from cvmbench.store.faults import StoreFullError
from cvmbench.store.records import RawFile, RunRow, TrialResult, TrialStatus
from cvmbench.store.store import Store

Begin = Callable[[RunRow, int], int]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary())
def test_contents_come_back_from_memory_and_from_files(store: Store, content: bytes) -> None:
    on_disk = store.place.with_name("raw")
    on_disk.write_bytes(content)
    kept = store.keep([RawFile("a", content), RawFile("b", on_disk)])
    expected = hashlib.sha256(content).hexdigest()
    assert kept == [("a", expected, len(content)), ("b", expected, len(content))]
    assert store.read_raw(expected) == content


def test_equal_contents_are_one_compressed_file_beside_the_database(
    store: Store, run: RunRow, begin: Begin, measured: Callable[..., TrialResult], store_path: Path
) -> None:
    content = b"the same line\n" * 10_000
    for index in (0, 1):
        store.end_trial(
            begin(run, index), TrialStatus.FAILED, reason="x", raw=[RawFile("stdout-1", content)]
        )
    sha256 = hashlib.sha256(content).hexdigest()
    files = [path for path in store_path.with_name("results.files").rglob("*") if path.is_file()]
    assert files == [store_path.with_name("results.files") / sha256[:2] / f"{sha256}.gz"]
    assert files[0].stat().st_size < len(content) / 50
    assert gzip.decompress(files[0].read_bytes()) == content


def test_a_file_larger_than_one_chunk(store: Store, tmp_path: Path) -> None:
    big = tmp_path / "serial.log"
    content = os.urandom(3 * 2**20 + 7)
    big.write_bytes(content)
    ((_, sha256, size),) = store.keep([RawFile("serial", big)])
    assert (size, store.read_raw(sha256)) == (len(content), content)


def test_raw_files_belong_to_a_trial_or_a_boot(store: Store) -> None:
    with pytest.raises(ValueError, match="one trial or to one boot"):
        store.raw_files()
    with pytest.raises(ValueError, match="one trial or to one boot"):
        store.raw_files(trial_id=1, boot_id=1)
    assert store.raw_files(trial_id=1) == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "AB" * 32, "", "ab" * 31])
def test_what_is_no_name_of_a_raw_file_is_not_looked_for(store: Store, name: str) -> None:
    with pytest.raises(UsageError, match="is not the name of a raw file"):
        store.read_raw(name)


def test_a_missing_and_a_damaged_raw_file(store: Store) -> None:
    ((_, sha256, _),) = store.keep([RawFile("stdout-1", b"content")])
    path = ContentFiles(store.files).path(sha256)
    whole = path.read_bytes()
    for damage in (b"not gzip", whole[:-3], whole[:12], gzip.compress(b"other"), b""):
        path.write_bytes(damage)
        with pytest.raises(StoreError, match="is damaged"):
            store.read_raw(sha256)
    path.unlink()
    with pytest.raises(StoreError, match="is not in the store"):
        store.read_raw(sha256)


def test_a_raw_file_that_cannot_be_read_is_named(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"No such file.*qemu\.log"):
        store.keep([RawFile("qemu-log", tmp_path / "qemu.log")])


def test_a_full_disk_keeps_no_half_file(
    mount_disk: Callable[..., Path], new_run: Callable[..., object]
) -> None:
    disk = mount_disk(1024)
    with Store.open(disk / "results.sqlite") as store:
        with pytest.raises(StoreFullError):
            store.keep([RawFile("stdout-1", os.urandom(2 * 2**20))])
        assert [path for path in store.files.rglob("*") if path.is_file()] == []
        store.keep([RawFile("stdout-1", b"small")])


def test_half_files_of_killed_processes_are_swept_when_they_are_old(store_path: Path) -> None:
    incoming = store_path.with_name("results.files") / "incoming"
    incoming.mkdir(parents=True)
    old, young = incoming / "old", incoming / "young"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 2 * 86400,) * 2)
    Store.open(store_path).close()
    assert [path.name for path in incoming.iterdir()] == ["young"]
