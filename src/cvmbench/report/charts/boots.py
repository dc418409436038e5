"""The raw points: one metric of one workload, every boot a point in block order."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from cvmbench.report.charts import style
from cvmbench.report.charts.axis import scaled_unit
from cvmbench.report.escape import cleaned_line
from cvmbench.report.view import RunView
from cvmbench.units import format_quantity

MOST_POINTS = 2000
"""More boots than this are thinned evenly: points would cover each other."""

WIDTH_PX, HEIGHT_PX = 250, 130


def boots_chart(view: RunView, values: pl.DataFrame) -> alt.TopLevelMixin:
    """A small panel of `values`: the rows of one metric in a `boot_values` frame.

    Points of one arm are joined by a faint line, so that drift over the run shows.
    """
    unit = str(values["unit"][0])
    factor, shown_unit = scaled_unit(float(values["value"].abs().max() or 0.0), unit)  # type: ignore[arg-type]
    arms = [cleaned_line(arm.name) for arm in view.arms]
    rows = _rows(view, values, factor, unit)
    blocks = sorted({row["block"] for row in rows})
    base = alt.Chart(alt.InlineData(values=rows))
    x = alt.X(
        "place:Q",
        title="block",
        scale=alt.Scale(domain=[blocks[0] - 0.5, blocks[-1] + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=_ticks(blocks), format="d", grid=False),
    )
    y = alt.Y(
        "value:Q",
        title=None,
        scale=alt.Scale(zero=False, padding=10),
        axis=alt.Axis(tickCount=4),
    )
    places = list(range(len(arms)))
    colour = alt.Color(
        "arm:N",
        scale=alt.Scale(domain=arms, range=[style.arm_colour(p) for p in places]),
        legend=None,
    )
    shape = alt.Shape(
        "arm:N",
        scale=alt.Scale(domain=arms, range=[style.arm_shape(p) for p in places]),
        legend=None,
    )
    return alt.layer(
        base.mark_line(strokeWidth=1, opacity=0.35).encode(x=x, y=y, color=colour),
        base.mark_point(filled=True, size=34, opacity=0.95).encode(
            x=x, y=y, color=colour, shape=shape, description="description:N"
        ),
    ).properties(width=WIDTH_PX, height=HEIGHT_PX, title=_title(view, shown_unit))


def _title(view: RunView, unit: str) -> alt.TitleParams:
    mark = "functional (TCG): not a measurement of hardware"
    return alt.TitleParams(
        cleaned_line(unit, 40) or "no unit",
        subtitle=mark if view.run.functional else alt.Undefined,
        subtitleColor="var(--caution)",
        subtitleFontSize=10.5,
        frame="bounds",
    )


def _rows(view: RunView, values: pl.DataFrame, factor: float, unit: str) -> list[dict[str, Any]]:
    places = {arm.name: arm.place for arm in view.arms}
    spread = 0.5 / max(len(places), 1)
    step = -(-len(values) // MOST_POINTS)
    return [
        {
            "arm": cleaned_line(arm),
            "block": block,
            "place": block + spread * (places[arm] - (len(places) - 1) / 2),
            "value": value / factor,
            "description": (
                f"block {block}, {cleaned_line(arm)}: {format_quantity(value, cleaned_line(unit))}"
                f" (mean of {count})"
            ),
        }
        for arm, block, value, count in values.gather_every(step)
        .select("arm", "block", "value", "samples")
        .iter_rows()
    ]


def _ticks(blocks: list[int]) -> list[int]:
    """All blocks if there are few, else about eight round ones."""
    if len(blocks) <= 10:
        return blocks
    step = max(1, round(len(blocks) / 8))
    return blocks[::step]
