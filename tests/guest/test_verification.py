from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.campaign.arm import parse_arm
from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.evidence import SECTIONS, Evidence, parse_evidence
from cvmbench.guest.verification import insist, verify

GIB = 2**30


def evidence(**sections: str) -> Evidence:
    plain = {
        "cmdline": "root=LABEL=cvmbench-root console=ttyS0",
        "confidential": "none",
        "vcpus": "2",
        "memory_kb": "989876",
        "swiotlb_slots": "0",
        "swiotlb_high_water": "0",
    }
    return Evidence({name: {**plain, **sections}.get(name, "") for name in SECTIONS})


def broken(arm: str, found: Evidence) -> list[str]:
    checks = verify(parse_arm(arm), found, vcpus=2, memory_bytes=GIB)
    return [check.what for check in checks if not check.holds]


SNP = "[    0.4] Memory Encryption Features active: AMD SEV SEV-ES SEV-SNP"


@pytest.mark.parametrize(
    ("arm", "sections"),
    [
        ("plain", {}),
        ("plain+idle-poll", {"cmdline": "idle=poll", "polling_idle": "using polling idle threads"}),
        (
            "plain+swiotlb",
            {
                "cmdline": "swiotlb=65536,force",
                "swiotlb_slots": "65536",
                "swiotlb_high_water": "249",
                "memory_kb": "857268",
            },
        ),
        (
            "plain+swiotlb=256",
            {
                "cmdline": "swiotlb=131072,force",
                "swiotlb_slots": "131072",
                "swiotlb_high_water": "249",
                # Seen in a real guest of 1 GiB: the pool is not part of MemTotal.
                "memory_kb": "724660",
            },
        ),
        ("sev", {"memory_encryption": SNP[:-15], "confidential": "sev"}),
        ("sev-snp", {"memory_encryption": SNP, "confidential": "sev-snp"}),
        (
            "tdx",
            {
                "memory_encryption": "Memory Encryption Features active: Intel TDX",
                "confidential": "tdx",
            },
        ),
    ],
)
def test_a_guest_is_what_its_arm_says(arm: str, sections: dict[str, str]) -> None:
    assert broken(arm, evidence(**sections)) == []


@pytest.mark.parametrize(
    ("arm", "sections", "what"),
    [
        ("plain", {"memory_encryption": SNP}, "memory encryption in the kernel log"),
        ("plain", {"confidential": "sev-snp"}, "systemd-detect-virt --cvm"),
        ("plain", {"cmdline": "swiotlb=65536,force"}, "bounce buffers"),
        ("plain", {"swiotlb_high_water": "3"}, "bounce buffers"),
        ("plain", {"polling_idle": "using polling idle threads"}, "idle polling"),
        ("plain", {"vcpus": "1"}, "number of vCPUs"),
        ("plain", {"memory_kb": "500000"}, "memory of the guest"),
        ("plain", {"memory_kb": "9000000"}, "memory of the guest"),
        ("plain+idle-poll", {}, "idle polling"),
        ("plain+idle-poll", {"cmdline": "idle=poll"}, "idle polling"),
        ("plain+swiotlb", {}, "bounce buffers"),
        (
            "plain+swiotlb",
            {
                "cmdline": "swiotlb=65536,force",
                "swiotlb_slots": "65536",
                "memory_kb": "857268",
            },
            "bounce buffers",
        ),
        (
            "plain+swiotlb=256",
            {
                "cmdline": "swiotlb=1,force",
                "swiotlb_slots": "65536",
                "swiotlb_high_water": "9",
                "memory_kb": "857268",
            },
            "bounce buffers",
        ),
        ("sev-snp", {"confidential": "sev-snp"}, "memory encryption in the kernel log"),
        (
            "sev-snp",
            {"memory_encryption": SNP, "confidential": "sev"},
            "systemd-detect-virt --cvm",
        ),
        (
            "sev-snp",
            {
                "memory_encryption": "Memory Encryption Features active: AMD SEV SEV-ES",
                "confidential": "sev-snp",
            },
            "memory encryption in the kernel log",
        ),
    ],
)
def test_what_contradicts_is_named(arm: str, sections: dict[str, str], what: str) -> None:
    assert broken(arm, evidence(**sections)) == [what]


def test_insisting_names_expected_and_seen() -> None:
    arm = parse_arm("plain")
    checks = verify(arm, evidence(vcpus="64"), vcpus=2, memory_bytes=GIB)
    with pytest.raises(TrialFailure, match="number of vCPUs: expected 2, saw 64") as caught:
        insist(arm, checks)
    assert caught.value.kind is FailureKind.NOT_VERIFIED


def printed(sections: dict[str, str]) -> str:
    return "".join(f"\n@@ {name}\n{body}" for name, body in sections.items())


def test_evidence_reads_back() -> None:
    bodies = {name: f"value of {name}" for name in SECTIONS}
    assert dict(parse_evidence(printed(bodies)).sections) == bodies


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@@ cmdline\nx",
        printed(dict.fromkeys(reversed(SECTIONS), "x")),
        printed(dict.fromkeys(SECTIONS[:-1], "x")),
        printed(dict.fromkeys(SECTIONS, "x")) + "\n@@ cmdline\nagain",
    ],
)
def test_evidence_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(TrialFailure) as caught:
        parse_evidence(text)
    assert caught.value.kind is FailureKind.OUTPUT_NOT_UNDERSTOOD


@given(st.dictionaries(st.sampled_from(SECTIONS), st.text(max_size=60)))
def test_whatever_a_guest_says_is_judged_without_an_error(said: dict[str, str]) -> None:
    text = printed({name: said.get(name, "") for name in SECTIONS})
    try:
        found = parse_evidence(text)
    except TrialFailure:
        return
    for arm in ("plain", "plain+swiotlb", "plain+idle-poll", "sev-snp", "tdx"):
        for check in verify(parse_arm(arm), found, vcpus=2, memory_bytes=GIB):
            assert check.seen.isprintable() or "\n" in check.seen
