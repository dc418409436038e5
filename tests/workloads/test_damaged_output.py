"""Whatever happens to a tool's output, a parser gives the right numbers or says it cannot."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.workloads.contract import AnyWorkload, Parameters, Samples
from cvmbench.workloads.fio_randread import FioRandread, FioRandreadParameters
from cvmbench.workloads.iperf3_tcp import Iperf3Tcp, Iperf3TcpParameters
from cvmbench.workloads.mbw import Mbw, MbwParameters
from cvmbench.workloads.redis import RedisBenchmark, RedisParameters
from cvmbench.workloads.sysbench_cpu import SysbenchCpu, SysbenchCpuParameters


@dataclass(frozen=True)
class Case:
    """Recorded output, what it was measured with, and the numbers in it that become samples."""

    file: str
    workload: AnyWorkload
    parameters: Parameters
    numbers: tuple[str, ...]
    """Patterns whose only group is one number that a sample comes from."""

    @property
    def text(self) -> str:
        return (Path(__file__).parent / "recorded" / self.file).read_text()

    def parse(self, text: str) -> Samples:
        return self.workload.parse(text, self.parameters)


_SYSBENCH = (r"events per second: +(\S+)", r"total time: +(\S+)s", r"number of events: +(\S+)")
_MBW = (r"0\tMethod.*Copy: (\S+)", r"1\tMethod.*Elapsed: (\S+)", r"AVG.*Elapsed: (\S+)")
_FIO = (r'"iops" : (\S+),', r'"total_ios" : (\S+),', r'"clat_ns".*\n.*\n.*\n.*"mean" : (\S+),',
        r'"io_bytes" : (\S+),', r'"runtime" : ([0-9]+),', r"READ: bw=([0-9]+)",
        r"io=([0-9]+)")  # fmt: skip
_REDIS = (r'"SET","([^"]+)"', r'"GET","([^"]+)"', r'"SET","[^"]+","([^"]+)"')
_IPERF3 = (r'"sum_received":\s*\{(?s:.*?)"bits_per_second":\s*([^,\s]+)',
           r'"sum_received":\s*\{(?s:.*?)"bytes":\s*([^,\s]+)')  # fmt: skip

_SYSBENCH_ASKED = SysbenchCpuParameters()
_FIO_ASKED = FioRandreadParameters(runtime_s=2, depth=32, jobs=2)
_MBW_ASKED = MbwParameters(array_mib=64, runs=3)
_IPERF3_ASKED = Iperf3TcpParameters(time_s=2, streams=2)
CASES = [
    Case("sysbench-1.0.20-debian12-2threads.txt", SysbenchCpu(), _SYSBENCH_ASKED, _SYSBENCH),
    Case("sysbench-1.0.20-debian13-2threads.txt", SysbenchCpu(), _SYSBENCH_ASKED, _SYSBENCH),
    Case("mbw-1.2.2-debian12-memcpy.txt", Mbw(), _MBW_ASKED, _MBW),
    Case("mbw-1.2.2-debian13-memcpy.txt", Mbw(), _MBW_ASKED, _MBW),
    Case("fio-3.33-randread-2jobs.txt", FioRandread(), _FIO_ASKED, _FIO),
    Case("fio-3.39-randread-2jobs.txt", FioRandread(), _FIO_ASKED, _FIO),
    Case("redis-benchmark-7.0.15-set-get.txt", RedisBenchmark(), RedisParameters(), _REDIS),
    Case("redis-benchmark-8.0.2-set-get.txt", RedisBenchmark(), RedisParameters(), _REDIS),
    Case("redis-benchmark-7.0.15-pipelined.txt", RedisBenchmark(), RedisParameters(), _REDIS),
    Case("redis-benchmark-8.0.2-pipelined.txt", RedisBenchmark(), RedisParameters(), _REDIS),
    Case("iperf3-3.12-tcp-2streams.txt", Iperf3Tcp(), _IPERF3_ASKED, _IPERF3),
    Case("iperf3-3.18-tcp-2streams.txt", Iperf3Tcp(), _IPERF3_ASKED, _IPERF3),
]  # fmt: skip
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
every_number = pytest.mark.parametrize(
    ("case", "pattern"),
    [(case, pattern) for case in CASES for pattern in case.numbers],
    ids=lambda value: value.file if isinstance(value, Case) else value,
)


def assert_not_understood(parse: Callable[[], Samples]) -> None:
    with pytest.raises(TrialFailure) as caught:
        parse()
    assert caught.value.kind is FailureKind.OUTPUT_NOT_UNDERSTOOD
    assert len(str(caught.value)) < 500


def assert_same_or_not_understood(case: Case, damaged: str) -> None:
    try:
        samples = case.parse(damaged)
    except TrialFailure:
        assert_not_understood(lambda: case.parse(damaged))
    else:
        assert samples == case.parse(case.text)


@every_case
def test_real_output_gives_every_metric_in_a_positive_number(case: Case) -> None:
    samples = case.parse(case.text)
    assert set(samples) == {metric.name for metric in case.workload.metrics}
    assert all(0 < value < 1e12 for values in samples.values() for value in values)
    assert all(samples.values())


@every_case
@given(data=st.data())
def test_cut_anywhere(case: Case, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(case.text) - 1))
    assert_same_or_not_understood(case, case.text[:end])


@every_case
def test_cut_before_the_end_of_what_counts_is_not_understood(case: Case) -> None:
    # Every line but blank ones and those of fio's disk statistics is needed.
    text = case.text.split("\n\nDisk stats")[0].rstrip()
    for share in range(20):
        cut = text[: len(text) * share // 20]
        assert_not_understood(partial(case.parse, cut))
    assert_not_understood(lambda: case.parse(text[: text.rindex("\n")]))


@every_case
@given(data=st.data())
def test_lines_dropped_or_doubled(case: Case, data: st.DataObject) -> None:
    lines = case.text.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    times = data.draw(st.sampled_from([0, 2, 3]))
    assert_same_or_not_understood(
        case, "".join(lines[:at] + lines[at : at + 1] * times + lines[at + 1 :])
    )


@every_case
@given(data=st.data())
def test_digits_changed_to_letters(case: Case, data: st.DataObject) -> None:
    digits = [match.start() for match in re.finditer("[0-9]", case.text)]
    at = data.draw(st.sampled_from(digits))
    letter = data.draw(st.sampled_from("OlSeE_٣ \x00"))
    assert_same_or_not_understood(case, case.text[:at] + letter + case.text[at + 1 :])


@every_case
@given(data=st.data())
def test_bytes_put_in_anywhere(case: Case, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(case.text)))
    junk = data.draw(st.text(alphabet='abcXYZ\x1b\ufffd{}[]",:\n\t', min_size=1, max_size=20))
    assert_same_or_not_understood(case, case.text[:at] + junk + case.text[at:])


@every_case
def test_twice_the_same_output_is_not_understood(case: Case) -> None:
    assert_not_understood(lambda: case.parse(case.text + case.text))


@every_number
@pytest.mark.parametrize(
    "other",
    ["nan", "NaN", "inf", "-inf", "Infinity", "-Infinity", "-1", "-1234.5", "0", "0.000", "1e999",
     "9" * 30, "9" * 5000, "1e400", "1_000", "", "null", "true", '"7"', "[7]", "{}", "٣٤٥",
     "0x1F", "1 234"],
)  # fmt: skip
def test_what_is_no_possible_number_is_not_understood(case: Case, pattern: str, other: str) -> None:
    match = re.search(pattern, case.text)
    assert match
    start, end = match.span(1)
    assert_not_understood(lambda: case.parse(case.text[:start] + other + case.text[end:]))


@every_number
def test_a_decimal_comma_is_not_understood(case: Case, pattern: str) -> None:
    match = re.search(pattern, case.text)
    assert match
    start, end = match.span(1)
    localised = match[1].replace(".", ",") if "." in match[1] else match[1] + ",5"
    assert_not_understood(lambda: case.parse(case.text[:start] + localised + case.text[end:]))


@every_case
def test_grouped_thousands_and_commas_everywhere_are_not_understood(case: Case) -> None:
    localised = re.sub(r"(?<=[0-9])\.(?=[0-9])", ",", case.text)
    assert_not_understood(lambda: case.parse(localised))


@every_case
@pytest.mark.parametrize(
    "junk",
    ["", "\n", "\0" * 2**20, "x" * 2**20, "7 " * 2**19, "\n" * 2**20, "[" * 2**20,
     '{"a":' * 2**18, "{\n" * 2**19, "\ufffd" * 2**20, '"' * 2**20, "0\tMethod: MEMCPY\t" * 2**16,
     "Number of threads: " * 2**16, "[" * 50_000 + "]" * 50_000, "null", "[]", "{}", '{"error":',
     "\n   READ: bw=1B/s (" * 2**16, " " * 2**20 + "x", "A" * (5 * 2**20)],
    ids=lambda junk: repr(junk[:12]),
)  # fmt: skip
def test_junk_is_not_understood(case: Case, junk: str) -> None:
    assert_not_understood(lambda: case.parse(junk))


@every_case
@settings(max_examples=50)
@given(junk=st.text(max_size=2000))
def test_any_text_is_not_understood(case: Case, junk: str) -> None:
    assert_not_understood(lambda: case.parse(junk))


@every_case
@pytest.mark.parametrize("other", CASES, ids=lambda other: other.file)
def test_output_of_another_tool_is_not_understood(case: Case, other: Case) -> None:
    if type(case.workload) is not type(other.workload):
        assert_not_understood(lambda: case.parse(other.text))
