"""The store in a real PostgreSQL server, started for these tests where one is installed."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from cvmbench.errors import FailureKind, StoreError, TrialFailure
from cvmbench.store.faults import WrongStateError
from cvmbench.store.records import (
    BootStatus,
    NewRun,
    RawFile,
    Recovered,
    TrialResult,
    TrialStatus,
)
from cvmbench.store.schema import metadata
from cvmbench.store.store import Store

UNPRIVILEGED = "nobody"
"""PostgreSQL refuses to run as root; tests of root run it as this user."""


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """The address of a private server that listens on a Unix socket alone."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    programs = [shutil.which(name) for name in ("initdb", "pg_ctl", "postgres")]
    if not all(programs):
        pytest.skip("no PostgreSQL server is installed")
    initdb, pg_ctl, _ = map(str, programs)
    user = UNPRIVILEGED if os.geteuid() == 0 else None
    # Not below pytest's own directory: that one is closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="cvmbench-pg-"))
    if user:
        account = pwd.getpwnam(user)
        os.chown(folder, account.pw_uid, account.pw_gid)

    def call(*argv: str) -> None:
        done = subprocess.run(
            argv, user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert done.returncode == 0, done.stderr.decode()

    data = str(folder / "data")
    try:
        call(initdb, "-D", data, "-U", "cvmbench", "-A", "trust", "-N", "-E", "UTF8")
        options = f"-c listen_addresses= -c unix_socket_directories={folder}"
        call(pg_ctl, "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql+psycopg://cvmbench@/postgres?host={folder}"
        finally:
            call(pg_ctl, "-D", data, "-w", "-m", "fast", "stop")
    finally:
        shutil.rmtree(folder)


def test_a_run_from_plan_to_frame_in_postgresql(
    server_url: str,
    tmp_path: Path,
    new_run: Callable[..., NewRun],
    measured: Callable[..., TrialResult],
) -> None:
    with Store.open_server(server_url, tmp_path / "pg") as store:
        with store.reading() as connection:
            assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        store.add_run(new_run())
        run = store.add_run(new_run())
        assert (tuple(store.arms(run.id)), tuple(store.workloads(run.id))) == (
            new_run().arms,
            new_run().workloads,
        )
        first, second, *_ = store.trials(run.id)
        boot = store.begin_boot(run.id, first.block_id, first.arm_id)
        store.boot_ready(boot.id, ready_s=8.5, evidence={"a": [1]}, facts={})
        assert store.begin_trial(first.id, boot.id) == 1
        result = measured(raw=(RawFile("stdout-1", b"1.5"),))
        store.finish_trial(first.id, result)
        with pytest.raises(WrongStateError):
            store.finish_trial(first.id, result)
        store.begin_trial(second.id, boot.id)
        with pytest.raises(TrialFailure):
            store.finish_trial(second.id, measured(samples={"rate": [[float("nan")]]}))
        store.end_trial(
            second.id, TrialStatus.FAILED, kind=FailureKind.GUEST_PANIC, reason="\0\udcff"
        )
        store.requeue_trial(second.id)
        store.begin_trial(second.id, boot.id)
        assert store.recover(run.id) == Recovered(1, 1)

    with Store.open_server(server_url, tmp_path / "pg") as store:
        assert store.run("last") == store.runs()[0]
        assert store.run(run.key).trials[TrialStatus.MEASURED] == 1
        assert [trial.attempts for trial in store.trials(run.id)][:2] == [1, 2]
        assert store.samples(run.id)["value"].to_list() == [1.5, 2.5, 3.5]
        row = store.trials_frame(run.id).row(0, named=True)
        assert row["started_at"] == result.started_at
        assert [boot.status for boot in store.boots(run.id)] == [BootStatus.LOST]
        ((_, sha256, _),) = store.raw_files(trial_id=first.id)
        assert store.read_raw(sha256) == b"1.5"
        assert [event.kind for event in store.events(run.id)] == ["recovered"]


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="cannot be used"):
        Store.open_server(f"postgresql+psycopg:///x?host={tmp_path}", tmp_path / "pg")


@pytest.mark.parametrize(
    "url", ["no address of anything: secret", "postgresql+nothing://secret@x/"]
)
def test_an_address_that_is_none(url: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="address of the result store") as caught:
        Store.open_server(url, tmp_path)
    assert "secret" not in str(caught.value)


def test_a_driver_that_is_not_installed(tmp_path: Path) -> None:
    if importlib.util.find_spec("pg8000") is not None:
        pytest.skip("pg8000 is installed")
    with pytest.raises(StoreError, match="pg8000"):
        Store.open_server("postgresql+pg8000://x/", tmp_path)
