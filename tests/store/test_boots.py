import pytest

from cvmbench.errors import FailureKind
from cvmbench.store.faults import WrongStateError
from cvmbench.store.records import BootRef, BootStatus, RawFile, RunRow
from cvmbench.store.store import Store


def test_attempts_count_the_boots_of_one_arm_in_one_block(store: Store, run: RunRow) -> None:
    first, *_, last = store.trials(run.id)
    boots = [store.begin_boot(run.id, first.block_id, first.arm_id) for _ in range(3)]
    assert [boot.attempt for boot in boots] == [1, 2, 3]
    assert store.begin_boot(run.id, last.block_id, last.arm_id).attempt == 1


@pytest.fixture
def boot(store: Store, run: RunRow) -> BootRef:
    trial = store.trials(run.id)[0]
    return store.begin_boot(run.id, trial.block_id, trial.arm_id)


def test_a_boot_keeps_what_the_guest_proved_and_told(
    store: Store, run: RunRow, boot: BootRef
) -> None:
    store.boot_ready(boot.id, ready_s=9.25, evidence={"dmesg": ["a"]}, facts={"kernel": "6.12"})
    (running,) = store.boots(run.id)
    assert (running.status, running.ended_at) == (BootStatus.RUNNING, None)
    store.end_boot(boot.id, BootStatus.ENDED)
    (ended,) = store.boots(run.id)
    assert (ended.arm, ended.block, ended.attempt) == ("plain+swiotlb", 1, 1)
    assert (ended.ready_s, ended.evidence, ended.facts) == (
        9.25,
        {"dmesg": ["a"]},
        {"kernel": "6.12"},
    )
    assert ended.status is BootStatus.ENDED
    assert ended.ended_at is not None
    assert ended.ended_at >= ended.started_at


def test_a_failed_boot_keeps_kind_reason_and_logs(store: Store, run: RunRow, boot: BootRef) -> None:
    store.end_boot(
        boot.id,
        BootStatus.FAILED,
        kind=FailureKind.GUEST_PANIC,
        reason="not syncing: \udcff\0",
        raw=[RawFile("serial", b"Kernel panic")],
    )
    (failed,) = store.boots(run.id)
    assert (failed.kind, failed.reason) == ("guest panic", "not syncing: \ufffd\ufffd")
    assert failed.ready_s is None
    ((role, sha256, size),) = store.raw_files(boot_id=boot.id)
    assert (role, size, store.read_raw(sha256)) == ("serial", 12, b"Kernel panic")


def test_a_boot_ends_once(store: Store, boot: BootRef) -> None:
    store.end_boot(boot.id, BootStatus.ENDED)
    with pytest.raises(WrongStateError):
        store.end_boot(boot.id, BootStatus.FAILED)
    with pytest.raises(WrongStateError):
        store.boot_ready(boot.id, ready_s=1.0, evidence={}, facts={})
    with pytest.raises(ValueError, match="cannot end as running"):
        store.end_boot(boot.id, BootStatus.RUNNING)


def test_evidence_of_a_guest_that_was_not_verified_is_kept(
    store: Store, run: RunRow, boot: BootRef
) -> None:
    store.note_evidence(boot.id, {"checks": [{"what": "x", "holds": False}]})
    store.end_boot(boot.id, BootStatus.FAILED, kind="guest not verified", reason="It lied.")
    [row] = store.boots(run.id)
    assert row.evidence == {"checks": [{"what": "x", "holds": False}]}
    assert row.ready_s is None
    with pytest.raises(WrongStateError):
        store.note_evidence(boot.id, {})
