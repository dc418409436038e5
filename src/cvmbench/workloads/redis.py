"""redis in the guest, driven by redis-benchmark from outside: SET, then GET."""

from __future__ import annotations

import csv
import re
from io import StringIO

from pydantic import Field

from cvmbench.guest.command import Command
from cvmbench.units import Better, Metric
from cvmbench.workloads.contract import Parameters, Place, Samples, Surroundings, Workload
from cvmbench.workloads.parsing import bounded, expect, number

_HEADER = [
    "test",
    "rps",
    *(f"{which}_latency_ms" for which in ("avg", "min", "p50", "p95", "p99", "max")),
]
_LINE = re.compile(r'"[^"\n]*"(?:,"[^"\n]*"){7}')
_LATENCIES = ("avg", "p50", "p95", "p99")


def _metrics() -> tuple[Metric, ...]:
    metrics = []
    for operation in ("set", "get"):
        title = operation.upper()
        metrics.append(
            Metric(
                f"{operation}_rps",
                "1/s",
                Better.HIGHER,
                f"{title} requests answered per second",
                headline=operation == "set",
            )
        )
        metrics += [
            Metric(
                f"{operation}_latency_{which}",
                "s",
                Better.LOWER,
                f"{'mean' if which == 'avg' else which} latency of {title} (a whole pipeline)",
            )
            for which in _LATENCIES
        ]
    return tuple(metrics)


class RedisParameters(Parameters):
    """Parameters of redis and redis-benchmark."""

    set_requests: int = Field(
        default=10_000, ge=1_000, le=10**9, description="SET requests in a run"
    )
    get_requests: int = Field(
        default=10_000, ge=1_000, le=10**9, description="GET requests in a run"
    )
    value_bytes: int = Field(default=8, ge=1, le=2**20, description="size of a value in bytes")
    pipeline: int = Field(
        default=1, ge=1, le=1024, description="requests sent before an answer is read"
    )
    clients: int = Field(
        default=50, ge=1, le=1000, description="connections (redis-benchmark's default 50)"
    )
    client_threads: int = Field(default=1, ge=1, le=128, description="threads of the client")
    io_threads: int | None = Field(
        default=1, ge=1, le=128, description="network threads of the server; none means all vCPUs"
    )

    @classmethod
    def paper(cls) -> RedisParameters:
        """20 M SET and 50 M GET of 8 bytes, pipeline 24 (Yan and Gopalan 2023, section III-E).

        Their server was multi-threaded, by an unstated number: all vCPUs here. Castellotti 2023
        used redis-benchmark's defaults: 100,000 requests of 3 bytes, no pipeline, one thread.
        """
        return cls(set_requests=20_000_000, get_requests=50_000_000, pipeline=24, io_threads=None)


class RedisBenchmark(Workload[RedisParameters]):
    """redis-benchmark (7.x, 8.x) against a redis-server that keeps everything in memory.

    The client can be the limit; its CPU use is recorded with the trial by the runner.
    """

    name = "redis"
    summary = "SET and GET on an in-memory database over the network (redis)"
    place = Place.CLIENT_SERVER
    packages = ("redis-server",)
    client_packages = ("redis-tools",)
    client_programs = ("redis-benchmark",)
    parameters = RedisParameters
    metrics = _metrics()

    def server(self, p: RedisParameters, around: Surroundings) -> Command:
        """A redis-server in the foreground, without persistence, open to the measured network."""
        return Command(
            (
                "redis-server",
                "--bind", around.server_host,
                "--port", str(around.server_port),
                "--protected-mode", "no",
                "--daemonize", "no",
                "--save", "",
                "--appendonly", "no",
                "--io-threads", str(p.io_threads or min(around.vcpus, 128)),
            )
        )  # fmt: skip

    def measure(self, p: RedisParameters, around: Surroundings) -> tuple[Command, Command]:
        """SET, then GET, so that it finds its key: two runs, since they may differ in number.

        redis-benchmark ends with a status at an error of the server.
        """
        benchmark = [
            "redis-benchmark",
            "-h", around.client_host,
            "-p", str(around.client_port),
            "--csv",
            "-d", str(p.value_bytes),
            "-P", str(p.pipeline),
            "-c", str(p.clients),
        ]  # fmt: skip
        if p.client_threads > 1:
            benchmark += ["--threads", str(p.client_threads)]
        return (
            Command((*benchmark, "-t", "set", "-n", str(p.set_requests))),
            Command((*benchmark, "-t", "get", "-n", str(p.get_requests))),
        )

    def parse(self, stdout: str, p: RedisParameters) -> Samples:
        """Rates in 1/s and latencies in s from two CSV tables of one row each, and nothing else."""
        tool = "redis-benchmark"
        lines = bounded(stdout, tool).split("\n")
        expect(
            len(lines) == 5 and lines.pop() == "" and all(map(_LINE.fullmatch, lines)),
            tool,
            "it is not two CSV tables of one row each",
        )
        rows = list(csv.reader(StringIO("\n".join(lines)), strict=True))
        expect(rows[0] == _HEADER and rows[2] == _HEADER, tool, "its columns have other names")
        return {**_row(rows[1], "SET", tool), **_row(rows[3], "GET", tool)}

    def duration_s(self, p: RedisParameters) -> float:
        """At 10,000 round trips and at most 100,000 requests a second, about an emulated guest."""
        requests = p.set_requests + p.get_requests
        return requests / min(10_000 * p.pipeline, 100_000) + 0.2


def _row(row: list[str], operation: str, tool: str) -> dict[str, tuple[float]]:
    """The samples of one row; its latencies must be in order."""
    expect(row[0] == operation, tool, f"it has no row for {operation} where it should be")
    rate, *latencies = (
        number(cell, tool, f"{column} of {operation}")
        for cell, column in zip(row[1:], _HEADER[1:], strict=True)
    )
    average, least, p50, p95, p99, most = latencies
    expect(
        least <= p50 <= p95 <= p99 <= most and least <= average <= most,
        tool,
        f"the latencies of {operation} are not in order",
    )
    prefix = operation.lower()
    in_ms = zip(_LATENCIES, (average, p50, p95, p99), strict=True)
    return {f"{prefix}_rps": (rate,)} | {
        f"{prefix}_latency_{which}": (value / 1000,) for which, value in in_ms
    }
