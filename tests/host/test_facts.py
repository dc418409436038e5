from __future__ import annotations

import json
import os
from pathlib import Path

from cvmbench.host.facts import changes, host_facts


def test_facts_are_data_and_true_of_this_host() -> None:
    facts = host_facts()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["kernel"] == os.uname().release
    assert facts["cpus"] == os.cpu_count()
    assert facts["memory_bytes"] > 2**28


def test_a_host_is_equal_to_itself() -> None:
    assert changes(host_facts(), host_facts()) == []


def test_what_changed_is_named() -> None:
    facts = {**host_facts(), "qemu": "10.0"}
    assert changes(facts, {**facts, "qemu": "10.1"}) == ["qemu: 10.0 before, 10.1 now"]


def test_the_machine_id_itself_is_not_kept() -> None:
    identity = Path("/etc/machine-id").read_text(encoding="utf-8").strip()
    assert not identity or identity not in json.dumps(host_facts())
