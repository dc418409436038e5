"""How charts look: an arm's colour and shape, type sizes, and colours as CSS variables.

The variables are defined in `templates/report.css`, once for light and once for dark.
"""

from __future__ import annotations

from typing import Any

ARM_COLOURS = 7
"""How many arm colours there are: `--arm-0` (the baseline) to `--arm-6`.

Adapted from the palette of M. Okabe and K. Ito (2008), made to differ in lightness too.
"""

ARM_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
"""Vega's names. Five shapes and seven colours repeat together only after 35 arms, and a shape
tells arms apart for those who see no colours and on paper."""

FAINT, INK, MUTED, RULE, BAND = (
    "var(--faint)", "currentColor", "var(--muted)", "var(--rule)", "var(--band)",
)  # fmt: skip

TEXT_PX = 12


def arm_colour(place: int) -> str:
    """The colour of the arm at `place` (0 is the baseline) as a CSS value."""
    return f"var(--arm-{place % ARM_COLOURS})"


def arm_shape(place: int) -> str:
    """The shape of the arm at `place`."""
    return ARM_SHAPES[place % len(ARM_SHAPES)]


def config() -> dict[str, Any]:
    """The Vega-Lite config of all charts."""
    text = {"labelColor": MUTED, "titleColor": MUTED, "labelFontSize": TEXT_PX}
    return {
        "background": "transparent",
        # Room on the right for fonts wider than the one the renderer measures with.
        "padding": {"left": 0, "top": 5, "right": 24, "bottom": 5},
        "font": "Helvetica, Arial, sans-serif",
        "view": {"stroke": None},
        "axis": {
            **text,
            "titleFontSize": TEXT_PX,
            "titleFontWeight": "normal",
            "gridColor": FAINT,
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
        },
        "title": {
            "anchor": "start",
            "color": MUTED,
            "fontSize": TEXT_PX,
            "fontWeight": "normal",
            "offset": 10,
        },
    }
