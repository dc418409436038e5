"""A plan for people, and as data."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from cvmbench.report.escape import cleaned
from cvmbench.report.literal import literal
from cvmbench.runner.outline import Outline
from cvmbench.units import format_duration


def as_data(outline: Outline) -> dict[str, Any]:
    """The plan as JSON data."""
    campaign = outline.source.campaign
    return {
        "campaign": campaign.model_dump(mode="json"),
        "origin": outline.source.origin,
        "baseline": campaign.baseline_name,
        "seed": outline.plan.seed,
        "boots": outline.plan.boots,
        "trials": outline.plan.trials,
        "estimated_s": outline.estimated_s,
        "estimate_assumes": outline.assumed.value,
        "obstacles": list(outline.obstacles),
        "workloads": {
            key: {"name": job.workload.name, "parameters": job.parameters.model_dump(mode="json")}
            for key, job in outline.jobs.items()
        },
        "blocks": [
            {"number": b.number, "arms": list(b.arms), "workloads": list(b.workloads)}
            for b in outline.plan.blocks
        ],
    }


def render(outline: Outline, console: Console) -> None:
    """Print the plan: what is compared, with what, in which order, and how long it takes."""
    campaign = outline.source.campaign
    say = console.print
    say(f"Campaign '{cleaned(campaign.name)}' ({cleaned(outline.source.origin)})", markup=False)
    if campaign.description:
        say(f"  {cleaned(campaign.description)}", markup=False)
    size = campaign.vm
    say(
        f"  Every VM: {size.vcpus} vCPUs, {size.memory.human_readable()} of memory, "
        f"{size.data_disk.human_readable()} of data disk"
    )
    say(f"  Baseline: {cleaned(campaign.baseline_name)}\n", markup=False)
    say(_workloads(outline))
    say(_blocks(outline))
    seed = "given" if campaign.seed is not None else "drawn; give --set seed=N to repeat it"
    say(f"Seed of the order: {outline.plan.seed} ({seed})")
    say(
        f"{outline.plan.boots} boots, {outline.plan.trials} trials, "
        f"about {format_duration(outline.estimated_s)} under {outline.assumed.upper()}"
    )
    for obstacle in outline.obstacles:
        say(literal(f"Warning: {obstacle}", style="yellow"))


def _workloads(outline: Outline) -> Table:
    table = Table("Workload", "Parameters", "One trial", title="Workloads", title_justify="left")
    for key, job in outline.jobs.items():
        parameters = job.parameters.model_dump(mode="json")
        shown = ", ".join(f"{name}={value}" for name, value in parameters.items())
        table.add_row(literal(key), literal(shown), format_duration(job.expected_s))
    return table


def _blocks(outline: Outline) -> Table:
    table = Table(
        "Block",
        "Arms are booted in this order",
        "and run the workloads in this order",
        title="Order",
        title_justify="left",
    )
    shown = outline.plan.blocks[:20]
    for block in shown:
        table.add_row(
            str(block.number), literal(", ".join(block.arms)), literal(", ".join(block.workloads))
        )
    if len(outline.plan.blocks) > len(shown):
        table.add_row("…", f"{len(outline.plan.blocks) - len(shown)} more blocks (--json)", "")
    return table
