from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cvmbench.campaign.plan import make_plan
from cvmbench.campaign.reading import read_campaign


def quick(*settings: str):  # type: ignore[no-untyped-def]
    return read_campaign("quick", settings).campaign


@given(st.integers(0, 2**63 - 1), st.integers(1, 30))
def test_every_block_holds_every_arm_and_workload_once(seed: int, blocks: int) -> None:
    campaign = quick(f"seed={seed}", f"blocks={blocks}")
    plan = make_plan(campaign)
    assert [block.number for block in plan.blocks] == list(range(1, blocks + 1))
    for block in plan.blocks:
        assert sorted(block.arms) == sorted(arm.name for arm in campaign.parsed_arms())
        assert sorted(block.workloads) == sorted(choice.key for choice in campaign.workloads)
    assert plan.boots == blocks * 3
    assert plan.trials == blocks * 12


@given(st.integers(0, 2**63 - 1))
def test_the_same_seed_gives_the_same_plan(seed: int) -> None:
    campaign = quick(f"seed={seed}")
    assert make_plan(campaign) == make_plan(campaign)
    assert make_plan(campaign).seed == seed


def test_without_a_seed_one_is_drawn_and_told() -> None:
    campaign = quick()
    plan = make_plan(campaign)
    assert make_plan(campaign.model_copy(update={"seed": plan.seed})) == plan


def test_every_arm_comes_first_about_equally_often() -> None:
    plan = make_plan(quick("seed=1", "blocks=600"))
    first = Counter(block.arms[0] for block in plan.blocks)
    assert all(150 < count < 250 for count in first.values())
