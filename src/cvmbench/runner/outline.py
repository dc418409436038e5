"""What a campaign or an arm would do, without touching anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cvmbench.campaign.arm import Arm
from cvmbench.campaign.model import Campaign
from cvmbench.campaign.plan import Plan, make_plan
from cvmbench.campaign.reading import CampaignSource
from cvmbench.guest.image.recipe import KERNEL_ARGUMENTS
from cvmbench.runner.jobs import Job, jobs_of
from cvmbench.runner.obstacles import obstacles
from cvmbench.vm.argv import qemu_argv
from cvmbench.vm.configure import BootFiles, Places, configure
from cvmbench.vm.network import network_mode, planned
from cvmbench.vm.probe import kept_verdict
from cvmbench.vm.spec import Accelerator

EXPECTED_BOOT_S = {Accelerator.KVM: 8.0, Accelerator.TCG: 10.0}
"""Start, verification and stop of a guest, before anything was seen."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a campaign would do, and about how long it would take in seconds."""

    source: CampaignSource
    plan: Plan
    jobs: Mapping[str, Job]
    estimated_s: float
    assumed: Accelerator
    obstacles: tuple[str, ...]
    """Why parts of it would not be measured on this host, as sentences."""


def outline(source: CampaignSource) -> Outline:
    """The plan of a campaign without touching anything; raises as `prepare` does for its content.

    The time assumes the accelerator that the campaign asks for; where it leaves the choice, the
    one that the last probe boot of this host found, and KVM if there was none.
    """
    campaign = source.campaign
    jobs = jobs_of(campaign)
    plan = make_plan(campaign)
    assumed = _expected_accelerator(campaign)
    trial_s = sum(job.expected_s for job in jobs.values())
    return Outline(
        source,
        plan,
        jobs,
        plan.boots * (EXPECTED_BOOT_S[assumed] + trial_s),
        assumed,
        obstacles(campaign, jobs),
    )


def _expected_accelerator(campaign: Campaign) -> Accelerator:
    if campaign.accelerator != "auto":
        return Accelerator(campaign.accelerator)
    kept = kept_verdict()
    return Accelerator.TCG if kept is not None and not kept.usable else Accelerator.KVM


def command_line(arm: Arm, source: CampaignSource) -> tuple[str, ...]:
    """The QEMU command line of an arm with files and names as they would be; pure.

    It assumes the accelerator as `outline` does, and the network this process may make. Raises
    HostCannotError for types that cannot be launched yet.
    """
    campaign = source.campaign
    files = BootFiles(Path("IMAGE/vmlinuz"), Path("IMAGE/initrd.cpio"), KERNEL_ARGUMENTS)
    network = planned(network_mode(campaign.network))
    where = Path("BOOT")
    places = Places(
        where / "root.qcow2", where / "data.raw", 2222, network.nic, network.guest_address
    )
    spec = configure(
        arm,
        vcpus=campaign.vm.vcpus,
        memory_bytes=int(campaign.vm.memory),
        accelerator=_expected_accelerator(campaign),
        files=files,
        places=places,
    )
    return qemu_argv(spec)
