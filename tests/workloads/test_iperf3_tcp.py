from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Output
from cvmbench.workloads.contract import Surroundings
from cvmbench.workloads.iperf3_tcp import Iperf3Tcp, Iperf3TcpParameters

_ASKED = Iperf3TcpParameters(time_s=2, streams=2)
_VERSIONS = pytest.mark.parametrize("version", ["3.12", "3.18"])


def test_the_studys_values() -> None:
    expected = Iperf3TcpParameters(time_s=30, streams=32, buffer_bytes=131_072)
    assert Iperf3TcpParameters.paper() == expected


def test_server_and_client_meet(around: Surroundings) -> None:
    server = Iperf3Tcp().server(_ASKED, around)
    assert server.argv == ("iperf3", "-s", "-B", "192.0.2.2", "-p", "5201")
    client = " ".join(Iperf3Tcp().measure(_ASKED, around)[0].argv)
    assert client.startswith("iperf3 -c 198.51.100.7 -p 40001 -J ")
    assert "-t 2 -P 2 -l 131072" in client


@_VERSIONS
def test_received_bits_of_all_streams(recorded: Callable[[str], str], version: str) -> None:
    text = recorded(f"iperf3-{version}-tcp-2streams.txt")
    (rate,) = Iperf3Tcp().parse(text, _ASKED)["throughput"]
    # Independent arithmetic: the bytes of each stream over the time of the test.
    streams = json.loads(text)["end"]["streams"]
    received = sum(stream["receiver"]["bytes"] for stream in streams)
    assert rate == pytest.approx(received * 8 / 2.0, rel=0.01)


@_VERSIONS
def test_an_error_is_told_in_iperf3s_words(recorded: Callable[[str], str], version: str) -> None:
    text = recorded(f"iperf3-{version}-refused.txt")
    with pytest.raises(TrialFailure, match="unable to connect to server") as caught:
        Iperf3Tcp().parse(text, _ASKED)
    assert caught.value.kind is FailureKind.TOOL_FAILED
    complaint = Iperf3Tcp().complaint(Output(("iperf3",), 1, text, "", 0.1))
    assert "Connection refused" in complaint


def test_an_error_is_one_printable_line_of_bounded_length() -> None:
    text = json.dumps({"error": "\x1b[2J" + "boom\n" * 10_000})
    with pytest.raises(TrialFailure) as caught:
        Iperf3Tcp().parse(text, _ASKED)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_a_complaint_without_json_is_that_of_standard_error() -> None:
    output = Output(("iperf3",), 127, "junk", "iperf3: not found\n", 0.1)
    assert Iperf3Tcp().complaint(output) == "iperf3: not found"


@pytest.mark.parametrize(
    "asked",
    [
        Iperf3TcpParameters(time_s=2, streams=3),
        Iperf3TcpParameters(time_s=30, streams=2),
        Iperf3TcpParameters(time_s=2, streams=2, buffer_bytes=1460),
    ],
)
def test_a_run_that_was_not_asked_for_is_refused(
    recorded: Callable[[str], str], asked: Iperf3TcpParameters
) -> None:
    with pytest.raises(TrialFailure, match="than asked"):
        Iperf3Tcp().parse(recorded("iperf3-3.18-tcp-2streams.txt"), asked)


def test_a_udp_result_is_refused(recorded: Callable[[str], str]) -> None:
    with pytest.raises(TrialFailure, match="not understood"):
        Iperf3Tcp().parse(recorded("iperf3-3.12-udp.txt"), Iperf3TcpParameters(time_s=1, streams=2))


def test_streams_that_do_not_sum_up_are_refused(recorded: Callable[[str], str]) -> None:
    data = json.loads(recorded("iperf3-3.18-tcp-2streams.txt"))
    data["end"]["streams"][1]["receiver"]["bytes"] //= 2
    with pytest.raises(TrialFailure, match="do not sum up"):
        Iperf3Tcp().parse(json.dumps(data), _ASKED)
