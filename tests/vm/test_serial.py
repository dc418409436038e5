from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cvmbench.vm.serial import HEAD_BYTES, TAIL_BYTES, SerialLog


def test_ready_is_seen_even_in_pieces() -> None:
    log = SerialLog()
    for piece in (b"[    1.0] x\r\ncvmben", b"ch: re", b"ady 6.51\r", b"\n"):
        assert not log.ready.is_set()
        log.feed(piece)
    assert log.ready.is_set()


def test_a_line_that_only_mentions_it_is_not_ready() -> None:
    log = SerialLog()
    log.feed(b"cvmbench: ready or not, here I come\ncvmbench: readyness 5\n")
    assert not log.ready.is_set()


def test_a_panic_is_seen_with_the_kernels_words() -> None:
    log = SerialLog()
    log.feed(b"[   12.3] Kernel panic - not syncing: sysrq triggered crash\r\n")
    assert log.panicked.is_set()
    assert log.panic_message == "sysrq triggered crash"


def test_the_kernels_first_line_is_seen() -> None:
    log = SerialLog()
    log.feed(b"SeaBIOS\r\n[    0.000000] Linux version 6.12.1 (gcc)\r\n")
    assert log.kernel.is_set()


def test_an_endless_line_takes_bounded_memory() -> None:
    log = SerialLog()
    for _ in range(200):
        log.feed(b"\xff" * 65536)
    assert log.total_bytes == 200 * 65536
    assert len(log.content()) < HEAD_BYTES + TAIL_BYTES + 65536 + 100
    assert b"bytes left out" in log.content()
    log.feed(b"\ncvmbench: ready 1.00\n")
    assert log.ready.is_set()


@given(st.lists(st.binary(max_size=300), max_size=50))
def test_short_logs_are_kept_whole(pieces: list[bytes]) -> None:
    log = SerialLog()
    for piece in pieces:
        log.feed(piece)
    assert log.content() == b"".join(pieces)
