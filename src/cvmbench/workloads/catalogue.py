"""All workloads by name: our own, and those that installed packages add.

A package adds one with the entry point group `cvmbench.workloads`; the entry point names a
`Workload` subclass or an instance of one.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

from cvmbench.campaign.suggest import nearest
from cvmbench.errors import UsageError
from cvmbench.units import Metric
from cvmbench.workloads.contract import AnyWorkload, Parameters, Place, Workload, one_line
from cvmbench.workloads.fio_randread import FioRandread
from cvmbench.workloads.iperf3_tcp import Iperf3Tcp
from cvmbench.workloads.mbw import Mbw
from cvmbench.workloads.redis import RedisBenchmark
from cvmbench.workloads.sysbench_cpu import SysbenchCpu

GROUP = "cvmbench.workloads"
"""Entry point group of third-party workloads."""

OWN: tuple[AnyWorkload, ...] = (
    SysbenchCpu(),
    Mbw(),
    FioRandread(),
    RedisBenchmark(),
    Iperf3Tcp(),
)
"""The workloads that come with cvmbench, in the order in which they are listed."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class BrokenWorkloadWarning(UserWarning):
    """A workload of another installed package cannot be used and is left out."""

    def __init__(self, distribution: str, entry_point: str, reason: str) -> None:
        self.distribution = distribution
        self.entry_point = entry_point
        self.reason = reason
        super().__init__(
            f"The workload {entry_point!r} of the package {distribution!r} was left out. "
            f"{reason}. Update or uninstall {distribution!r}."
        )


@cache
def catalogue() -> Mapping[str, AnyWorkload]:
    """Every usable workload by its name, ours first.

    A third-party one that cannot be used gives a `BrokenWorkloadWarning`, once a process.
    """
    return with_entry_points(OWN, entry_points(group=GROUP))


def find(name: str) -> AnyWorkload:
    """The workload called `name`. Raises `UsageError` with the nearest names if there is none."""
    workloads = catalogue()
    if name in workloads:
        return workloads[name]
    raise UsageError(
        f"There is no workload called {one_line(name, 60)!r}.",
        why=nearest(name, workloads),
        remedy="`cvmbench list workloads` lists them all.",
    )


def with_entry_points(
    own: Iterable[AnyWorkload], points: Iterable[EntryPoint]
) -> Mapping[str, AnyWorkload]:
    """`own` and what `points` name, by name; warns of and leaves out whatever is unusable."""
    workloads = {workload.name: workload for workload in own}
    # Sorted, so that which of two equal names is kept does not depend on the order of installation.
    for point in sorted(points, key=lambda p: (_distribution(p), p.name)):
        try:
            workload = _load(point)
            if workload.name in workloads:
                raise TypeError(f"the name {workload.name!r} is taken")
        # Code of others may raise anything at import, and may even try to end the process.
        except (Exception, SystemExit) as error:
            reason = one_line(f"{type(error).__name__}: {error}").rstrip(".")
            warnings.warn(
                BrokenWorkloadWarning(_distribution(point), point.name, reason), stacklevel=2
            )
        else:
            workloads[workload.name] = workload
    return MappingProxyType(workloads)


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "unknown"


def _load(point: EntryPoint) -> AnyWorkload:
    """The workload that an entry point names; TypeError if it does not keep the contract."""
    named = point.load()
    workload = named() if isinstance(named, type) else named
    if not isinstance(workload, Workload):
        raise TypeError(f"{point.value} is not a Workload")
    if not (isinstance(workload.name, str) and _NAME.fullmatch(workload.name)):
        raise TypeError("its name is not lower-case words joined by hyphens")
    if not isinstance(workload.summary, str) or not isinstance(workload.place, Place):
        raise TypeError("its summary or its place is missing or of a wrong type")
    for packages in (workload.packages, workload.client_packages, workload.client_programs):
        if not (isinstance(packages, tuple) and all(isinstance(p, str) for p in packages)):
            raise TypeError("its packages and programs are not tuples of names")
    if not (isinstance(workload.metrics, tuple) and workload.metrics):
        raise TypeError("its metrics are not a tuple, or none")
    if not all(isinstance(metric, Metric) for metric in workload.metrics):
        raise TypeError("its metrics are not all of the type Metric")
    if sum(metric.headline for metric in workload.metrics) != 1:
        raise TypeError("it does not have exactly one headline metric")
    if len({metric.name for metric in workload.metrics}) != len(workload.metrics):
        raise TypeError("two of its metrics have the same name")
    if not (isinstance(workload.parameters, type) and issubclass(workload.parameters, Parameters)):
        raise TypeError("its parameters are not a subclass of Parameters")
    workload.parameters.quick()
    workload.parameters.paper()
    return workload
