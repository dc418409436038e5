"""iperf3 over TCP: how fast a client outside can send to a server in the guest."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Command, Output
from cvmbench.units import Better, Metric
from cvmbench.workloads.contract import (
    Parameters,
    Place,
    Samples,
    Surroundings,
    Workload,
    one_line,
)
from cvmbench.workloads.parsing import (
    Count,
    Magnitude,
    ToolModel,
    agree,
    expect,
    read_json,
    read_model,
)


class Iperf3TcpParameters(Parameters):
    """Parameters of iperf3 over TCP."""

    time_s: int = Field(default=2, ge=1, le=3600, description="length of a run in seconds")
    streams: int = Field(default=1, ge=1, le=128, description="parallel connections")
    buffer_bytes: int = Field(
        default=128 * 1024, ge=1, le=2**20, description="bytes handed to the kernel in one call"
    )

    @classmethod
    def paper(cls) -> Iperf3TcpParameters:
        """128 KiB, 32 streams, 30 s (Mathias 2024, section 3.3.2).

        Its 8 queues are a property of the VM's network card. Yan and Gopalan 2023 used one stream.
        """
        return cls(time_s=30, streams=32)


class Iperf3Tcp(Workload[Iperf3TcpParameters]):
    """iperf3 (3.12 and later), the client outside sending. From 3.16 on streams have threads.

    The CPU use and retransmissions that iperf3 reports are no metrics: the first counts the iperf3
    process alone, not the kernel's network work, and the second is mostly zero. Both are in the
    raw output.
    """

    name = "iperf3-tcp"
    summary = "TCP throughput into the guest (iperf3)"
    place = Place.CLIENT_SERVER
    packages = ("iperf3",)
    client_packages = ("iperf3",)
    client_programs = ("iperf3",)
    # Between two tests the server closes its port and opens it anew; a client that comes meanwhile
    # is told that the server is busy, or is reset. A slow guest needs a good part of a second.
    settle_s = 1.0
    parameters = Iperf3TcpParameters
    metrics = (
        Metric("throughput", "bit/s", Better.HIGHER, "payload received per second", headline=True),
    )

    def server(self, p: Iperf3TcpParameters, around: Surroundings) -> Command:
        """A server in the foreground that serves one test after another."""
        return Command(("iperf3", "-s", "-B", around.server_host, "-p", str(around.server_port)))

    def measure(self, p: Iperf3TcpParameters, around: Surroundings) -> tuple[Command]:
        """The client, with JSON output and no reports meanwhile."""
        argv = (
            "iperf3",
            "-c", around.client_host,
            "-p", str(around.client_port),
            "-J",
            "-i", "0",
            "-t", str(p.time_s),
            "-P", str(p.streams),
            "-l", str(p.buffer_bytes),
            "--connect-timeout", "10000",
        )  # fmt: skip
        return (Command(argv),)

    def parse(self, stdout: str, p: Iperf3TcpParameters) -> Samples:
        """Bits received per second over all streams; the streams must sum up to it.

        Raises a `TOOL_FAILED` failure with iperf3's own words if its result is an error: iperf3
        3.12 ends with status 0 even then.
        """
        tool = "iperf3"
        data = read_json(stdout, tool)
        if message := _error(data):
            raise TrialFailure(
                FailureKind.TOOL_FAILED,
                f"iperf3 reported an error: {message}.",
                remedy="See whether the guest's measured network is up and its port reachable.",
            )
        report = read_model(data, _Report, tool)
        test, end = report.start.test_start, report.end
        expect(
            (test.num_streams, test.duration, test.blksize)
            == (p.streams, p.time_s, p.buffer_bytes),
            tool,
            "it ran with another number of streams, length or buffer than asked",
        )
        expect(len(end.streams) == p.streams, tool, "its result does not have all streams")
        total = end.sum_received
        parts = sum(stream.receiver.bytes for stream in end.streams)
        expect(parts == total.bytes, tool, "its streams do not sum up to its total")
        expect(total.seconds > 0.9 * p.time_s, tool, f"it ended after {total.seconds:g} s")
        rate = total.bits_per_second
        agree(rate, 8 * total.bytes / total.seconds, 0.01, tool, "its rate and its bytes per time")
        return {"throughput": (rate,)}

    def complaint(self, output: Output) -> str:
        """With JSON output iperf3 writes its errors there, not on standard error."""
        try:
            message = _error(read_json(output.stdout, "iperf3"))
        except TrialFailure:
            message = ""
        return message or super().complaint(output)

    def duration_s(self, p: Iperf3TcpParameters) -> float:
        """The time given, and the exchange of results at its end."""
        return p.time_s + 0.5


def _error(data: Any) -> str:
    """The error that an iperf3 result carries, bounded; empty if it carries none."""
    if not isinstance(data, dict) or "error" not in data:
        return ""
    return one_line(str(data["error"])).rstrip(".") or "unnamed"


class _TestStart(ToolModel):
    protocol: Literal["TCP"]
    num_streams: Count
    blksize: Count
    duration: Count
    reverse: Literal[0]
    omit: Literal[0]


class _Start(ToolModel):
    test_start: _TestStart


class _Total(ToolModel):
    seconds: Magnitude
    bytes: Count
    bits_per_second: Magnitude


class _Received(ToolModel):
    bytes: Count


class _Stream(ToolModel):
    receiver: _Received


class _End(ToolModel):
    streams: list[_Stream] = Field(max_length=1024)
    sum_received: _Total


class _Report(ToolModel):
    start: _Start
    end: _End
