"""Charts: one file each gives an Altair chart, `svg` draws it.

Charts are drawn when the report is written and stand in the page as SVG. Against a chart library
inlined in the page (0.9 MB) this is smaller by two orders of magnitude, needs no `eval` and so
allows a strict Content-Security-Policy, is there for readers without scripts, and prints as seen.
Colours are CSS variables, so one drawing serves light and dark.
"""
