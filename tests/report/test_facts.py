from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cvmbench.report.facts import MOST_FACTS, Fact, SharedFact, flatten, shared


def test_nested_data_get_dotted_names() -> None:
    data = {
        "cpu": {"model": "EPYC", "flags": ["sev", "avx"]}, "kvm": False, "sev": None,
        "memory_bytes": 2**31, "numa": [{"cpus": 2}, {"cpus": 4}],
    }  # fmt: skip
    assert flatten(data) == [
        Fact("cpu.model", "EPYC"),
        Fact("cpu.flags", "sev avx"),
        Fact("kvm", "no"),
        Fact("sev", "not known"),
        Fact("memory_bytes", "2,147,483,648 (2 GiB)"),
        Fact("numa.1.cpus", "2"),
        Fact("numa.2.cpus", "4"),
    ]


def test_what_a_guest_says_is_bounded_and_cleaned() -> None:
    found = flatten({f"k{i}\x1b": "v\u202e" * 10_000 for i in range(2 * MOST_FACTS)})
    assert len(found) == MOST_FACTS
    assert all("\x1b" not in f.name and "\u202e" not in f.value for f in found)
    assert all(len(f.value) < 2100 for f in found)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=5), json))
def test_any_json_gives_facts(data: dict[str, Any]) -> None:
    assert all(isinstance(f.value, str) for f in flatten(data))


def test_arms_that_agree_share_a_fact() -> None:
    found = shared({"plain": {"k": "6.12", "idle": "halt"}, "poll": {"k": "6.12", "idle": "poll"}})
    assert found == [
        SharedFact("k", "6.12", {"plain": "6.12", "poll": "6.12"}),
        SharedFact("idle", None, {"plain": "halt", "poll": "poll"}),
    ]


def test_an_arm_that_lacks_a_fact_does_not_agree() -> None:
    (only,) = shared({"plain": {"k": "6.12"}, "poll": {}})
    assert only.common is None
    assert only.by_arm == {"plain": "6.12"}
