"""How long a guest takes from QEMU's start to ready, against a bare initramfs of the same kernel.

Boots both in turn and prints medians and the ratio of the pairs. The bare initramfs mounts nothing
and starts nothing: its init prints the ready line, so what is compared is everything that a
benchmark guest has on top of kernel and firmware.

    python benchmarks/boot_time.py [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path

from cvmbench.campaign.arm import parse_arm
from cvmbench.campaign.reading import read_campaign
from cvmbench.guest.image.initramfs import pack
from cvmbench.guest.image.recipe import ImageFile
from cvmbench.runner.guest_boot import BootPlan, BootTrace, boot
from cvmbench.runner.preparation import boots_for
from cvmbench.vm.machine import running
from cvmbench.vm.spec import VmSpec
from cvmbench.vm.workspace import open_workspace

INIT = b"""#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
echo "cvmbench: ready" >/dev/ttyS0
/bin/busybox sleep 600
"""


async def bare_s(spec: VmSpec) -> float:
    """Seconds from QEMU's start to the ready line of the bare initramfs."""
    with open_workspace() as workspace:
        async with running(spec, workspace) as machine:
            return await machine.wait_ready(60)


async def guest_s(plan: BootPlan) -> tuple[float, float]:
    """Seconds from QEMU's start to the guest's ready line, and to the first SSH session."""
    trace = BootTrace()
    async with boot(plan, parse_arm("plain"), trace) as guest:
        return guest.machine.ready_after_s or 0.0, trace.ready_s


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    source = read_campaign("quick")
    plan = await boots_for(source, (parse_arm("plain"),), lambda _: None, lambda _: None)
    with tempfile.TemporaryDirectory() as folder:
        initrd = Path(folder, "bare.cpio")
        # A later archive's files replace an earlier one's (initramfs buffer format).
        initrd.write_bytes(plan.image.initrd.read_bytes() + pack([ImageFile("init", INIT, 0o755)]))
        spec = VmSpec(
            accelerator=plan.accelerator,
            cpu="max" if plan.accelerator == "tcg" else "host",
            vcpus=source.campaign.vm.vcpus,
            memory_bytes=int(source.campaign.vm.memory),
            kernel=plan.image.kernel,
            initrd=initrd,
            kernel_arguments=(*plan.image.kernel_arguments, "panic=-1"),
            disks=(),
            networks=(),
        )
        pairs = []
        for number in range(1, rounds + 1):
            bare, (ready, session) = await bare_s(spec), await guest_s(plan)
            pairs.append((bare, ready, session))
            print(f"round {number}: bare {bare:.2f} s, ready {ready:.2f} s, SSH {session:.2f} s")
    print(f"under {plan.accelerator}, median of {rounds}:")
    for name, column in (("bare initramfs", 0), ("ready", 1), ("first SSH session", 2)):
        seconds = statistics.median(pair[column] for pair in pairs)
        ratio = statistics.median(pair[column] / pair[0] for pair in pairs)
        print(f"  {name:18} {seconds:6.2f} s   {ratio:5.2f} x bare")


if __name__ == "__main__":
    asyncio.run(main())
