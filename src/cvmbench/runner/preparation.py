"""From a campaign, or from a stored run, to an engine that is ready to work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cvmbench import __version__
from cvmbench.campaign.arm import Arm
from cvmbench.campaign.model import Campaign
from cvmbench.campaign.plan import Plan, PlannedBlock, make_plan
from cvmbench.campaign.reading import CampaignSource
from cvmbench.errors import HostCannotError, ImageError, UsageError
from cvmbench.guest.image.build import Progress, build
from cvmbench.guest.image.cache import Image, default_cache_directory, image_directory, load_image
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.host.facts import changes, host_facts
from cvmbench.runner.engine import Engine
from cvmbench.runner.guest_boot import BootPlan
from cvmbench.runner.jobs import Job, jobs_of, recipe_for
from cvmbench.runner.obstacles import insist_on_arms, insist_on_size, insist_on_tools
from cvmbench.runner.outline import EXPECTED_BOOT_S
from cvmbench.runner.progress import Listener, Note
from cvmbench.runner.timing import TimeLeft
from cvmbench.store.records import (
    ArmRecord,
    BlockRecord,
    NewRun,
    RunRow,
    RunStatus,
    WorkloadRecord,
)
from cvmbench.store.store import Store
from cvmbench.vm.argv import qemu_argv
from cvmbench.vm.configure import Places
from cvmbench.vm.network import NetworkMode, network_mode, planned
from cvmbench.vm.probe import kvm_verdict, qemu_version
from cvmbench.vm.spec import Accelerator


@dataclass(frozen=True, slots=True)
class Ready:
    """What stands before a run can be made: campaign, plan, jobs, and what boots."""

    source: CampaignSource
    plan: Plan
    jobs: Mapping[str, Job]
    boots: BootPlan
    host: Mapping[str, Any]


async def prepare(source: CampaignSource, listen: Listener, progress: Progress) -> Ready:
    """Check everything a campaign needs, build its image if there is none, choose the accelerator.

    Raises UsageError or CampaignError for a wrong campaign, HostCannotError for what is missing.
    """
    boots = await boots_for(source, source.campaign.parsed_arms(), listen, progress)
    jobs = jobs_of(source.campaign)
    return Ready(source, make_plan(source.campaign), jobs, boots, await current_host())


async def boots_for(
    source: CampaignSource, arms: tuple[Arm, ...], listen: Listener, progress: Progress
) -> BootPlan:
    """What boots these arms, in the size and with the packages of the campaign."""
    campaign = source.campaign
    jobs = jobs_of(campaign)
    insist_on_arms(arms)
    insist_on_tools(jobs)
    insist_on_size(campaign, listen)
    keys = InstallationKeys.load_or_create()
    image = await build(recipe_for(jobs, keys), keys, default_cache_directory(), progress)
    boots = BootPlan(campaign, image, keys, Accelerator.TCG, network_mode(campaign.network))
    return replace(boots, accelerator=await _accelerator(campaign, boots, listen))


async def current_host() -> dict[str, Any]:
    """The facts of this host with the version of its QEMU."""
    return {**host_facts(), "qemu": await qemu_version()}


def create_run(ready: Ready, store: Store) -> RunRow:
    """Write the run with its whole plan into the store."""
    campaign = ready.source.campaign
    accelerator = ready.boots.accelerator
    image = ready.boots.image
    return store.add_run(
        NewRun(
            name=campaign.name,
            campaign_text=ready.source.text,
            campaign=campaign.model_dump(mode="json"),
            seed=ready.plan.seed,
            tool_version=__version__,
            functional=accelerator is Accelerator.TCG,
            accelerator=accelerator.value,
            host=ready.host,
            image={
                "digest": image.digest,
                "suite": image.suite,
                "kernel": image.kernel_release,
                "created_at": image.created_at.isoformat(),
                "packages": dict(image.packages),
                "network": ready.boots.network.value,
            },
            arms=tuple(_arm_record(arm, ready) for arm in campaign.parsed_arms()),
            workloads=tuple(
                WorkloadRecord(
                    job.key,
                    job.workload.name,
                    job.parameters.model_dump(mode="json"),
                    job.workload.metrics,
                )
                for job in ready.jobs.values()
            ),
            blocks=tuple(_block_record(block) for block in ready.plan.blocks),
        )
    )


def engine_for(ready: Ready, run: RunRow, store: Store, listen: Listener) -> Engine:
    """The engine of a run that was just created."""
    return _engine(run, ready.boots, ready.jobs, store, listen)


async def resumed(run: RunRow, store: Store, listen: Listener) -> Engine:
    """The engine that goes on with a stored run, on the same host with the same image.

    Raises UsageError if the run is finished or the host has changed, ImageError if its image is
    gone.
    """
    if run.status is RunStatus.FINISHED:
        raise UsageError(
            f"The run {run.key} is finished; nothing is left to do.",
            remedy=f"`cvmbench show {run.key}` prints its results.",
        )
    campaign = Campaign.model_validate(run.campaign)
    jobs = jobs_of(campaign)
    insist_on_tools(jobs)
    insist_on_size(campaign, listen)
    if different := changes(dict(run.host), await current_host()):
        raise UsageError(
            f"The run {run.key} cannot go on: this host is not what it was.",
            why=f"{'; '.join(different)}.",
            remedy="Its numbers would be mixed with others; start a new run.",
        )
    boots = BootPlan(
        campaign,
        _image_of(run),
        InstallationKeys.load_or_create(),
        Accelerator(run.accelerator),
        NetworkMode(run.image["network"]),
    )
    return _engine(run, boots, jobs, store, listen)


def _engine(
    run: RunRow, boots: BootPlan, jobs: Mapping[str, Job], store: Store, listen: Listener
) -> Engine:
    return Engine(
        store=store,
        run=run,
        plan=boots,
        arms={arm.name: arm for arm in boots.campaign.parsed_arms()},
        jobs=jobs,
        listen=listen,
        time_left=TimeLeft(
            {key: job.expected_s for key, job in jobs.items()}, EXPECTED_BOOT_S[boots.accelerator]
        ),
    )


def _image_of(run: RunRow) -> Image:
    digest = str(run.image["digest"])
    try:
        return load_image(image_directory(default_cache_directory(), digest))
    except ImageError as error:
        raise ImageError(
            f"The guest image of the run {run.key} cannot be used.",
            why=error.what,
            remedy="Its numbers would be mixed with those of another image; start a new run.",
        ) from None


async def _accelerator(campaign: Campaign, boots: BootPlan, listen: Listener) -> Accelerator:
    if campaign.accelerator == "tcg":
        return Accelerator.TCG
    verdict = await kvm_verdict(boots.files)
    if verdict.usable:
        return Accelerator.KVM
    if campaign.accelerator == "kvm":
        raise HostCannotError(
            "The campaign asks for KVM, which this host cannot offer.",
            why=verdict.reason,
            remedy='Set accelerator = "auto" to fall back to TCG, for functional results.',
        )
    listen(Note(f"{verdict.reason} Going on with TCG: results are functional, not performance."))
    return Accelerator.TCG


def _arm_record(arm: Arm, ready: Ready) -> ArmRecord:
    """The arm with its VM as planned; files of a boot are named by where they would lie."""
    where = Path("BOOT")
    network = planned(ready.boots.network)
    places = Places(where / "root.qcow2", where / "data.raw", 0, network.nic, network.guest_address)
    spec = ready.boots.spec(arm, places)
    return ArmRecord(
        name=arm.name,
        type=arm.type.value,
        baseline=arm.name == ready.source.campaign.baseline_name,
        spec=spec.as_data(),
        argv=qemu_argv(spec),
    )


def _block_record(block: PlannedBlock) -> BlockRecord:
    return BlockRecord(block.number, block.arms, block.workloads)
