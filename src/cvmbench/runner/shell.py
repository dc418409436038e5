"""A shell in the guest of an arm, for looking around."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from cvmbench.campaign.arm import Arm
from cvmbench.host.tools import find_tool
from cvmbench.runner.guest_boot import BootPlan, BootTrace, Guest, boot

Attach = Callable[[BootTrace], None]


async def guest_shell(plan: BootPlan, arm: Arm, trace: BootTrace, attach: Attach) -> int:
    """Boot `arm`, hand the terminal over to ssh(1), and end the VM with it; gives ssh's status.

    `attach` is called when the guest is up, before ssh gets the terminal; whatever else draws on
    it must stop then. A guest that is not what its arm says is shown all the same: looking is how
    one finds out why.
    """
    async with boot(plan, arm, trace, verified=False) as guest:
        attach(trace)
        return await guest.machine.guard(_ssh(plan, guest))


async def _ssh(plan: BootPlan, guest: Guest) -> int:
    known = plan.keys.login_key.parent / "known_hosts"
    known.write_text(f"cvmbench-guest {plan.keys.host_public_key}\n")
    process = await asyncio.create_subprocess_exec(
        find_tool("ssh"),
        *("-F", "none", "-p", str(guest.ssh_port), "-i", str(plan.keys.login_key)),
        *("-o", "IdentitiesOnly=yes", "-o", "HostKeyAlias=cvmbench-guest"),
        *(
            "-o",
            f'UserKnownHostsFile="{str(known).replace("%", "%%")}"',
            "-o",
            "StrictHostKeyChecking=yes",
        ),
        *("-o", "LogLevel=ERROR", "root@127.0.0.1"),
    )
    # Ctrl-C belongs to the guest's shell as long as ssh holds the terminal.
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    return await process.wait()
