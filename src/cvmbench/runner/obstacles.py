"""What stands in the way of a campaign on this host, and what would disturb it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

import psutil

from cvmbench.campaign.arm import Arm, ArmType
from cvmbench.campaign.model import Campaign
from cvmbench.errors import CvmbenchError, HostCannotError
from cvmbench.host.tools import find_tool
from cvmbench.runner.guest_boot import DATA_DISK
from cvmbench.runner.jobs import Job
from cvmbench.runner.progress import Listener, Note
from cvmbench.store.store import Store
from cvmbench.units import format_quantity
from cvmbench.workloads.contract import Surroundings

BUSY_PERCENT = 20.0
"""CPU use of the whole host, in percent, above which it counts as busy before a run starts."""

BUSY_WINDOW_S = 1.0
"""How long the use is watched. Not the load average: that remembers our own image build."""


def insist_on_tools(jobs: Mapping[str, Job]) -> None:
    """Raise MissingToolError for a program that this host needs for these jobs and lacks."""
    for program in ("qemu-system-x86_64", "qemu-img", "setpriv", "ip"):
        find_tool(program)
    for job in jobs.values():
        for program in job.workload.client_programs:
            find_tool(program)


def insist_on_arms(arms: tuple[Arm, ...]) -> None:
    """Raise HostCannotError for an arm that cannot be started here."""
    for arm in arms:
        if arm.type.is_confidential:
            raise HostCannotError(
                f"This host cannot run the arm '{arm.name}': '{arm.type}' guests need KVM with "
                f"{arm.type.value.upper()} enabled by processor, firmware and kernel.",
                why="cvmbench does not start confidential guests yet.",
                remedy="Compare 'plain' with its modifiers here; see `cvmbench list arms`.",
            )
        if arm.type is not ArmType.PLAIN:
            raise HostCannotError(
                f"The arm '{arm.name}' is of type '{arm.type}', which cannot be measured yet.",
                remedy="Compare 'plain' with its modifiers; see `cvmbench list arms`.",
            )


def insist_on_size(campaign: Campaign, listen: Listener) -> None:
    """Raise HostCannotError for a VM larger than this host; tell of what will disturb a run."""
    cpus = len(os.sched_getaffinity(0))
    if campaign.vm.vcpus > cpus:
        text = f"The VM has {campaign.vm.vcpus} vCPUs, this host offers {cpus} CPUs"
        listen(Note(f"{text}: vCPUs will wait for each other.", is_warning=True))
    memory = psutil.virtual_memory()
    if campaign.vm.memory > memory.available:
        raise HostCannotError(
            f"A VM of {format_quantity(campaign.vm.memory, 'B')} does not fit on this host.",
            why=f"{format_quantity(memory.available, 'B')} of memory are available.",
            remedy="Give the VM less memory: vm.memory in the campaign.",
        )


def disturbances(store: Store) -> list[str]:
    """What works on this host besides us, as sentences; it would be in the numbers."""
    found = []
    used = psutil.cpu_percent(interval=BUSY_WINDOW_S)
    if used > BUSY_PERCENT:
        found.append(
            f"This host is busy: {used:.0f}% of its CPU time is used before anything of this run "
            "starts. What else works here is in the numbers too."
        )
    if active := store.active_runs():
        found.append(f"Another run is being worked on at the same time: {', '.join(active)}.")
    return found


def obstacles(campaign: Campaign, jobs: Mapping[str, Job]) -> tuple[str, ...]:
    """Why parts of a campaign would not be measured on this host, as sentences."""
    return tuple(_obstacles(campaign, jobs))


def _obstacles(campaign: Campaign, jobs: Mapping[str, Job]) -> Iterator[str]:
    notes: list[str] = []

    def listen(event: object) -> None:
        if isinstance(event, Note):
            notes.append(event.text)

    checks: tuple[Callable[[], None], ...] = (
        lambda: insist_on_arms(campaign.parsed_arms()),
        lambda: insist_on_tools(jobs),
        lambda: insist_on_size(campaign, listen),
    )
    for check in checks:
        try:
            check()
        except CvmbenchError as error:
            yield str(error)
    yield from notes
    around = Surroundings(
        vcpus=campaign.vm.vcpus,
        memory_bytes=int(campaign.vm.memory),
        data_disk=DATA_DISK,
        data_disk_bytes=int(campaign.vm.data_disk),
        server_host="",
        server_port=0,
        client_host="",
        client_port=0,
    )
    for key, job in jobs.items():
        if reason := job.workload.unavailable(job.parameters, around):
            yield f"The workload '{key}' would be unavailable. {reason}"
