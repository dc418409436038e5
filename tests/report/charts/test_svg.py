from __future__ import annotations

import altair as alt

from cvmbench.report.charts import svg


def _chart(description: str, title: str = "t") -> alt.Chart:
    values = [{"x": 1, "y": 2, "description": description}]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=values), title=title)
        .mark_point(clip=True)
        .encode(x="x:Q", y="y:Q", description="description:N")
    )
    return chart


def test_descriptions_become_tooltips_and_the_picture_has_one_label() -> None:
    text = svg.draw(_chart("one & only"), name="a", label='Say "this"')
    assert "<title>one &amp; only</title>" in text
    assert 'aria-label="Say &quot;this&quot;"' in text
    assert text.count("aria-label") == 1
    assert text.count("role=") == 1


def test_markup_in_data_stays_text() -> None:
    evil = "</title></svg><script>alert(1)</script>"
    text = svg.draw(_chart(evil, title=evil), name="a", label=evil)
    assert "<script" not in text
    assert text.count("</svg>") == 1


def test_ids_of_two_drawings_do_not_meet() -> None:
    one, two = (svg.draw(_chart("d"), name=name, label="x") for name in ("one", "two"))
    assert 'id="one-clip' in one
    assert "url(#one-clip" in one
    assert 'id="one-' not in two
