"""The overhead chart: every workload and arm with its interval, against the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import altair as alt

from cvmbench.analysis.comparison import Comparison
from cvmbench.report import wording
from cvmbench.report.charts import style
from cvmbench.report.escape import cleaned_line
from cvmbench.report.view import ArmView, RunView

MEAN_ROW = "all (geometric mean)"


class Layout(Enum):
    """For a page of full width, with labels beside the plot; or a phone, labels above."""

    WIDE = "wide"
    NARROW = "narrow"


@dataclass(frozen=True, slots=True)
class _Sizes:
    plot_px: int
    arm_px: int
    label_px: int
    """Room for a workload's name; fonts differ from page to page, so names are cut sooner."""


_SIZES = {Layout.WIDE: _Sizes(625, 20, 175), Layout.NARROW: _Sizes(245, 19, 250)}


def overhead_chart(view: RunView, layout: Layout) -> alt.TopLevelMixin | None:
    """Points with intervals, one band a workload (headline metric), one line an arm.

    The shaded band is the practical threshold. An interval that would squeeze everything else is
    cut at the edge, with an arrow there. None if there is nothing to draw.
    """
    rows = _rows(view)
    if not rows:
        return None
    sizes = _SIZES[layout]
    low, high = _domain(rows, view.threshold_percent)
    for row in rows:
        _cut(row, low, high)
    names = list(dict.fromkeys(row["row"] for row in rows))
    arms = [cleaned_line(arm.name) for arm in view.compared]
    slots = arms if layout is Layout.WIDE else ["", *arms]
    base = alt.Chart(alt.InlineData(values=rows))
    x_scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    y = alt.Y(
        "row:N",
        sort=names,
        title=None,
        scale=alt.Scale(paddingInner=0.22, paddingOuter=0.08),
        axis=alt.Axis(
            labels=layout is Layout.WIDE,
            labelLimit=0.85 * sizes.label_px,
            labelAlign="left",
            labelPadding=sizes.label_px,
            labelFontWeight=alt.condition(
                alt.datum.value == MEAN_ROW, alt.value("bold"), alt.value("normal")
            ),
            labelColor=style.INK,
            labelFontSize=13,
            grid=False,
        ),
    )
    offset = alt.YOffset("arm:N", sort=slots, scale=alt.Scale(domain=slots))
    colour = _by_place("arm:N", arms, [style.arm_colour(arm.place) for arm in view.compared])
    value_axis = alt.Axis(
        title="overhead, percent (positive = worse)",
        labelExpr="(datum.value > 0 ? '+' : '') + replace(format(datum.value, ',~f'), '-', '−')",
        tickCount=5 if layout is Layout.NARROW else 9,
        labelFlush=False,
    )
    layers: list[Any] = [
        _band(view.threshold_percent, x_scale, value_axis),
        base.mark_rule(strokeWidth=2, opacity=0.75).encode(
            x=alt.X("from:Q", scale=x_scale), x2="to:Q", y=y, yOffset=offset, color=colour,
            description="description:N",
        ).transform_filter("isValid(datum.from)"),
        *_arrows(base, x_scale, y, offset, colour),
        base.mark_point(filled=True, size=72, opacity=1).encode(
            x=alt.X("point:Q", scale=x_scale), y=y, yOffset=offset, color=colour,
            shape=_by_place(
                "arm:N", arms, [style.arm_shape(arm.place) for arm in view.compared], alt.Shape
            ),
            description="description:N",
        ),
        base.mark_text(align="right", color=style.INK, fontSize=style.TEXT_PX).encode(
            x=alt.value(sizes.plot_px + 58), y=y, yOffset=offset, text="size:N"
        ),
    ]  # fmt: skip
    if layout is Layout.WIDE:
        layers.append(
            base.mark_text(align="left", color=style.MUTED, fontSize=style.TEXT_PX).encode(
                x=alt.value(sizes.plot_px + 70), y=y, yOffset=offset, text="verdict:N"
            )
        )
    else:
        layers.append(_labels_above(names, y, slots))
    lines = len(names) * len(slots) * sizes.arm_px
    return alt.layer(*layers).properties(
        width=sizes.plot_px, height=lines * 1.28, title=_title(view)
    )


def _title(view: RunView) -> alt.TitleParams:
    words = [f"Overhead against {cleaned_line(view.baseline.name)}, headline metrics"]
    subtitle = [wording.FUNCTIONAL.split(":")[0] + ": not a measurement of hardware"]
    return alt.TitleParams(
        words,
        color=style.INK,
        subtitle=subtitle if view.run.functional else alt.Undefined,
        subtitleColor="var(--caution)",
        subtitleFontSize=style.TEXT_PX,
        subtitlePadding=5,
        anchor="start",
        frame="bounds",
    )


def _rows(view: RunView) -> list[dict[str, Any]]:
    rows = [
        _row(cleaned_line(e.workload, 60), arm, e.comparison)
        for arm in view.compared
        for e in view.headlines(arm.name)
        if wording.is_shown_as_number(e.comparison)
    ]
    order = [cleaned_line(w.label, 60) for w in view.workloads]
    rows.sort(key=lambda row: order.index(row["row"]))
    if len({row["row"] for row in rows}) > 1:
        means = ((arm, view.mean(arm.name).comparison) for arm in view.compared)
        rows += [_row(MEAN_ROW, arm, mean) for arm, mean in means
                 if wording.is_shown_as_number(mean)]  # fmt: skip
    return rows


def _row(name: str, arm: ArmView, comparison: Comparison) -> dict[str, Any]:
    size, verdict = wording.percent(comparison.overhead_percent), wording.verdict(comparison)
    within = ""
    if comparison.low is not None:
        within = f", {wording.level(comparison)} interval {wording.interval(comparison)}"
    return {
        "row": name,
        "arm": cleaned_line(arm.name),
        "point": comparison.overhead_percent,
        "from": comparison.low,
        "to": comparison.high,
        "size": size,
        "verdict": verdict.split(" (")[0],
        "description": f"{name}, {cleaned_line(arm.name)}: {size}{within}: {verdict}",
    }


def _domain(rows: Sequence[dict[str, Any]], threshold: float) -> tuple[float, float]:
    """All points and the threshold, and interval ends to three quarters of that span beyond."""
    points = [row["point"] for row in rows] + [-1.5 * threshold, 1.5 * threshold]
    low, high = min(points), max(points)
    reach = 0.75 * (high - low)
    ends = [end for row in rows for end in (row["from"], row["to"]) if end is not None]
    low = max(min([low, *ends]), low - reach)
    high = min(max([high, *ends]), high + reach)
    edge = 0.03 * (high - low)
    return low - edge, high + edge


def _cut(row: dict[str, Any], low: float, high: float) -> None:
    """Cut an interval to the axis; `cut_low` and `cut_high` say where the arrows go."""
    row["cut_low"] = low if row["from"] is not None and row["from"] < low else None
    row["cut_high"] = high if row["to"] is not None and row["to"] > high else None
    if row["from"] is not None:
        row["from"], row["to"] = max(row["from"], low), min(row["to"], high)


def _arrows(
    base: alt.Chart, x_scale: alt.Scale, y: alt.Y, offset: alt.YOffset, colour: alt.Color
) -> list[alt.Chart]:
    return [
        base.transform_filter(f"isValid(datum.{field})")
        .mark_point(filled=True, shape=shape, size=40, opacity=1)
        .encode(x=alt.X(f"{field}:Q", scale=x_scale), y=y, yOffset=offset, color=colour)
        for field, shape in (("cut_low", "triangle-left"), ("cut_high", "triangle-right"))
    ]


def _band(threshold: float, x_scale: alt.Scale, axis: alt.Axis) -> alt.TopLevelMixin:
    band = (
        alt.Chart(alt.InlineData(values=[{"from": -threshold, "to": threshold}]))
        .mark_rect(color=style.BAND, opacity=1)
        .encode(x=alt.X("from:Q", scale=x_scale, axis=axis), x2="to:Q")
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(color=style.MUTED, strokeWidth=1, description="no difference")
        .encode(x=alt.X("zero:Q", scale=x_scale))
    )
    return alt.layer(band, zero)


def _labels_above(names: Sequence[str], y: alt.Y, slots: Sequence[str]) -> alt.Chart:
    labels: alt.Chart = (
        alt.Chart(alt.InlineData(values=[{"row": name, "arm": ""} for name in names]))
        .mark_text(align="left", color=style.INK, fontSize=13)
        .encode(
            x=alt.value(0),
            y=y,
            yOffset=alt.YOffset("arm:N", sort=list(slots), scale=alt.Scale(domain=list(slots))),
            text="row:N",
        )
    )
    return labels


def _by_place(
    field: str, arms: Sequence[str], values: Sequence[str], channel: Any = alt.Color
) -> Any:
    return channel(field, scale=alt.Scale(domain=list(arms), range=list(values)), legend=None)
