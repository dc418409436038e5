from __future__ import annotations

from collections.abc import Callable

import pytest

from cvmbench.errors import TrialFailure
from cvmbench.workloads.contract import Surroundings
from cvmbench.workloads.mbw import Mbw, MbwParameters

_ASKED = MbwParameters(array_mib=64, runs=3)


def test_the_studys_values() -> None:
    assert MbwParameters.paper() == MbwParameters(array_mib=1024, runs=10)


def test_the_memcpy_test_alone_is_run(around: Surroundings) -> None:
    assert Mbw().measure(_ASKED, around)[0].argv == ("mbw", "-t0", "-n", "3", "64")


def test_every_copy_is_a_sample_in_bytes_per_second(recorded: Callable[[str], str]) -> None:
    text = recorded("mbw-1.2.2-debian13-memcpy.txt")
    (values,) = Mbw().parse(text, _ASKED).values()
    assert len(values) == 3
    # Independent arithmetic: 64 MiB in the printed times, which have steps of 10 µs.
    for value, line in zip(values, text.splitlines()[2:5], strict=True):
        elapsed_s = float(line.split("\t")[2].removeprefix("Elapsed: "))
        assert value == pytest.approx(64 * 1024 * 1024 / elapsed_s, rel=0.6e-5 / elapsed_s)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (MbwParameters(array_mib=64, runs=4), "did 3 runs instead of 4"),
        (MbwParameters(array_mib=32, runs=3), "copied 64 MiB instead of 32"),
    ],
)
def test_a_run_that_was_not_asked_for_is_refused(
    recorded: Callable[[str], str], asked: MbwParameters, reason: str
) -> None:
    with pytest.raises(TrialFailure, match=reason):
        Mbw().parse(recorded("mbw-1.2.2-debian12-memcpy.txt"), asked)


def test_lines_of_other_tests_are_refused(recorded: Callable[[str], str]) -> None:
    with pytest.raises(TrialFailure, match="another test"):
        Mbw().parse(recorded("mbw-1.2.2-debian12-all-tests.txt"), _ASKED)


def test_times_and_bandwidths_may_differ_by_their_rounding() -> None:
    """Seen on a busy machine: 64 MiB in 1.01991 s is 62.7506 MiB/s, printed as 62.750."""
    row = "\tMethod: MEMCPY\tElapsed: 1.01991\tMiB: 64.00000\tCopy: 62.750 MiB/s\n"
    text = (
        "Long uses 8 bytes. Allocating 2*8388608 elements = 134217728 bytes of memory.\n"
        "Getting down to business... Doing 1 runs per test.\n"
        f"0{row}AVG{row}"
    )
    samples = Mbw().parse(text, MbwParameters(array_mib=64, runs=1))
    assert samples["copy_bandwidth"] == (62.750 * 2**20,)
