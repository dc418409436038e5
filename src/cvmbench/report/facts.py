"""Facts of hosts and guests as rows for people: nested data with dotted names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cvmbench.report.escape import cleaned_line

MOST_FACTS = 500
"""More facts than this from one source are cut: what a guest says has no natural bound."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact with its dotted name."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class SharedFact:
    """A fact of several arms: `common` if they all say the same, else `by_arm` (arm -> value)."""

    name: str
    common: str | None
    by_arm: Mapping[str, str]


def flatten(data: Mapping[str, Any]) -> list[Fact]:
    """Facts of nested JSON data in its order; lists of plain values are joined by spaces."""
    found: list[Fact] = []
    _collect("", data, found)
    return found[:MOST_FACTS]


def shared(facts: Mapping[str, Mapping[str, Any]]) -> list[SharedFact]:
    """The facts of several arms side by side; an arm that lacks a fact counts as differing."""
    by_arm = {arm: {f.name: f.value for f in flatten(data)} for arm, data in facts.items()}
    names = dict.fromkeys(name for values in by_arm.values() for name in values)
    return [_side_by_side(name, by_arm) for name in list(names)[:MOST_FACTS]]


def judged(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Evidence of a boot with its checks as one row each: what was seen, and whether it holds."""
    rows: dict[str, Any] = {}
    for check in evidence.get("checks", ()):
        verdict = "as expected" if check["holds"] else f"expected {check['expected']}"
        rows[check["what"]] = f"{check['seen']} ({verdict})"
    return rows | {name: value for name, value in evidence.items() if name != "checks"}


def _side_by_side(name: str, by_arm: Mapping[str, Mapping[str, str]]) -> SharedFact:
    values = {arm: facts[name] for arm, facts in by_arm.items() if name in facts}
    distinct = set(values.values())
    common = distinct.pop() if len(distinct) == 1 and len(values) == len(by_arm) else None
    return SharedFact(name, common, values)


def _collect(prefix: str, value: Any, found: list[Fact]) -> None:
    if len(found) > MOST_FACTS:
        return
    match value:
        case Mapping() if value:
            for key, inner in value.items():
                name = cleaned_line(str(key), 120)
                _collect(f"{prefix}.{name}" if prefix else name, inner, found)
        case str():
            found.append(Fact(prefix, cleaned_line(value, 2000)))
        case Sequence() if any(isinstance(inner, Mapping) for inner in value):
            for number, inner in enumerate(value, start=1):
                _collect(f"{prefix}.{number}", inner, found)
        case Sequence():
            found.append(Fact(prefix, cleaned_line(" ".join(str(v) for v in value), 2000)))
        case bool():
            found.append(Fact(prefix, "yes" if value else "no"))
        case int() if prefix.endswith("_bytes"):
            found.append(Fact(prefix, f"{value:,} ({value / 2**30:.4g} GiB)"))
        case None:
            found.append(Fact(prefix, "not known"))
        case Mapping():
            return
        case _:
            found.append(Fact(prefix, cleaned_line(str(value), 2000)))
