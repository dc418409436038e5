"""A shell in the guest of an arm, for looking around."""

from __future__ import annotations

import asyncio
import signal

from cvmbench.campaign.arm import Arm
from cvmbench.campaign.reading import CampaignSource
from cvmbench.guest.image.build import Progress
from cvmbench.host.tools import find_tool
from cvmbench.runner.guest_boot import BootPlan, BootTrace, Guest, boot
from cvmbench.runner.preparation import boots_for
from cvmbench.runner.progress import BootBegan, GuestReady, Listener, Note


async def guest_shell(
    arm: Arm, source: CampaignSource, listen: Listener, progress: Progress
) -> int:
    """Boot `arm`, run ssh(1) on this terminal, and end the VM with it; gives ssh's exit status.

    A guest that is not what its arm says is shown all the same, with a warning: looking is how
    one finds out why.
    """
    plan = await boots_for(source, (arm,), listen, progress)
    trace = BootTrace()
    listen(BootBegan(arm.name, 1, 1, 1))
    async with boot(plan, arm, trace, verified=False) as guest:
        listen(GuestReady(arm.name, 1, trace.ready_s))
        for check in trace.checks:
            if not check.holds:
                text = f"Not as the arm says: {check.what}: expected {check.expected}"
                listen(Note(f"{text}, saw {check.seen or 'nothing'}", is_warning=True))
        return await guest.machine.guard(_ssh(plan, guest))


async def _ssh(plan: BootPlan, guest: Guest) -> int:
    known = plan.keys.login_key.parent / "known_hosts"
    known.write_text(f"cvmbench-guest {plan.keys.host_public_key}\n")
    process = await asyncio.create_subprocess_exec(
        find_tool("ssh"),
        *("-F", "none", "-p", str(guest.ssh_port), "-i", str(plan.keys.login_key)),
        *("-o", "IdentitiesOnly=yes", "-o", "HostKeyAlias=cvmbench-guest"),
        *("-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=yes"),
        *("-o", "LogLevel=ERROR", "root@127.0.0.1"),
    )
    # Ctrl-C belongs to the guest's shell as long as ssh holds the terminal.
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    return await process.wait()
