"""Drawing an Altair chart as an SVG element that can stand in a page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import altair as alt
import vl_convert
from markupsafe import Markup

from cvmbench.report.charts import style

_SVG = "http://www.w3.org/2000/svg"
_MARKS_WITH_TOOLTIP = {"point", "rule mark"}
"""As the renderer names them; its description of anything else is a mere list of fields."""
_LOCAL_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def draw(chart: alt.TopLevelMixin, *, name: str, label: str, css_class: str = "") -> Markup:
    """`chart` as an inline SVG element.

    `label` is what a screen reader says instead of the picture; the marks' own descriptions
    become tooltips. `name` must be unique in the page: it keeps the ids of one drawing apart from
    those of another. The drawing fetches nothing: its data are in it.
    """
    spec = chart.to_dict()
    spec["config"] = {**spec.get("config", {}), **style.config()}
    text = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return _for_page(text, name, label, css_class)


def _for_page(text: str, name: str, label: str, css_class: str) -> Markup:
    ET.register_namespace("", _SVG)
    # The renderer's own output, in which data can only be escaped text: no entity to expand.
    root = ET.fromstring(text)  # noqa: S314
    for element in root.iter():
        _with_tooltip(element)
        _with_unique_ids(element, name)
    root.set("class", f"chart {css_class}".strip())
    root.set("role", "img")
    root.set("aria-label", label)
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704 - serialised, so escaped


def _with_tooltip(element: ET.Element) -> None:
    """A mark's description becomes its tooltip; what else the renderer says of roles goes.

    The picture has one label of its own, so the inner ones would only be read out twice.
    """
    description = element.attrib.pop("aria-label", "")
    role = element.attrib.pop("aria-roledescription", "")
    element.attrib.pop("role", None)
    element.attrib.pop("aria-hidden", None)
    if description and role in _MARKS_WITH_TOOLTIP:
        title = ET.Element(f"{{{_SVG}}}title")
        title.text = description
        element.insert(0, title)


def _with_unique_ids(element: ET.Element, name: str) -> None:
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif "url(#" in value:
            element.set(key, _LOCAL_REFERENCE.sub(rf"url(#{name}-\1)", value))
