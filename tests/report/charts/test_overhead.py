from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cvmbench.report import wording
from cvmbench.report.charts import style, svg
from cvmbench.report.charts.overhead import MEAN_ROW, Layout, overhead_chart
from cvmbench.report.view import RunView


def _drawn(view: RunView, layout: Layout = Layout.WIDE) -> str:
    chart = overhead_chart(view, layout)
    assert chart is not None
    return str(svg.draw(chart, name="x", label="Overheads"))


@pytest.mark.parametrize("layout", Layout)
def test_every_estimate_is_a_point_that_tells_its_interval(view: RunView, layout: Layout) -> None:
    text = _drawn(view, layout)
    for e in view.estimates:
        if e.headline and e.comparison.overhead_percent is not None:
            told = f"{e.workload}, {e.arm}: {wording.percent(e.comparison.overhead_percent)}"
            assert f"<title>{told}, 95% interval {wording.interval(e.comparison)}" in text
    assert text.count(f"<title>{MEAN_ROW}") == 6


def test_arms_have_their_own_colours(view: RunView) -> None:
    text = _drawn(view)
    for arm in view.compared:
        assert style.arm_colour(arm.place) in text


def test_the_drawing_carries_the_functional_mark(view_of: Callable[..., RunView]) -> None:
    assert "functional (TCG): not a measurement of hardware" in _drawn(view_of())
    assert "functional" not in _drawn(view_of(functional=False))


def test_an_endless_interval_is_cut_with_an_arrow(view: RunView) -> None:
    first, *others = view.estimates
    wild = replace(first, comparison=replace(first.comparison, low=-50.0, high=float("inf")))
    text = _drawn(replace(view, estimates=(wild, *others)))
    assert "NaN" not in text
    assert "Infinity" not in text
    # Two arrows more: one at each end.
    assert text.count("<path") >= _drawn(view).count("<path") + 2


def test_nothing_to_draw_is_no_chart(view_of: Callable[..., RunView]) -> None:
    assert overhead_chart(view_of(measured_blocks=0), Layout.WIDE) is None


def test_points_without_intervals_are_drawn(view_of: Callable[..., RunView]) -> None:
    assert "NaN" not in _drawn(view_of(measured_blocks=1))
