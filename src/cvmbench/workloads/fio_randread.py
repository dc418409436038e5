"""fio: random reads of 4 KiB from the raw data disk, past the guest's page cache."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field

from cvmbench.guest.command import Command
from cvmbench.units import Better, Metric, format_quantity
from cvmbench.workloads.contract import Parameters, Samples, Surroundings, Workload
from cvmbench.workloads.parsing import (
    Count,
    Magnitude,
    ToolModel,
    agree,
    bounded,
    expect,
    number,
    read_json,
    read_model,
    the_match,
)

_MIB = 2**20
_BLOCK = 4096
_JOB = "randread"
_GROUP = re.compile(
    r"^   READ: bw=(?P<bw>\S{1,40}?)(?P<bw_unit>[KMGTP]i)?B/s \([^)\n]*\), [^,\n]*, "
    r"io=(?P<io>\S{1,40}?)(?P<io_unit>[KMGTP]i)?B \([^)\n]*\), run=[0-9]+-[0-9]+msec$",
    re.MULTILINE,
)
_FACTORS = {None: 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}


class FioRandreadParameters(Parameters):
    """Parameters of the random read."""

    runtime_s: int = Field(default=2, ge=1, le=3600, description="length of a run in seconds")
    depth: int = Field(default=32, ge=1, le=4096, description="requests in flight, for each job")
    jobs: int = Field(default=1, ge=1, le=256, description="processes that read at the same time")
    area_mib: int = Field(
        default=64, ge=1, le=2**24, description="part of the disk that is read, in MiB"
    )

    @classmethod
    def paper(cls) -> FioRandreadParameters:
        """4 KiB, depth 32, 4 jobs (Castellotti 2023, table 3).

        The study states neither its length nor its area; 30 s are those of Yan and Gopalan 2023,
        and 1 GiB is ours.
        """
        return cls(runtime_s=30, depth=32, jobs=4, area_mib=1024)


class FioRandread(Workload[FioRandreadParameters]):
    """fio 3.x with libaio and O_DIRECT, so that the depth asked for is the depth on the device."""

    name = "fio-randread"
    summary = "random 4 KiB reads from the data disk (fio, libaio, direct)"
    packages = ("fio",)
    parameters = FioRandreadParameters
    metrics = (
        Metric("iops", "1/s", Better.HIGHER, "reads per second, summed over jobs", headline=True),
        Metric(
            "latency_mean",
            "s",
            Better.LOWER,
            "mean completion latency of all reads at the depth given",
        ),
    )

    def unavailable(self, p: FioRandreadParameters, around: Surroundings) -> str:
        """The disk must hold the area."""
        if p.area_mib * _MIB <= around.data_disk_bytes:
            return ""
        return (
            f"An area of {p.area_mib} MiB does not fit on the data disk of "
            f"{format_quantity(around.data_disk_bytes, 'B')}; give a larger disk or a smaller "
            "`area_mib`."
        )

    def prepare(self, p: FioRandreadParameters, around: Surroundings) -> tuple[Command, ...]:
        """Write the whole area once with random data: a hole is answered without any reading."""
        fill = _fio(p, around, name="fill", rw="write", bs=_MIB, iodepth=4, numjobs=1)
        argv = (*fill, "--refill_buffers", "--end_fsync=1")
        return (Command(argv),)

    def measure(self, p: FioRandreadParameters, around: Surroundings) -> tuple[Command]:
        """Both output formats: JSON has the jobs one by one, the text has fio's own group total."""
        read = _fio(p, around, name=_JOB, rw="randread", bs=_BLOCK, iodepth=p.depth, numjobs=p.jobs)
        timing = ("--time_based", f"--runtime={p.runtime_s}", "--output-format=json,normal")
        return (Command((*read, *timing)),)

    def parse(self, stdout: str, p: FioRandreadParameters) -> Samples:
        """IOPS summed over all jobs, and the mean latency weighted by their reads.

        Every job must have run as asked, without errors; the sum of bytes must be the group
        total that fio prints itself, within its rounding to three digits (1%).
        """
        tool = "fio"
        # fio prints the JSON, the only lines that are a brace alone, between notes and text. No
        # regular expression: one that spans lines takes quadratic time on hostile output.
        _, opening, rest = bounded(stdout, tool).partition("\n{\n")
        body, closing, text = rest.partition("\n}\n")
        expect(bool(opening and closing), tool, "it has no whole JSON result")
        report = read_model(read_json(f"{{{body}}}", tool), _Report, tool)
        expect(
            len(report.jobs) == p.jobs,
            tool,
            f"it has {len(report.jobs)} jobs instead of {p.jobs}",
        )
        for job in report.jobs:
            job.check(p, tool)
        reads = [job.read for job in report.jobs]
        group = the_match(_GROUP, text, tool, "the group total of reads")
        total_bytes = number(group["io"], tool, "the group's size") * _FACTORS[group["io_unit"]]
        total_rate = number(group["bw"], tool, "the group's rate") * _FACTORS[group["bw_unit"]]
        io_bytes = sum(read.io_bytes for read in reads)
        slowest_s = max(read.runtime for read in reads) / 1000
        agree(io_bytes, total_bytes, 0.01, tool, "the sum of its jobs and its group's size")
        agree(io_bytes / slowest_s, total_rate, 0.01, tool, "its jobs and its group's rate")
        count = sum(read.total_ios for read in reads)
        latency_ns = sum(read.clat_ns.mean * read.total_ios for read in reads) / count
        return {"iops": (sum(read.iops for read in reads),), "latency_mean": (latency_ns / 1e9,)}

    def duration_s(self, p: FioRandreadParameters) -> float:
        """The time given, and what fio takes to start its jobs and to end."""
        return p.runtime_s + 1.0


def _fio(
    p: FioRandreadParameters,
    around: Surroundings,
    *,
    name: str,
    rw: str,
    bs: int,
    iodepth: int,
    numjobs: int,
) -> tuple[str, ...]:
    """The argv that the filling and the measured run share."""
    return (
        "fio",
        f"--name={name}",
        f"--filename={around.data_disk}",
        # A missing disk would otherwise become a file in /dev, and memory be measured.
        "--allow_file_create=0",
        f"--rw={rw}",
        f"--bs={bs}",
        f"--size={p.area_mib * _MIB}",
        "--direct=1",
        # fio's default engine is synchronous and silently ignores the depth.
        "--ioengine=libaio",
        f"--iodepth={iodepth}",
        f"--numjobs={numjobs}",
    )


class _Latency(ToolModel):
    mean: Magnitude
    n: Count = Field(alias="N")


class _Direction(ToolModel):
    io_bytes: Count
    iops: float = Field(ge=0, lt=1e18, allow_inf_nan=False)
    runtime: Count
    total_ios: Count
    short_ios: Count
    drop_ios: Count


class _Reads(_Direction):
    slat_ns: _Latency
    clat_ns: _Latency
    lat_ns: _Latency


class _Options(ToolModel):
    """The options as fio understood them; it prints them as text."""

    rw: Literal["randread"]
    bs: str
    direct: Literal["1"]
    ioengine: Literal["libaio"]
    iodepth: str
    numjobs: str


class _Job(ToolModel):
    jobname: Literal["randread"]
    error: Literal[0]
    options: _Options = Field(alias="job options")
    read: _Reads
    write: _Direction

    def check(self, p: FioRandreadParameters, tool: str) -> None:
        """Raise unless this job did what was asked and its numbers agree with each other."""
        asked = (str(_BLOCK), str(p.depth), str(p.jobs))
        did = (self.options.bs, self.options.iodepth, self.options.numjobs)
        expect(did == asked, tool, "a job ran with another block size, depth or number of jobs")
        read = self.read
        expect(self.write.total_ios == 0, tool, "a job wrote though it should only read")
        expect(read.total_ios > 0, tool, "a job read nothing")
        expect(read.short_ios == 0 and read.drop_ios == 0, tool, "a job had short or lost reads")
        expect(read.runtime >= 900 * p.runtime_s, tool, f"a job ended after {read.runtime} ms")
        expect(read.io_bytes == read.total_ios * _BLOCK, tool, "a job's bytes and reads disagree")
        expect(read.clat_ns.n == read.total_ios, tool, "a job's latencies and reads disagree")
        agree(read.iops, read.total_ios * 1000 / read.runtime, 0.01, tool, "a job's IOPS and reads")
        parts_ns = read.slat_ns.mean + read.clat_ns.mean
        agree(parts_ns, read.lat_ns.mean, 0.001, tool, "a job's submission, completion and total")


class _Report(ToolModel):
    jobs: list[_Job] = Field(min_length=1, max_length=256)
