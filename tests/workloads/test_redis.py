from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.workloads.contract import Surroundings
from cvmbench.workloads.redis import RedisBenchmark, RedisParameters


def test_the_studys_values() -> None:
    paper = RedisParameters.paper()
    assert (paper.set_requests, paper.get_requests) == (20_000_000, 50_000_000)
    assert (paper.value_bytes, paper.pipeline, paper.io_threads) == (8, 24, None)


def test_the_server_listens_on_the_measured_network_and_keeps_nothing(around: Surroundings) -> None:
    server = RedisBenchmark().server(RedisParameters.paper(), around)
    assert server.argv == (
        "redis-server", "--bind", "192.0.2.2", "--port", "5201", "--protected-mode", "no",
        "--daemonize", "no", "--save", "", "--appendonly", "no", "--io-threads", "6",
    )  # fmt: skip


def test_the_client_sets_before_it_gets_each_with_its_own_number(around: Surroundings) -> None:
    commands = RedisBenchmark().measure(RedisParameters.paper(), around)
    lines = [" ".join(command.argv) for command in commands]
    assert [line[-18:] for line in lines] == ["-t set -n 20000000", "-t get -n 50000000"]
    for line in lines:
        assert line.startswith("redis-benchmark -h 198.51.100.7 -p 40001 --csv ")
        assert "-d 8 -P 24" in line
        assert "--threads" not in line
    for command in RedisBenchmark().measure(RedisParameters(client_threads=4), around):
        assert "--threads 4" in " ".join(command.argv)


def test_rates_and_latencies_in_seconds(recorded: Callable[[str], str]) -> None:
    text = recorded("redis-benchmark-8.0.2-pipelined.txt")
    samples = RedisBenchmark().parse(text, RedisParameters())
    assert samples["set_rps"] == (784376.50,)
    assert samples["get_rps"] == (996047.88,)
    assert samples["set_latency_avg"] == pytest.approx((0.001047,))
    assert samples["get_latency_p99"] == pytest.approx((0.007823,))


@pytest.mark.parametrize("version", ["7.0.15", "8.0.2"])
def test_errors_of_the_server_give_no_number(recorded: Callable[[str], str], version: str) -> None:
    text = recorded(f"redis-benchmark-{version}-server-out-of-memory.txt")
    with pytest.raises(TrialFailure) as caught:
        RedisBenchmark().parse(text, RedisParameters())
    assert caught.value.kind is FailureKind.OUTPUT_NOT_UNDERSTOOD


def test_the_wrong_order_of_operations_is_refused(recorded: Callable[[str], str]) -> None:
    lines = recorded("redis-benchmark-7.0.15-set-get.txt").splitlines()
    swapped = "\n".join([lines[2], lines[3], lines[0], lines[1], ""])
    with pytest.raises(TrialFailure, match="no row for SET"):
        RedisBenchmark().parse(swapped, RedisParameters())


def test_percentiles_out_of_order_are_refused(recorded: Callable[[str], str]) -> None:
    lines = recorded("redis-benchmark-7.0.15-set-get.txt").splitlines()
    cells = lines[1].split(",")
    cells[4], cells[6] = cells[6], cells[4]
    lines[1] = ",".join(cells)
    with pytest.raises(TrialFailure, match="latencies of SET are not in order"):
        RedisBenchmark().parse("\n".join([*lines, ""]), RedisParameters())


@pytest.mark.parametrize("values", [{"pipeline": 0}, {"clients": 0}, {"value_bytes": 0}])
def test_values_out_of_range_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        RedisParameters.model_validate(values)
