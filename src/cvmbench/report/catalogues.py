"""What there is to choose from, for people and as data: workloads, arms, presets, images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from cvmbench.campaign.arm import MODIFIERS, ArmType, ModifierKind
from cvmbench.campaign.reading import parse_campaign, presets
from cvmbench.errors import ImageError
from cvmbench.guest.image.cache import Image
from cvmbench.report.literal import literal
from cvmbench.units import format_quantity
from cvmbench.workloads.catalogue import catalogue
from cvmbench.workloads.contract import AnyWorkload

_TYPES = {
    ArmType.PLAIN: ("an ordinary VM", "yes"),
    ArmType.SEV: ("AMD SEV: encrypted memory", "not yet"),
    ArmType.SEV_ES: ("AMD SEV-ES: encrypted memory and registers", "not yet"),
    ArmType.SEV_SNP: ("AMD SEV-SNP: the same with integrity", "not yet"),
    ArmType.TDX: ("Intel TDX: a trust domain", "not yet"),
    ArmType.HOST: ("no VM: the workload on this host itself", "not yet"),
    ArmType.SSH: ("a machine that runs already, reached by SSH", "not yet"),
}


def workloads_data() -> list[dict[str, Any]]:
    """Every workload as JSON data."""
    return [
        {
            "name": workload.name,
            "summary": workload.summary,
            "place": workload.place.value,
            "packages": list(workload.packages),
            "client_packages": list(workload.client_packages),
            "metrics": [
                {
                    "name": metric.name,
                    "unit": metric.unit,
                    "better": metric.better.value,
                    "headline": metric.headline,
                    "summary": metric.summary,
                }
                for metric in workload.metrics
            ],
            "quick": workload.parameters.quick().model_dump(mode="json"),
            "paper": workload.parameters.paper().model_dump(mode="json"),
        }
        for workload in catalogue().values()
    ]


def workloads_table(console: Console) -> None:
    """Print a row a workload."""
    table = Table("Workload", "What it measures", "Where", "Main metric")
    for workload in catalogue().values():
        headline = next((m for m in workload.metrics if m.headline), workload.metrics[0])
        table.add_row(
            literal(workload.name),
            literal(workload.summary),
            literal(workload.place.value),
            literal(f"{headline.name} ({headline.unit}), {headline.better} is better"),
        )
    console.print(table)


def workload_details(console: Console) -> None:
    """Print the parameters and metrics of every workload."""
    for workload in catalogue().values():
        console.print(literal(f"{workload.name}: {workload.summary}"), style="bold")
        console.print(_parameters(workload))
        for metric in workload.metrics:
            mark = " (main)" if metric.headline else ""
            text = f"  {metric.name}{mark}: {metric.unit}, {metric.better} is better"
            console.print(literal(text))
        console.print()


def arms_data() -> dict[str, Any]:
    """Types and modifiers as JSON data."""
    return {
        "types": [
            {"name": kind.value, "summary": summary, "launched": launched == "yes"}
            for kind, (summary, launched) in _TYPES.items()
        ],
        "modifiers": [
            {
                "name": kind.name,
                "summary": kind.summary,
                "default": kind.default,
                "unit": kind.unit,
                "least": kind.least,
                "most": kind.most,
            }
            for kind in MODIFIERS.values()
        ],
    }


def arms_table(console: Console) -> None:
    """Print the words that arms are made of."""
    console.print("An arm is written TYPE+MODIFIER+..., for example plain+swiotlb=256+idle-poll\n")
    types = Table("Type", "What it is", "Can be started")
    for kind, (summary, launched) in _TYPES.items():
        types.add_row(kind.value, summary, launched)
    console.print(types)
    modifiers = Table("Modifier", "What it does", "Value")
    for modifier in MODIFIERS.values():
        modifiers.add_row(modifier.name, modifier.summary, _value(modifier))
    console.print(modifiers)


def presets_data() -> list[dict[str, Any]]:
    """Every preset as JSON data."""
    return [
        {"name": name, **parse_campaign(text, name).campaign.model_dump(mode="json")}
        for name, text in presets().items()
    ]


def presets_table(console: Console) -> None:
    """Print a row a preset."""
    table = Table("Preset", "What it is for", "Arms", "Workloads", "Blocks")
    for name, text in presets().items():
        campaign = parse_campaign(text, name).campaign
        table.add_row(
            name,
            campaign.description,
            ", ".join(arm.name for arm in campaign.parsed_arms()),
            ", ".join(choice.key for choice in campaign.workloads),
            str(campaign.blocks),
        )
    console.print(table)


def images_data(images: Sequence[Image | ImageError]) -> list[dict[str, Any]]:
    """Images in the cache as JSON data; a damaged one with what is wrong."""
    return [
        {"damaged": str(image)}
        if isinstance(image, ImageError)
        else {
            "digest": image.digest,
            "directory": str(image.directory),
            "suite": image.suite,
            "kernel": image.kernel_release,
            "created_at": image.created_at.isoformat(),
            "size_bytes": image.size_bytes,
            "requested_packages": list(image.requested_packages),
            "packages": dict(image.packages),
        }
        for image in images
    ]


def images_table(images: Sequence[Image | ImageError], console: Console) -> None:
    """Print a row an image."""
    if not images:
        console.print("There are no images yet; `cvmbench image build` makes one.")
        return
    table = Table("Image", "Made", "Kernel", "Size", "Packages asked for")
    for image in images:
        if isinstance(image, ImageError):
            table.add_row("damaged", "", "", "", literal(str(image)))
            continue
        table.add_row(
            image.digest[:16],
            f"{image.created_at:%Y-%m-%d %H:%M}",
            image.kernel_release,
            format_quantity(image.size_bytes, "B"),
            ", ".join(image.requested_packages),
        )
    console.print(table)


def _parameters(workload: AnyWorkload) -> Table:
    quick = workload.parameters.quick().model_dump(mode="json")
    paper = workload.parameters.paper().model_dump(mode="json")
    table = Table("Parameter", "quick", "paper", box=None, padding=(0, 2))
    for name in quick:
        table.add_row(literal(f"  {name}"), literal(str(quick[name])), literal(str(paper[name])))
    return table


def _value(modifier: ModifierKind) -> str:
    if modifier.default is None:
        return "none"
    return (
        f"{modifier.least} to {modifier.most} {modifier.unit}, {modifier.default} if none is given"
    )
