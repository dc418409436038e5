"""The plan: a campaign expanded into blocks of boots of trials, in an order drawn by a seed."""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass

from cvmbench.campaign.model import Campaign


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """One round: every arm is booted once, in this order, and runs the workloads in this order.

    The order of workloads is the same for all arms of a block, so that they meet the same
    predecessor; it changes from block to block, so that no workload always comes first.
    """

    number: int
    arms: tuple[str, ...]
    workloads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All blocks of a run and the seed that ordered them."""

    seed: int
    blocks: tuple[PlannedBlock, ...]

    @property
    def boots(self) -> int:
        """How many boots the plan holds."""
        return sum(len(block.arms) for block in self.blocks)

    @property
    def trials(self) -> int:
        """How many trials the plan holds."""
        return sum(len(block.arms) * len(block.workloads) for block in self.blocks)


def make_plan(campaign: Campaign) -> Plan:
    """Randomised complete blocks: each block holds every arm once (facts: Order).

    The same campaign and seed give the same plan; without a seed one is drawn and stored.
    """
    seed = campaign.seed if campaign.seed is not None else secrets.randbits(32)
    draw = random.Random(seed)  # noqa: S311 - an order, not a secret
    arms = [arm.name for arm in campaign.parsed_arms()]
    workloads = [choice.key for choice in campaign.workloads]
    return Plan(
        seed,
        tuple(
            PlannedBlock(
                number,
                tuple(draw.sample(arms, len(arms))),
                tuple(draw.sample(workloads, len(workloads))),
            )
            for number in range(1, campaign.blocks + 1)
        ),
    )
