from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import EntryPoint, distributions
from pathlib import Path

import pytest

from cvmbench.errors import UsageError
from cvmbench.workloads.catalogue import (
    GROUP,
    OWN,
    BrokenWorkloadWarning,
    catalogue,
    find,
    with_entry_points,
)
from cvmbench.workloads.contract import AnyWorkload, Place, Surroundings

_MODULE = """
from cvmbench.guest.command import Command
from cvmbench.units import Better, Metric
from cvmbench.workloads.contract import Parameters, Workload

class Sleep(Workload):
    name = "sleep"
    summary = "does nothing for a while"
    packages = ()
    parameters = Parameters
    metrics = (Metric("time", "s", Better.LOWER, headline=True),)
    def measure(self, p, around): return (Command(("sleep", "1")),)
    def parse(self, stdout, p): return {"time": (1.0,)}
    def duration_s(self, p): return 1.0

class Abstract(Workload):
    name = "abstract"

class Taken(Sleep):
    name = "mbw"

class Misnamed(Sleep):
    name = "../Sleep"

class Headless(Sleep):
    name = "headless"
    metrics = (Metric("time", "s", Better.LOWER),)

class Packages(Sleep):
    name = "packages"
    packages = "fio"

class Typed(Sleep):
    name = "typed"
    parameters = dict

instance = Sleep()
number = 7
"""


@pytest.fixture(scope="module", autouse=True)
def _modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Importable modules of another package: one with workloads, and broken ones."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "acme_workloads.py").write_text(_MODULE)
    (folder / "acme_raises.py").write_text("raise RuntimeError('no \\x1b[2J licence')")
    (folder / "acme_exits.py").write_text("raise SystemExit(3)")
    (folder / "acme_syntax.py").write_text("def broken(:")
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


def points_of(site: Path, value: str) -> list[EntryPoint]:
    """The entry points of a distribution called `acme-cvm`, read from its metadata in `site`."""
    info = site / "acme_cvm-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-cvm\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nacme = {value}\n")
    (found,) = distributions(path=[str(site)])
    return list(found.entry_points)


@pytest.mark.parametrize("value", ["acme_workloads:Sleep", "acme_workloads:instance"])
def test_a_class_or_an_instance_of_another_package_is_taken_in(tmp_path: Path, value: str) -> None:
    workloads = with_entry_points(OWN, points_of(tmp_path, value))
    assert [*workloads] == [*(w.name for w in OWN), "sleep"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("acme_missing:Sleep", "No module named"),
        ("acme_workloads:Nothing", "Nothing"),
        ("acme_raises:Sleep", r"no \[2J licence"),
        ("acme_exits:Sleep", "SystemExit: 3"),
        ("acme_syntax:Sleep", "SyntaxError"),
        ("acme_workloads:number", "not a Workload"),
        ("acme_workloads:Abstract", "abstract"),
        ("acme_workloads:Taken", "'mbw' is taken"),
        ("acme_workloads:Misnamed", "lower-case words"),
        ("acme_workloads:Headless", "exactly one headline"),
        ("acme_workloads:Packages", "packages and programs"),
        ("acme_workloads:Typed", "subclass of Parameters"),
    ],
)
def test_a_broken_one_is_a_warning_that_names_its_package(
    tmp_path: Path, value: str, reason: str
) -> None:
    points = points_of(tmp_path, value)
    with pytest.warns(BrokenWorkloadWarning, match=reason) as caught:
        workloads = with_entry_points(OWN, points)
    assert [*workloads.values()] == [*OWN]
    (warning,) = caught
    assert isinstance(warning.message, BrokenWorkloadWarning)
    assert warning.message.distribution == "acme-cvm"
    assert "'acme-cvm'" in str(warning.message)
    assert str(warning.message).isprintable()


def test_find_gives_the_workload_of_that_name() -> None:
    for workload in OWN:
        assert find(workload.name) is workload


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"'sysbench-cpi'.*sysbench-cpu.*list workloads") as caught:
        find("sysbench-cpi")
    assert caught.value.exit_code == 2
    with pytest.raises(UsageError, match="Known: fio-randread"):
        find("\x1b[2J" + "q" * 10_000)


def test_the_catalogue_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        catalogue()["mbw"] = OWN[0]  # type: ignore[index]


@pytest.mark.parametrize("workload", OWN, ids=lambda workload: workload.name)
def test_our_own_keep_the_contract(workload: AnyWorkload, around: Surroundings) -> None:
    assert sum(metric.headline for metric in workload.metrics) == 1
    assert len({metric.name for metric in workload.metrics}) == len(workload.metrics)
    assert {metric.unit for metric in workload.metrics} <= {"s", "B/s", "bit/s", "1/s"}
    quick, paper = workload.parameters.quick(), workload.parameters.paper()
    assert workload.duration_s(quick) + workload.settle_s <= 4
    assert workload.duration_s(paper) > workload.duration_s(quick)
    assert workload.unavailable(quick, around) == ""
    assert (
        (workload.server(quick, around) is not None)
        == (workload.place is Place.CLIENT_SERVER)
        == bool(workload.client_programs)
    )
    for p in (quick, paper):
        for command in workload.measure(p, around):
            assert all(isinstance(word, str) and "\0" not in word for word in command.argv)
        assert workload.parameters.model_validate(p.model_dump()) == p


def test_no_warning_for_what_is_installed_here() -> None:
    catalogue.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(catalogue()) >= {w.name for w in OWN}
