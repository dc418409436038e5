from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from cvmbench.errors import TrialFailure
from cvmbench.workloads.contract import Surroundings
from cvmbench.workloads.sysbench_cpu import SysbenchCpu, SysbenchCpuParameters


def test_the_studys_values() -> None:
    paper = SysbenchCpuParameters.paper()
    assert paper == SysbenchCpuParameters(time_s=30, threads=None, prime_limit=10_000)


def test_no_thread_count_means_all_vcpus(around: Surroundings) -> None:
    argv = SysbenchCpu().measure(SysbenchCpuParameters(), around)[0].argv
    assert "--threads=6" in argv
    assert "--time=2" in argv
    assert "--threads=3" in SysbenchCpu().measure(SysbenchCpuParameters(threads=3), around)[0].argv


def test_the_rate_is_sysbenchs_own(recorded: Callable[[str], str]) -> None:
    text = recorded("sysbench-1.0.20-debian12-2threads.txt")
    samples = SysbenchCpu().parse(text, SysbenchCpuParameters(threads=2))
    assert samples == {"events_per_second": (10406.49,)}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (SysbenchCpuParameters(threads=4), "ran 2 threads, not 4"),
        (SysbenchCpuParameters(time_s=30), r"ran 2\.000\d s instead of 30 s"),
        (SysbenchCpuParameters(prime_limit=20_000), "limit was 10000, not 20000"),
    ],
)
def test_a_run_that_was_not_asked_for_is_refused(
    recorded: Callable[[str], str], asked: SysbenchCpuParameters, reason: str
) -> None:
    with pytest.raises(TrialFailure, match=reason):
        SysbenchCpu().parse(recorded("sysbench-1.0.20-debian13-2threads.txt"), asked)


def test_a_rate_that_its_own_count_contradicts_is_refused(recorded: Callable[[str], str]) -> None:
    text = recorded("sysbench-1.0.20-debian12-2threads.txt").replace("10406.49", "20406.49")
    with pytest.raises(TrialFailure, match="disagree"):
        SysbenchCpu().parse(text, SysbenchCpuParameters())


@pytest.mark.parametrize("values", [{"threads": 0}, {"time_s": 0}, {"prime_limit": 2}, {"time": 3}])
def test_values_out_of_range_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        SysbenchCpuParameters.model_validate(values)
