"""A stored run as a report sees it: everything read once, computed once, and then only shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cvmbench.analysis.boots import boot_values
from cvmbench.analysis.comparison import compare
from cvmbench.analysis.estimates import Estimate, estimates
from cvmbench.analysis.means import MeanEstimate, geometric_means
from cvmbench.analysis.verdicts import DEFAULT_THRESHOLD_PERCENT
from cvmbench.report.differences import Difference, differences, kernel_command_line
from cvmbench.store.records import (
    ArmRecord,
    BootRow,
    EventRow,
    RunRow,
    TrialRow,
    TrialStatus,
    WorkloadRecord,
)

if TYPE_CHECKING:
    from cvmbench.store.store import Store


@dataclass(frozen=True, slots=True)
class ArmView:
    """An arm, its place among the arms (which decides its colour), and how it differs."""

    name: str
    type: str
    baseline: bool
    place: int
    """0 for the baseline, then 1, 2, ... in the order of the campaign."""
    argv: tuple[str, ...]
    kernel_command_line: str
    differences: tuple[Difference, ...]
    """From the baseline, in its QEMU command line; empty for the baseline."""


@dataclass(frozen=True, slots=True)
class RunView:
    """All that a report of one run shows. `boot_values` is the frame of `analysis.boots`."""

    run: RunRow
    arms: tuple[ArmView, ...]
    workloads: tuple[WorkloadRecord, ...]
    boot_values: pl.DataFrame
    estimates: tuple[Estimate, ...]
    means: tuple[MeanEstimate, ...]
    trials: tuple[TrialRow, ...]
    boots: tuple[BootRow, ...]
    events: tuple[EventRow, ...]
    guests: tuple[BootRow, ...]
    """For every arm that became ready, its first boot that did: it carries the guest's facts."""
    threshold_percent: float

    @property
    def baseline(self) -> ArmView:
        """The arm all others are compared with."""
        return next(arm for arm in self.arms if arm.baseline)

    @property
    def compared(self) -> tuple[ArmView, ...]:
        """Every arm but the baseline."""
        return tuple(arm for arm in self.arms if not arm.baseline)

    @property
    def not_measured(self) -> tuple[TrialRow, ...]:
        """The trials without numbers, in plan order."""
        return tuple(t for t in self.trials if t.status is not TrialStatus.MEASURED)

    def headlines(self, arm: str) -> tuple[Estimate, ...]:
        """The headline estimates of `arm`, in the order of the campaign's workloads."""
        return tuple(e for e in self.estimates if e.arm == arm and e.headline)

    def mean(self, arm: str) -> MeanEstimate:
        """The geometric mean over workloads of `arm`."""
        return next(mean for mean in self.means if mean.arm == arm)


def load(store: Store, run: RunRow) -> RunView:
    """The view of a stored run. Raises StoreError if the store cannot be read."""
    return build(
        run,
        arms=store.arms(run.id),
        workloads=store.workloads(run.id),
        samples=store.samples(run.id),
        trials=store.trials(run.id),
        boots=store.boots(run.id),
        events=store.events(run.id),
    )


def build(
    run: RunRow,
    *,
    arms: Sequence[ArmRecord],
    workloads: Sequence[WorkloadRecord],
    samples: pl.DataFrame,
    trials: Sequence[TrialRow],
    boots: Sequence[BootRow],
    events: Sequence[EventRow],
) -> RunView:
    """The view of a run from what the store holds; pure.

    `samples` is a samples frame (`analysis.boots.SAMPLE_COLUMNS`).
    """
    baseline = next(arm for arm in arms if arm.baseline)
    names = [arm.name for arm in arms]
    threshold = 100 * float(run.campaign.get("threshold", DEFAULT_THRESHOLD_PERCENT / 100))
    values = boot_values(samples)
    found = estimates(values, arms=names, baseline=baseline.name, threshold_percent=threshold)
    labels = [workload.label for workload in workloads]
    found += _never_measured(workloads, found, names, baseline.name, threshold)
    found.sort(key=lambda e: (labels.index(e.workload), not e.headline))
    return RunView(
        run=run,
        arms=_arm_views(arms, baseline),
        workloads=tuple(workloads),
        boot_values=values,
        estimates=tuple(found),
        means=tuple(
            geometric_means(values, arms=names, baseline=baseline.name, threshold_percent=threshold)
        ),
        trials=tuple(trials),
        boots=tuple(boots),
        events=tuple(events),
        guests=_first_ready(arms, boots),
        threshold_percent=threshold,
    )


def _first_ready(arms: Sequence[ArmRecord], boots: Sequence[BootRow]) -> tuple[BootRow, ...]:
    first: dict[str, BootRow] = {}
    for boot in boots:
        if boot.ready_s is not None:
            first.setdefault(boot.arm, boot)
    return tuple(first[arm.name] for arm in arms if arm.name in first)


def _never_measured(
    workloads: Sequence[WorkloadRecord],
    found: Sequence[Estimate],
    arms: Sequence[str],
    baseline: str,
    threshold_percent: float,
) -> list[Estimate]:
    """Estimates without a number for headline metrics that no arm gave a sample of."""
    seen = {(e.workload, e.metric) for e in found}
    nothing = np.empty(0)
    return [
        Estimate(
            workload=workload.label,
            metric=metric.name,
            unit=metric.unit,
            better=metric.better,
            headline=True,
            arm=arm,
            baseline=baseline,
            value=None,
            baseline_value=None,
            comparison=compare(
                nothing,
                nothing,
                metric.better,
                arm=arm,
                baseline=baseline,
                threshold_percent=threshold_percent,
            ),
        )
        for workload in workloads
        for metric in workload.metrics
        for arm in arms
        if metric.headline and arm != baseline and (workload.label, metric.name) not in seen
    ]


def _arm_views(arms: Sequence[ArmRecord], baseline: ArmRecord) -> tuple[ArmView, ...]:
    others = [arm for arm in arms if arm is not baseline]
    return tuple(
        ArmView(
            name=arm.name,
            type=arm.type,
            baseline=arm is baseline,
            place=place,
            argv=tuple(arm.argv),
            kernel_command_line=kernel_command_line(arm.argv),
            differences=() if arm is baseline else differences(baseline.argv, arm.argv),
        )
        for place, arm in enumerate([baseline, *others])
    )
