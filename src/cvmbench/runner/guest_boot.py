"""One boot: disks, network, QEMU, ready line, SSH, evidence, verification."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cvmbench.campaign.arm import Arm
from cvmbench.campaign.model import Campaign
from cvmbench.guest.command import Command, Output
from cvmbench.guest.connection import Connection, run_checked
from cvmbench.guest.evidence import Evidence, collect
from cvmbench.guest.image.cache import Image
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.guest.local import LocalConnection
from cvmbench.guest.ssh import connect
from cvmbench.guest.verification import Check, insist, verify
from cvmbench.vm.configure import BootFiles, Places, configure
from cvmbench.vm.disks import insist_on_room, make_data_disk, make_root_overlay
from cvmbench.vm.machine import Machine, running
from cvmbench.vm.network import MeasuredNetwork, NetworkMode, free_port, measured_network
from cvmbench.vm.spec import Accelerator, VmSpec
from cvmbench.vm.workspace import machines_folder, open_workspace
from cvmbench.workloads.contract import Surroundings

DATA_DISK = "/dev/cvmbench/data"
SHUTDOWN_S = 20.0

GUEST_FACTS = (
    "kernel",
    "cmdline",
    "cpu_model",
    "vcpus",
    "virtualization",
    "clock_source",
    "idle_driver",
    "huge_pages",
)
"""Sections of the evidence that are facts to be shown beside the numbers."""


@dataclass(frozen=True, slots=True)
class BootPlan:
    """What is the same for every boot of a run."""

    campaign: Campaign
    image: Image
    keys: InstallationKeys
    accelerator: Accelerator
    network: NetworkMode
    folder: Path = field(default_factory=machines_folder)

    @property
    def files(self) -> BootFiles:
        """What the guests boot from."""
        return BootFiles(self.image.kernel, self.image.initrd, self.image.kernel_arguments)

    def spec(self, arm: Arm, places: Places) -> VmSpec:
        """The VM of an arm, with its files and ports in `places`."""
        return configure(
            arm,
            vcpus=self.campaign.vm.vcpus,
            memory_bytes=int(self.campaign.vm.memory),
            accelerator=self.accelerator,
            files=self.files,
            places=places,
        )


@dataclass(frozen=True, slots=True)
class Guest:
    """A verified guest that is up, and the place outside it where its clients run."""

    machine: Machine
    connection: Connection
    client: LocalConnection
    surroundings: Surroundings
    ssh_port: int

    async def run(self, command: Command) -> Output:
        """Run a command in the guest that must succeed; fails at once if the machine ends."""
        return await self.machine.guard(run_checked(self.connection, command))

    async def attempt(self, command: Command, *, outside: bool = False) -> Output:
        """Run a command in the guest, or outside it on its measured network; any status will do."""
        where = self.client if outside else self.connection
        return await self.machine.guard(where.run(command))


@dataclass(slots=True)
class BootTrace:
    """What a boot has shown so far; readable also when it failed on the way."""

    machine: Machine | None = None
    network: MeasuredNetwork | None = None
    evidence: Evidence | None = None
    checks: tuple[Check, ...] = ()
    ready_s: float = 0.0
    stopped_by_itself: bool | None = None

    def facts(self) -> dict[str, Any]:
        """What the guest says of itself, as JSON data; what it left empty is None."""
        if self.evidence is None:
            return {}
        said = {name: self.evidence[name] or None for name in GUEST_FACTS}
        return {
            **said,
            "memory_bytes": (self.evidence.number("memory_kb") or 0) * 1024 or None,
            "mitigations": _pairs(self.evidence["mitigations"]),
        }

    def evidence_data(self) -> dict[str, Any]:
        """How the boot was made, what the guest showed, and the judgement of it, as JSON data."""
        machine = self.machine
        return {
            "argv": list(machine.argv) if machine else [],
            "cgroup": str(machine.cgroup) if machine and machine.cgroup else None,
            "network": self.network.mode.value if self.network else None,
            "sections": dict(self.evidence.sections) if self.evidence else {},
            "checks": [dataclasses.asdict(check) for check in self.checks],
        }


def _pairs(lines: str) -> dict[str, str]:
    """Lines of `name:value` as data."""
    split = (line.partition(":") for line in lines.splitlines())
    return {name: value.strip() for name, found, value in split if found}


@contextlib.asynccontextmanager
async def boot(
    plan: BootPlan, arm: Arm, trace: BootTrace, *, verified: bool = True
) -> AsyncIterator[Guest]:
    """Bring a guest up; everything of it is gone when the block ends.

    Fills in `trace` on the way. Raises TrialFailure with the kind of what went wrong; with
    `verified`, also if the guest is not what its arm says.
    """
    limit = plan.campaign.limits.boot_s
    async with contextlib.AsyncExitStack() as stack:
        workspace = stack.enter_context(open_workspace(plan.folder))
        insist_on_room(workspace.folder, int(plan.campaign.vm.data_disk))
        overlay = await make_root_overlay(plan.image.root_disk, workspace)
        data = make_data_disk(int(plan.campaign.vm.data_disk), workspace)
        network = await stack.enter_async_context(measured_network(plan.network, workspace))
        trace.network = network
        port = free_port()
        spec = plan.spec(arm, Places(overlay, data, port, network.nic, network.guest_address))
        machine = await stack.enter_async_context(running(spec, workspace, network.taps))
        trace.machine = machine
        await machine.wait_ready(limit)
        session = connect(
            "127.0.0.1",
            port,
            user="root",
            login_key=plan.keys.login_key,
            host_public_key=plan.keys.host_public_key,
            timeout_s=limit,
        )
        connection = await machine.guard(stack.enter_async_context(session))
        trace.ready_s = machine.age_s
        trace.evidence = await machine.guard(collect(connection))
        trace.checks = verify(arm, trace.evidence, vcpus=spec.vcpus, memory_bytes=spec.memory_bytes)
        if verified:
            insist(arm, trace.checks)
        client = LocalConnection(network.client_prefix, workspace)
        yield Guest(machine, connection, client, _surroundings(plan, network), port)
        power_off = connection.run(
            Command(("systemctl", "--force", "--force", "poweroff"), timeout_s=SHUTDOWN_S)
        )
        trace.stopped_by_itself = await machine.power_off(power_off, SHUTDOWN_S)


def _surroundings(plan: BootPlan, network: MeasuredNetwork) -> Surroundings:
    return Surroundings(
        vcpus=plan.campaign.vm.vcpus,
        memory_bytes=int(plan.campaign.vm.memory),
        data_disk=DATA_DISK,
        data_disk_bytes=int(plan.campaign.vm.data_disk),
        server_host=network.server_host,
        server_port=network.server_port,
        client_host=network.client_host,
        client_port=network.client_port,
    )
