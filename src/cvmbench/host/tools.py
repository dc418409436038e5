"""Programs of this host that cvmbench calls: where they are, and how to call them safely."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence

from cvmbench.errors import HostCannotError, MissingToolError

DEBIAN_PACKAGES = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "mmdebstrap": "mmdebstrap",
    "mkfs.ext4": "e2fsprogs",
    "redis-benchmark": "redis-tools",
    "iperf3": "iperf3",
}
"""Program -> the Debian package that brings it, for remedies."""


def find_tool(program: str) -> str:
    """The full path of `program`. Raises MissingToolError naming the package to install."""
    # Ordinary users often have no sbin on their PATH.
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if found is None:
        package = DEBIAN_PACKAGES.get(program, program)
        raise MissingToolError(
            f"The program '{program}' is not installed on this host.",
            remedy=f"Install it: apt-get install {package} (Debian, Ubuntu), then try again.",
        )
    return found


def dies_with_us(argv: Sequence[str]) -> tuple[str, ...]:
    """`argv` so that the kernel ends it when this process dies, even by SIGKILL (setpriv(1)).

    The death of a parent before setpriv(1) asked for the signal is found by looking who the
    parent is then; the program is not started any more in that case.
    """
    still_ours = '[ "$PPID" = "$0" ] && exec "$@"'
    setpriv = (find_tool("setpriv"), "--pdeathsig", "KILL", "--")
    return (*setpriv, "/bin/sh", "-c", still_ours, str(os.getpid()), *argv)


async def reap(process: asyncio.subprocess.Process) -> None:
    """Kill a child of ours if it still runs, and wait for its end.

    The pipes are closed first: asyncio tells of a process's end only when its pipes are at theirs,
    which one that nobody reads any more never gets to.
    """
    process._transport.close()  # type: ignore[attr-defined]  # there is no public way
    await process.wait()


async def call(*argv: str, timeout_s: float = 30) -> str:
    """Run a host program and give its standard output.

    Raises HostCannotError with the program's own words if it fails or exceeds the time limit.
    """
    process = await asyncio.create_subprocess_exec(
        find_tool(argv[0]),
        *argv[1:],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(timeout_s):
            out, err = await process.communicate()
    except TimeoutError:
        raise HostCannotError(f"'{' '.join(argv)}' did not end within {timeout_s:.0f} s.") from None
    finally:
        await reap(process)
    if process.returncode != 0:
        reason = err.decode(errors="replace").strip()[-500:]
        raise HostCannotError(f"'{' '.join(argv)}' failed.", why=reason)
    return out.decode(errors="replace")
