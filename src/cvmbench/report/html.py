"""The report of a run as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cvmbench.errors import UsageError
from cvmbench.report import facts, glossary, wording
from cvmbench.report.charts import style, svg
from cvmbench.report.charts.boots import boots_chart
from cvmbench.report.charts.overhead import Layout, overhead_chart
from cvmbench.report.escape import cleaned
from cvmbench.report.sentences import arm_verdicts
from cvmbench.report.spans import spans
from cvmbench.report.view import RunView
from cvmbench.store.records import TrialStatus
from cvmbench.units import format_duration, format_quantity

MOST_TRIALS = 2000
"""Trials listed one by one; the rest are counted, and `cvmbench export` gives them all."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Raw points of one metric."""

    workload: str
    metric: str
    better: str
    headline: bool
    drawing: Markup


def write(view: RunView, path: Path) -> None:
    """Write the report of `view` to `path`, whole or not at all.

    Raises UsageError if the file cannot be written there.
    """
    page = render(view).encode()
    # A link keeps pointing where it points, and a device or pipe is never replaced by a file.
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise UsageError(
            f"The report cannot be written to {path}.",
            why="It is there already, and not a regular file.",
            remedy="Name another place with --output.",
        )
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(page)
        Path(file.name).chmod(0o666 & ~_umask())
        Path(file.name).replace(path)
    except OSError as error:
        if "file" in locals():
            Path(file.name).unlink(missing_ok=True)
        raise UsageError(
            f"The report cannot be written to {path}.",
            why=f"{error.strerror or error}.",
            remedy="Name another place with --output.",
        ) from error


def render(view: RunView) -> str:
    """The page. Every string in it that is not ours is cleaned and escaped."""
    stylesheet, script = _resource("report.css"), _resource("report.js")
    return _environment().get_template("report.html.j2").render(
        view=view,
        run=view.run,
        verdicts=arm_verdicts(view),
        wide=_overhead(view, Layout.WIDE),
        narrow=_overhead(view, Layout.NARROW),
        panels=list(_panels(view)),
        counts={s.value: view.run.trials.get(s, 0) for s in TrialStatus},
        trials=view.trials[:MOST_TRIALS],
        not_measured=_not_measured(view),
        host=facts.flatten(view.run.host),
        image=facts.flatten({k: v for k, v in view.run.image.items() if k != "packages"}),
        packages=_packages(view),
        guests=facts.shared({boot.arm: boot.facts for boot in view.guests}),
        evidence=facts.shared({b.arm: facts.judged(b.evidence) for b in view.guests}),
        words=glossary.WORDS,
        stylesheet=Markup(stylesheet),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=_content_security_policy(stylesheet, script),
    )  # fmt: skip


def _overhead(view: RunView, layout: Layout) -> Markup | None:
    chart = overhead_chart(view, layout)
    if chart is None:
        return None
    label = (
        f"Overhead of each arm against {view.baseline.name}, by workload, with intervals. "
        "The table below has the same numbers."
    )
    return svg.draw(chart, name=f"overhead-{layout.value}", label=label, css_class=layout.value)


def _panels(view: RunView) -> Iterator[Panel]:
    keys = ["workload", "metric", "better", "headline"]
    groups = view.boot_values.group_by(keys, maintain_order=True)
    for number, ((workload, metric, better, headline), rows) in enumerate(groups):
        drawable = rows.filter(pl.col("value").is_finite())
        if drawable.is_empty():
            continue
        yield Panel(
            workload=str(workload),
            metric=str(metric),
            better=str(better),
            headline=bool(headline),
            drawing=svg.draw(
                boots_chart(view, drawable),
                name=f"boots-{number}",
                label=f"{metric} of {workload}: one point a boot, in block order, by arm.",
            ),
        )


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """Trials of one workload and arm that have no numbers for the same reason, not to come."""

    workload: str
    arm: str
    status: str
    kind: str
    reason: str
    blocks: str


def _not_measured(view: RunView) -> list[NotMeasured]:
    grouped: dict[tuple[str, str, str, str, str], list[int]] = {}
    for t in view.not_measured:
        if t.status is TrialStatus.PLANNED:
            continue
        key = (t.workload, t.arm, t.status.value, t.kind, t.reason)
        grouped.setdefault(key, []).append(t.block)
    return [NotMeasured(*key, blocks=spans(blocks)) for key, blocks in grouped.items()]


def _packages(view: RunView) -> list[facts.Fact]:
    packages = view.run.image.get("packages")
    return facts.flatten(packages) if isinstance(packages, dict) else []


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("cvmbench.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters.update(
        percent=wording.percent,
        interval=wording.interval,
        verdict=wording.verdict,
        boots=wording.boots,
        level=wording.level,
        quantity=format_quantity,
        duration=format_duration,
        spans=spans,
    )
    environment.globals.update(
        colours=style.ARM_COLOURS, shapes=style.ARM_SHAPES, functional=wording.FUNCTIONAL
    )
    return environment


def _shown(value: Any) -> Any:
    """Every string on its way into the page loses what could harm; markup of ours passes."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return cleaned(value, 100_000)
    return value


def _content_security_policy(stylesheet: str, script: str) -> str:
    """Nothing may be fetched, and only our own style and script, known by hash, may take effect.

    Source: W3C Content Security Policy Level 3, section 2.3.1 (hash sources).
    """
    return (
        f"default-src 'none'; style-src '{_hash(stylesheet)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _resource(name: str) -> str:
    return files("cvmbench.report").joinpath("templates", name).read_text(encoding="utf-8")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
