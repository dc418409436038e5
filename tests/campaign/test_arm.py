from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.campaign.arm import MODIFIERS, ArmType, parse_arm
from cvmbench.errors import UsageError


def test_a_type_alone_is_an_arm() -> None:
    arm = parse_arm("sev-snp")
    assert (arm.name, arm.type, arm.modifiers) == ("sev-snp", ArmType.SEV_SNP, ())


def test_modifiers_keep_their_order_and_get_their_default_value() -> None:
    arm = parse_arm("plain+idle-poll+swiotlb")
    assert arm.modifiers == (("idle-poll", None), ("swiotlb", 128))


def test_a_value_can_be_given() -> None:
    assert parse_arm("plain+swiotlb=256").value_of("swiotlb") == 256


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("plian", "Did you mean 'plain'?"),
        ("sevsnp", "'sev-snp'"),
        ("plain+swoitlb", "Did you mean 'swiotlb'?"),
        ("plain+idle-poll=3", "Write 'idle-poll' alone."),
        ("plain+swiotlb=1", "from 4 to 1024"),
        ("plain+swiotlb=", "from 4 to 1024"),
        ("plain+swiotlb=١٢٨", "from 4 to 1024"),
        ("plain+swiotlb+swiotlb=8", "Name it once."),
        ("", "Known:"),
        ("plain+", "Known: idle-poll, swiotlb."),
    ],
)
def test_a_wrong_arm_is_refused_with_the_nearest_valid_spelling(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_arm(text)
    assert hint in caught.value.remedy


@given(st.text(max_size=80))
def test_any_text_is_an_arm_or_a_usage_error(text: str) -> None:
    try:
        arm = parse_arm(text)
    except UsageError:
        return
    assert all(name in MODIFIERS for name, _ in arm.modifiers)


@given(st.sampled_from(ArmType), st.lists(st.sampled_from(sorted(MODIFIERS)), unique=True))
def test_an_arm_reads_back_as_it_was_written(kind: ArmType, names: list[str]) -> None:
    arm = parse_arm("+".join([kind.value, *names]))
    written = "+".join(
        [arm.type.value, *(n if v is None else f"{n}={v}" for n, v in arm.modifiers)]
    )
    assert parse_arm(written).modifiers == arm.modifiers
