"""What the tables of the documentation must say, taken from the code they describe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ByteSize
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from cvmbench.campaign.arm import MODIFIERS, ArmType
from cvmbench.campaign.model import ArmChoice, Campaign, WorkloadChoice
from cvmbench.campaign.reading import parse_campaign, presets
from cvmbench.errors import FailureKind
from cvmbench.report.catalogues import arms_data
from cvmbench.runner.retries import CONSEQUENCES
from cvmbench.units import Metric
from cvmbench.workloads.catalogue import OWN

Row = tuple[str, ...]


def campaign_keys() -> list[Row]:
    """Key, default and allowed values of every key, those of inner tables with their prefix."""
    return list(_keys(Campaign, ""))


def entry_keys() -> list[Row]:
    """The same for the tables that stand in `arms` and `workloads`."""
    return [*_keys(ArmChoice, "arms: "), *_keys(WorkloadChoice, "workloads: ")]


def arm_types() -> list[Row]:
    """Type, what it is, whether it can be started."""
    rows: list[Row] = [
        (f"`{kind['name']}`", kind["summary"], "yes" if kind["launched"] else "not yet")
        for kind in arms_data()["types"]
    ]
    assert len(rows) == len(ArmType)
    return rows


def modifiers() -> list[Row]:
    """Modifier, what it does, its values."""
    return [
        (
            f"`{kind.name}`",
            kind.summary,
            "none"
            if kind.default is None
            else f"{kind.least} to {kind.most} {kind.unit}, {kind.default} if none is given",
        )
        for kind in MODIFIERS.values()
    ]


def preset_rows() -> list[Row]:
    """Preset and what it is for."""
    return [
        (f"`{name}`", parse_campaign(text, name).campaign.description)
        for name, text in presets().items()
    ]


def workloads() -> list[Row]:
    """One row a workload."""
    return [
        (
            f"`{workload.name}`",
            workload.summary,
            workload.place.value,
            _code(workload.packages),
            f"`{next(m.name for m in workload.metrics if m.headline)}`",
        )
        for workload in OWN
    ]


def parameters() -> list[Row]:
    """One row a parameter of a workload."""
    rows: list[Row] = []
    for workload in OWN:
        quick, paper = workload.parameters.quick(), workload.parameters.paper()
        for name, info in workload.parameters.model_fields.items():
            values = (_plain(getattr(quick, name)), _plain(getattr(paper, name)))
            what = (_allowed(info), info.description or "")
            rows.append((f"`{workload.name}`", f"`{name}`", *values, *what))
    return rows


def metrics() -> list[Row]:
    """One row a metric of a workload."""
    return [
        (f"`{workload.name}`", f"`{m.name}`", m.unit, m.better.value, _summary(m))
        for workload in OWN
        for m in workload.metrics
    ]


def failures() -> list[Row]:
    """Kind, loses the boot, is repeated, stops the run."""
    return [
        (
            kind.value,
            _yes(CONSEQUENCES[kind].loses_boot),
            _yes(CONSEQUENCES[kind].repeats),
            _yes(CONSEQUENCES[kind].stops_run),
        )
        for kind in FailureKind
    ]


def _summary(metric: Metric) -> str:
    return f"{metric.summary} (main)" if metric.headline else metric.summary


def _keys(model: type[BaseModel], prefix: str) -> Iterator[Row]:
    for name, info in model.model_fields.items():
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys(inner, f"{name}.")
        else:
            kind, _, key = f"{prefix}{name}".rpartition(": ")
            label = f"{kind}: `{key}`" if kind else f"`{key}`"
            yield label, _default(info), _allowed(info)


def _default(info: FieldInfo) -> str:
    value = info.default
    if value is PydanticUndefined:
        return "required"
    if value in ("", None, {}):
        return ""
    if isinstance(value, ByteSize):
        return f'`"{_size(value)}"`'
    if isinstance(value, float) and _is_share(info):
        return f'`"{100 * value:g}%"`'
    return f'`"{value}"`' if isinstance(value, str) else f"`{value:g}`"


def _allowed(info: FieldInfo) -> str:
    choices = [c for part in _parts(info.annotation) for c in get_args(part) if _literal(part)]
    if choices:
        return _code(choices)
    bounds = _bounds(info)
    if _is_share(info):
        return "a percentage above 0% and below 100%"
    if ByteSize in _parts(info.annotation):
        return f"{_size(bounds['ge'])} or more"
    if bounds.get("min_length") == 1 and get_origin(info.annotation) is tuple:
        return "at least one"
    if "max_length" in bounds:
        return f"{bounds.get('min_length', 0)} to {bounds['max_length']} characters"
    if "gt" in bounds:
        return f"above {_plain(bounds['gt'])}, at most {_plain(bounds['le'])}"
    if bounds.get("lt") == 2**63:
        return f"{bounds['ge']} to 2⁶³ − 1"
    if "ge" in bounds:
        return f"{_plain(bounds['ge'])} to {_plain(bounds['le'])}"
    return ""


def _bounds(info: FieldInfo) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in info.metadata:
        for name in ("ge", "gt", "le", "lt", "min_length", "max_length"):
            if hasattr(part, name):
                found[name] = getattr(part, name)
    return found


def _parts(annotation: Any) -> list[Any]:
    if get_origin(annotation) is tuple or _literal(annotation):
        return [annotation]
    return [annotation, *(p for inner in get_args(annotation) for p in _parts(inner))]


def _literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal


def _is_share(info: FieldInfo) -> bool:
    bounds = _bounds(info)
    return (bounds.get("gt"), bounds.get("lt")) == (0, 1)


def _size(value: int) -> str:
    for unit, name in ((2**30, "GiB"), (2**20, "MiB")):
        if value % unit == 0:
            return f"{value // unit} {name}"
    return f"{value} B"


def _plain(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
