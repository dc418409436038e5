"""Sphinx configuration: Markdown pages by MyST, the built-in theme, nothing loaded from outside."""

from __future__ import annotations

from cvmbench import __version__

project = "cvmbench"
author = "the cvmbench developers"
version = release = __version__

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
# Links to a heading, as `page.md#heading`.
myst_heading_anchors = 3
nitpicky = True

html_theme = "alabaster"
html_theme_options = {
    "description": "What a confidential VM costs",
    "page_width": "70rem",
    "body_max_width": "52rem",
    "show_powered_by": False,
}
html_show_sourcelink = False
html_copy_source = False
