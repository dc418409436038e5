"""sysbench's prime number test: pure computation on all vCPUs."""

from __future__ import annotations

import re

from pydantic import Field

from cvmbench.guest.command import Command
from cvmbench.units import Better, Metric
from cvmbench.workloads.contract import Parameters, Samples, Surroundings, Workload
from cvmbench.workloads.parsing import DECIMAL, agree, bounded, expect, number, the_match

_THREADS = re.compile(r"^Number of threads: ([0-9]{1,6})$", re.MULTILINE)
_PRIME_LIMIT = re.compile(r"^Prime numbers limit: ([0-9]{1,12})$", re.MULTILINE)
_RATE = re.compile(r"^    events per second: +(\S+)$", re.MULTILINE)
_TIME = re.compile(r"^    total time: +(\S+)s$", re.MULTILINE)
_EVENTS = re.compile(r"^    total number of events: +(\S+)$", re.MULTILINE)
_END = re.compile(rf"^    execution time \(avg/stddev\): +{DECIMAL}/{DECIMAL}\s*\Z", re.MULTILINE)


class SysbenchCpuParameters(Parameters):
    """Parameters of `sysbench cpu`."""

    time_s: int = Field(default=2, ge=1, le=3600, description="length of a run in seconds")
    threads: int | None = Field(
        default=None, ge=1, le=4096, description="threads; none means all vCPUs"
    )
    prime_limit: int = Field(
        default=10_000, ge=3, le=10_000_000, description="each event tests all numbers up to this"
    )

    @classmethod
    def paper(cls) -> SysbenchCpuParameters:
        """All vCPUs for 30 s with the default limit (Yan and Gopalan 2023, section III-D)."""
        return cls(time_s=30)


class SysbenchCpu(Workload[SysbenchCpuParameters]):
    """`sysbench cpu` (versions 1.0.x); one event tests every number up to the limit for primes."""

    name = "sysbench-cpu"
    summary = "prime number computation on all vCPUs (sysbench)"
    packages = ("sysbench",)
    parameters = SysbenchCpuParameters
    metrics = (
        Metric(
            "events_per_second",
            "1/s",
            Better.HIGHER,
            "prime searches finished per second, all threads together",
            headline=True,
        ),
    )

    def measure(self, p: SysbenchCpuParameters, around: Surroundings) -> tuple[Command]:
        """`sysbench cpu run` bounded by time, not by a number of events."""
        argv = (
            "sysbench",
            "cpu",
            f"--threads={p.threads or around.vcpus}",
            f"--time={p.time_s}",
            "--events=0",
            f"--cpu-max-prime={p.prime_limit}",
            "run",
        )
        return (Command(argv),)

    def parse(self, stdout: str, p: SysbenchCpuParameters) -> Samples:
        """Events per second, checked against sysbench's own count of events and time.

        The two may differ by 5%: sysbench takes the time of the rate before it joins its threads.
        """
        tool = "sysbench"
        text = bounded(stdout, tool)
        the_match(_END, text, tool, "the thread fairness at its end")
        threads = int(the_match(_THREADS, text, tool, "the number of threads")[1])
        expect(p.threads in (None, threads), tool, f"it ran {threads} threads, not {p.threads}")
        limit = int(the_match(_PRIME_LIMIT, text, tool, "the prime limit")[1])
        expect(limit == p.prime_limit, tool, f"its prime limit was {limit}, not {p.prime_limit}")
        rate = number(the_match(_RATE, text, tool, "events per second")[1], tool, "the rate")
        time_s = number(the_match(_TIME, text, tool, "the total time")[1], tool, "the time")
        events = number(the_match(_EVENTS, text, tool, "the number of events")[1], tool, "events")
        expect(time_s > 0.9 * p.time_s, tool, f"it ran {time_s:g} s instead of {p.time_s} s")
        agree(rate, events / time_s, 0.05, tool, "its rate and its number of events per time")
        return {"events_per_second": (rate,)}

    def duration_s(self, p: SysbenchCpuParameters) -> float:
        """The time given, and a fraction of a second to start."""
        return p.time_s + 0.5
