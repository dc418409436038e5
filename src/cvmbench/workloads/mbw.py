"""mbw: the bandwidth of memcpy between two large arrays, by one thread."""

from __future__ import annotations

import re

from pydantic import Field

from cvmbench.guest.command import Command
from cvmbench.units import Better, Metric, format_quantity
from cvmbench.workloads.contract import Parameters, Samples, Surroundings, Workload
from cvmbench.workloads.parsing import agree, bounded, expect, number, the_match

_MIB = 2**20
_ROW = re.compile(
    r"^(?P<run>[0-9]{1,6}|AVG)\tMethod: MEMCPY\tElapsed: (?P<elapsed>\S+)\t"
    r"MiB: (?P<mib>\S+)\tCopy: (?P<copy>\S+) MiB/s$",
    re.MULTILINE,
)
_START = re.compile(r"^Getting down to business\.\.\. Doing ([0-9]{1,6}) runs per test\.$", re.M)


class MbwParameters(Parameters):
    """Parameters of `mbw`."""

    array_mib: int = Field(
        default=64, ge=16, le=2**20, description="size of each of the two arrays in MiB"
    )
    runs: int = Field(
        default=10, ge=1, le=10_000, description="copies, each one sample (mbw's default 10)"
    )

    @classmethod
    def paper(cls) -> MbwParameters:
        """Arrays of 1024 MiB, as the memory suite of Misono et al. 2025 has it."""
        return cls(array_mib=1024)


class Mbw(Workload[MbwParameters]):
    """mbw's memcpy test (versions 1.x), one value for each copy.

    Its fixed-block test is left out: mbw 1.2, which Debian ships, copies the same source block
    again and again there, so that it measures a cache (corrected by mbw's authors in 2013).
    """

    name = "mbw"
    summary = "memory copy bandwidth of one thread (mbw, memcpy)"
    packages = ("mbw",)
    parameters = MbwParameters
    metrics = (
        Metric(
            "copy_bandwidth",
            "B/s",
            Better.HIGHER,
            "bytes copied per second; reading and writing count once",
            headline=True,
        ),
    )

    def unavailable(self, p: MbwParameters, around: Surroundings) -> str:
        """The two arrays must leave a quarter of the guest's memory to the rest of it."""
        if 2 * p.array_mib * _MIB <= 0.75 * around.memory_bytes:
            return ""
        return (
            f"Two arrays of {p.array_mib} MiB do not fit in a guest of "
            f"{format_quantity(around.memory_bytes, 'B')}; give it more memory or a smaller "
            "`array_mib`."
        )

    def measure(self, p: MbwParameters, around: Surroundings) -> tuple[Command]:
        """`mbw -t0`: the memcpy test alone."""
        return (Command(("mbw", "-t0", "-n", str(p.runs), str(p.array_mib))),)

    def parse(self, stdout: str, p: MbwParameters) -> Samples:
        """The bandwidth of every copy in B/s, checked against mbw's own times and average."""
        tool = "mbw"
        text = bounded(stdout, tool)
        announced = int(the_match(_START, text, tool, "the number of runs")[1])
        expect(announced == p.runs, tool, f"it did {announced} runs instead of {p.runs}")
        rows = list(_ROW.finditer(text))
        labels = [row["run"] for row in rows]
        expect(
            labels == [*map(str, range(p.runs)), "AVG"] and text.endswith("MiB/s\n"),
            tool,
            f"it has not one whole line for each of {p.runs} runs and for their average",
        )
        expect(text.count("Method:") == len(rows), tool, "it has lines of another test")
        elapsed, copied = [], []
        for row in rows:
            elapsed.append(number(row["elapsed"], tool, "an elapsed time"))
            copied.append(number(row["copy"], tool, "a bandwidth"))
            mib = number(row["mib"], tool, "the size")
            expect(mib == p.array_mib, tool, f"it copied {mib:g} MiB instead of {p.array_mib}")
            # mbw prints times in steps of 10 µs, and bandwidths in steps of 0.001 MiB/s.
            rounding = 0.6e-5 / elapsed[-1] + 0.6e-3 / copied[-1] + 1e-6
            agree(copied[-1], mib / elapsed[-1], rounding, tool, "a bandwidth and its time")
        *runs_s, average_s = elapsed
        agree(
            sum(runs_s) / p.runs,
            average_s,
            1.2e-5 / average_s + 1e-6,
            tool,
            "its average and its runs",
        )
        return {"copy_bandwidth": tuple(value * _MIB for value in copied[:-1])}

    def duration_s(self, p: MbwParameters) -> float:
        """As long as filling two arrays and copying takes at 1 GiB/s, about an emulated guest."""
        return (p.runs + 4) * p.array_mib / 1024 + 0.2
