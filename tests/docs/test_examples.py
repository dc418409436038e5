"""The files that the pages tell a reader to write work as the pages say."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from cvmbench.campaign.reading import parse_campaign
from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.runner.jobs import jobs_of
from cvmbench.workloads.catalogue import GROUP, OWN, with_entry_points
from cvmbench.workloads.contract import AnyWorkload, Surroundings
from tests.docs.pages import ROOT, fences, files, pages

WORKLOADS = ROOT / "docs" / "workloads.md"

OPENSSL_3_0_19 = """\
+H:16384
+F:25:AES-128-GCM:5320794112.00
"""
"""`openssl speed -elapsed -mr -seconds 2 -bytes 16384 -evp aes-128-gcm` of Debian 12."""

CAMPAIGNS = [
    pytest.param(fence.content, id=f"{page.name}:{fence.line_number}")
    for page in pages()
    for fence in fences(page)
    if fence.language == "toml" and "[project]" not in fence.content
]


@pytest.mark.parametrize("text", CAMPAIGNS)
def test_a_campaign_on_a_page_is_valid(text: str) -> None:
    assert jobs_of(parse_campaign(text, "page").campaign)


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AnyWorkload:
    """The workload of the page, loaded by the entry point that the page declares."""
    written = files(WORKLOADS)
    (tmp_path / "cvmbench_openssl.py").write_text(written["cvmbench_openssl.py"])
    monkeypatch.syspath_prepend(tmp_path)
    declared = tomllib.loads(written["pyproject.toml"])["project"]["entry-points"][GROUP]
    points = [EntryPoint(name, value, GROUP) for name, value in declared.items()]
    return with_entry_points(OWN, points)["aes-gcm"]


@pytest.fixture
def around() -> Surroundings:
    return Surroundings(2, 2**30, "/dev/data", 2**28, "192.0.2.2", 5201, "192.0.2.2", 5201)


def test_the_workload_of_the_page_reads_real_output(
    workload: AnyWorkload, around: Surroundings
) -> None:
    quick = workload.parameters.quick()
    assert workload.measure(quick, around)[0].argv[:2] == ("openssl", "speed")
    assert workload.parse(OPENSSL_3_0_19, quick) == {"rate": (5320794112.0,)}
    assert workload.duration_s(workload.parameters.paper()) > workload.duration_s(quick)


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        OPENSSL_3_0_19.replace("+F:", "+G:"),
        OPENSSL_3_0_19.replace("16384", "1024"),
        OPENSSL_3_0_19.replace("5320794112.00", "nan"),
        OPENSSL_3_0_19 * 2,
    ],
)
def test_the_workload_of_the_page_reads_nothing_else(workload: AnyWorkload, damaged: str) -> None:
    with pytest.raises(TrialFailure) as caught:
        workload.parse(damaged, workload.parameters.quick())
    assert caught.value.kind is FailureKind.OUTPUT_NOT_UNDERSTOOD
