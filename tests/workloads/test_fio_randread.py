from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from cvmbench.errors import TrialFailure
from cvmbench.workloads.contract import Surroundings
from cvmbench.workloads.fio_randread import FioRandread, FioRandreadParameters

_ASKED = FioRandreadParameters(runtime_s=2, depth=32, jobs=2)
_VERSIONS = pytest.mark.parametrize("version", ["3.33", "3.39"])


def test_the_studys_values() -> None:
    paper = FioRandreadParameters.paper()
    assert (paper.depth, paper.jobs, paper.runtime_s) == (32, 4, 30)


def test_the_engine_keeps_the_depth_and_the_page_cache_is_passed_by(around: Surroundings) -> None:
    argv = FioRandread().measure(FioRandreadParameters.paper(), around)[0].argv
    for option in ("--ioengine=libaio", "--direct=1", "--iodepth=32", "--numjobs=4", "--bs=4096",
                   "--rw=randread", f"--filename={around.data_disk}", "--allow_file_create=0",
                   "--time_based", "--runtime=30"):  # fmt: skip
        assert option in argv
    assert "--group_reporting" not in argv


def test_the_area_read_is_the_area_filled(around: Surroundings) -> None:
    p = FioRandreadParameters(area_mib=100)
    (fill,) = FioRandread().prepare(p, around)
    (read,) = FioRandread().measure(p, around)
    assert "--rw=write" in fill.argv
    for option in ("--size=104857600", f"--filename={around.data_disk}"):
        assert option in fill.argv
        assert option in read.argv


def test_an_area_larger_than_the_disk_makes_it_unavailable(around: Surroundings) -> None:
    assert FioRandread().unavailable(FioRandreadParameters(area_mib=256), around) == ""
    assert "`area_mib`" in FioRandread().unavailable(FioRandreadParameters(area_mib=257), around)


@_VERSIONS
def test_all_jobs_count(recorded: Callable[[str], str], version: str) -> None:
    text = recorded(f"fio-{version}-randread-2jobs.txt")
    samples = FioRandread().parse(text, _ASKED)
    # Independent arithmetic, from the counts of the kernel's completions and the clock.
    data = json.loads(text[text.index("\n{") : text.index("\n}\n") + 2])
    counts = [(job["read"]["total_ios"], job["read"]["runtime"]) for job in data["jobs"]]
    assert len(counts) == 2
    expected = sum(ios / (ms / 1000) for ios, ms in counts)
    assert samples["iops"][0] == pytest.approx(expected, rel=1e-3)
    # Little's law: with all jobs' depth in flight, latency is depth over rate.
    assert samples["latency_mean"][0] == pytest.approx(2 * 32 / samples["iops"][0], rel=0.05)


@_VERSIONS
def test_a_job_missing_from_the_list_is_refused(
    recorded: Callable[[str], str], version: str
) -> None:
    text = recorded(f"fio-{version}-randread-2jobs.txt")
    start, end = text.index("\n{") + 1, text.index("\n}\n") + 2
    data = json.loads(text[start:end])
    del data["jobs"][1]
    cut = text[:start] + json.dumps(data, indent=2) + text[end:]
    with pytest.raises(TrialFailure, match="1 jobs instead of 2"):
        FioRandread().parse(cut, _ASKED)


def test_jobs_that_do_not_sum_up_to_fios_group_total_are_refused(
    recorded: Callable[[str], str],
) -> None:
    text = recorded("fio-3.39-randread-2jobs.txt")
    damaged = text.replace("io=752MiB", "io=376MiB")
    assert damaged != text
    with pytest.raises(TrialFailure, match="the sum of its jobs and its group's size disagree"):
        FioRandread().parse(damaged, _ASKED)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"error" : 0', '"error" : 5', "error"),
        ('"ioengine" : "libaio"', '"ioengine" : "psync"', "ioengine"),
        ('"iodepth" : "32"', '"iodepth" : "1"', "another block size, depth"),
        ('"short_ios" : 0', '"short_ios" : 1', "short or lost reads"),
    ],
)
def test_a_job_that_did_not_do_its_task_is_refused(
    recorded: Callable[[str], str], old: str, new: str, reason: str
) -> None:
    text = recorded("fio-3.33-randread-2jobs.txt")
    assert old in text
    with pytest.raises(TrialFailure, match=reason):
        FioRandread().parse(text.replace(old, new, 1), _ASKED)


def test_a_run_with_the_default_engine_is_refused(recorded: Callable[[str], str]) -> None:
    asked = _ASKED.model_copy(update={"runtime_s": 1})
    with pytest.raises(TrialFailure, match="ioengine"):
        FioRandread().parse(recorded("fio-3.33-no-ioengine.txt"), asked)


def test_a_run_that_ended_early_is_refused(recorded: Callable[[str], str]) -> None:
    asked = _ASKED.model_copy(update={"runtime_s": 30})
    with pytest.raises(TrialFailure, match="a job ended after 2001 ms"):
        FioRandread().parse(recorded("fio-3.33-randread-2jobs.txt"), asked)
