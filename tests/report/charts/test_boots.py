from __future__ import annotations

from collections.abc import Callable

import polars as pl

from cvmbench.report.charts import svg
from cvmbench.report.charts.boots import MOST_POINTS, boots_chart
from cvmbench.report.view import RunView


def _of(view: RunView, workload: str, metric: str) -> pl.DataFrame:
    return view.boot_values.filter(pl.col("workload") == workload, pl.col("metric") == metric)


def test_every_boot_is_a_point(view: RunView) -> None:
    text = svg.draw(boots_chart(view, _of(view, "redis", "get")), name="x", label="x")
    # Six blocks of four arms; one trial failed.
    assert text.count("<title>block ") == 23
    assert "<title>block 4, plain: " in text
    assert "(mean of 3)" in text


def test_equal_values_are_drawn(view: RunView) -> None:
    flat = _of(view, "redis", "get").with_columns(pl.lit(0.0).alias("value"))
    assert "NaN" not in svg.draw(boots_chart(view, flat), name="x", label="x")


def test_a_great_many_boots_are_thinned(view: RunView) -> None:
    one = _of(view, "redis", "get").head(1)
    many = pl.concat([one.with_columns(pl.lit(n).cast(pl.Int64).alias("block"))
                      for n in range(1, 2 * MOST_POINTS + 2)])  # fmt: skip
    text = svg.draw(boots_chart(view, many), name="x", label="x")
    assert MOST_POINTS / 2 <= text.count("<title>block ") <= MOST_POINTS


def test_the_panel_carries_the_functional_mark(view_of: Callable[..., RunView]) -> None:
    for functional in (True, False):
        view = view_of(functional=functional)
        text = svg.draw(boots_chart(view, _of(view, "mbw", "memcpy")), name="x", label="x")
        assert ("functional (TCG)" in text) is functional
