"""The verdict on an arm in sentences: what it costs, where it hurts, what is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cvmbench.analysis.comparison import Comparison, EstimateStatus
from cvmbench.analysis.estimates import Estimate
from cvmbench.analysis.means import MeanEstimate
from cvmbench.analysis.verdicts import Verdict
from cvmbench.report import wording
from cvmbench.report.view import ArmView, RunView


@dataclass(frozen=True, slots=True)
class Finding:
    """Workloads that share a verdict: the word, and each workload with what is to say of it."""

    word: str
    verdict: Verdict
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArmVerdict:
    """What a platform engineer needs to know of one arm.

    `overall` is the comparison behind `lead`: the geometric mean, or with a single workload that
    workload itself.
    """

    arm: ArmView
    overall: Comparison
    lead: str
    advice: str
    findings: tuple[Finding, ...]


def arm_verdicts(view: RunView) -> list[ArmVerdict]:
    """One verdict for every arm but the baseline, in the order of the campaign."""
    return [_arm_verdict(view, arm) for arm in view.compared]


def _arm_verdict(view: RunView, arm: ArmView) -> ArmVerdict:
    mean, headlines = view.mean(arm.name), view.headlines(arm.name)
    alone = [e for e in headlines if e.workload in mean.workloads]
    if len(alone) == 1:
        overall, what = alone[0].comparison, f"in {alone[0].workload}"
    else:
        overall, what = mean.comparison, f"in the geometric mean of {len(mean.workloads)} workloads"
    return ArmVerdict(
        arm=arm,
        overall=overall,
        lead=_lead(overall, what, view.baseline.name),
        advice=_advice(view, headlines, mean),
        findings=_findings(headlines),
    )


def _lead(overall: Comparison, what: str, baseline: str) -> str:
    if overall.status in {EstimateStatus.NO_DATA, EstimateStatus.NOT_POSITIVE}:
        return f"Not compared with {baseline}: {overall.reason}"
    size = wording.percent(overall.overhead_percent).lstrip("+−")
    if overall.status is EstimateStatus.NO_INTERVAL:
        more = "more" if (overall.overhead_percent or 0) >= 0 else "less"
        return f"{size} {more} than {baseline} {what}, from too few boots for an interval."
    within = f"({wording.level(overall)} interval {wording.interval(overall)})"
    limit = wording.threshold(overall)
    match overall.verdict:
        case Verdict.WORSE:
            return f"Costs {size} over {baseline} {what} {within}."
        case Verdict.BETTER:
            return f"Saves {size} against {baseline} {what} {within}."
        case Verdict.SAME:
            return f"Costs the same as {baseline} within {limit} {what} {within}."
        case Verdict.CANNOT_TELL:
            return (
                f"Whether it differs from {baseline} by more than {limit} {what} "
                f"cannot be told yet {within}."
            )


def _advice(view: RunView, headlines: Sequence[Estimate], mean: MeanEstimate) -> str:
    """What to do about it, from what is decided; nothing to plan for where nothing is measured."""
    if view.run.functional:
        return "Nothing about hardware follows from it: repeat the run on a machine with KVM."
    worst = max(
        (e for e in headlines if e.comparison.verdict is Verdict.WORSE),
        key=lambda e: e.comparison.high or 0.0,
        default=None,
    )
    open_boots = [
        e.comparison.boots_needed
        for e in headlines
        if e.comparison.verdict is Verdict.CANNOT_TELL and e.comparison.boots_needed
    ]
    sentences = []
    if worst is not None:
        most = wording.percent(worst.comparison.high).lstrip("+")
        sentences.append(f"Plan for up to {most} in {worst.workload}.")
    elif mean.workloads and not open_boots:
        sentences.append("No workload measured here speaks against it.")
    if open_boots:
        count = max(open_boots)
        blocks = "1 more block" if count == 1 else f"about {count:,} more blocks"
        sentences.append(f"To settle what is open, run {blocks}.")
    return " ".join(sentences)


def _findings(headlines: Sequence[Estimate]) -> tuple[Finding, ...]:
    """Workloads by verdict, dearest first; those without a number last."""
    measured = [e for e in headlines if e.comparison.overhead_percent is not None]
    measured.sort(key=lambda e: -(e.comparison.overhead_percent or 0.0))
    found = []
    for verdict in (Verdict.WORSE, Verdict.BETTER, Verdict.SAME, Verdict.CANNOT_TELL):
        members = [e for e in measured if e.comparison.verdict is verdict]
        if members:
            word = verdict.value
            if verdict is Verdict.SAME:
                word = f"same within {wording.threshold(members[0].comparison)}"
            found.append(Finding(word, verdict, tuple(_item(e) for e in members)))
    missing = [e for e in headlines if e.comparison.overhead_percent is None]
    if missing:
        items = tuple(e.workload for e in missing)
        found.append(Finding("not measured", Verdict.CANNOT_TELL, items))
    return tuple(found)


def _item(estimate: Estimate) -> str:
    comparison = estimate.comparison
    size = wording.percent(comparison.overhead_percent)
    if comparison.boots_needed is None:
        return f"{estimate.workload} {size}"
    return f"{estimate.workload} {size} (needs {wording.boots_needed(comparison)})"
