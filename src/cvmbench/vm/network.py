"""The measured network of one machine: between the guest and a client that runs outside it.

A tap device and a bridge in a network namespace of the machine's own, where the client runs too;
ordinary users get it inside a user namespace, where this host lets them. Otherwise: QEMU's
user-mode network, with one forwarded port. Which of the two it was is part of the result.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path

from cvmbench.errors import HostCannotError, MissingToolError
from cvmbench.host.tools import dies_with_us, find_tool, reap
from cvmbench.vm.spec import MEASURED_MAC, Forward, TapNetwork, UserNetwork
from cvmbench.vm.workspace import Workspace

SERVER_PORT = 5201
_GUEST = "10.77.0.2"
_CLIENT = "10.77.0.1"
_USER_GUEST = "10.0.3.15"
_USER_NETWORK = "10.0.3.0/24"

_HOLDER = Path(__file__).with_name("namespace_holder.py")
_HANDOVER_S = 20.0


class NetworkMode(StrEnum):
    """How the measured NIC reaches the client."""

    TAP = "tap"
    USER = "user"


@dataclass(frozen=True, slots=True)
class MeasuredNetwork:
    """The measured NIC as QEMU sees it, and how a client outside reaches the guest over it.

    `client_prefix` goes before a client's argv so that it runs where the network is.
    """

    mode: NetworkMode
    nic: UserNetwork | TapNetwork
    guest_address: str
    server_host: str
    server_port: int
    client_host: str
    client_port: int
    client_prefix: tuple[str, ...] = ()
    taps: Mapping[str, int] = field(default_factory=dict)


@cache
def available_mode() -> NetworkMode:
    """The better of the two that this process may use; tried, not guessed."""
    try:
        probe = [*_unshare(), find_tool("ip"), "link", "add", "probe0", "type", "bridge"]
        made = subprocess.run(probe, capture_output=True, timeout=10, check=False).returncode == 0
    except (MissingToolError, OSError, subprocess.TimeoutExpired):
        made = False
    may_tap = made and os.access("/dev/net/tun", os.R_OK | os.W_OK)
    return NetworkMode.TAP if may_tap else NetworkMode.USER


def network_mode(asked: str) -> NetworkMode:
    """The mode that is meant by `tap`, `user` or `auto`."""
    return available_mode() if asked == "auto" else NetworkMode(asked)


def planned(mode: NetworkMode) -> MeasuredNetwork:
    """The network as it would be, for printing a command line; nothing is made."""
    return _tap("cvmb0", {}, ()) if mode is NetworkMode.TAP else _user(5201)


@contextlib.asynccontextmanager
async def measured_network(mode: NetworkMode, where: Workspace) -> AsyncIterator[MeasuredNetwork]:
    """The measured network of one machine, gone when the block ends."""
    if mode is NetworkMode.USER:
        yield _user(free_port())
        return
    async with _namespace(where) as (tap, holder):
        yield _tap(where.id, {"measured": tap}, _enter(holder))


def free_port() -> int:
    """A TCP port of the loopback interface that is free at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _user(port: int) -> MeasuredNetwork:
    return MeasuredNetwork(
        mode=NetworkMode.USER,
        nic=UserNetwork("measured", MEASURED_MAC, _USER_NETWORK, (Forward(port, SERVER_PORT),)),
        guest_address=f"{_USER_GUEST}/24",
        server_host=_USER_GUEST,
        server_port=SERVER_PORT,
        client_host="127.0.0.1",
        client_port=port,
    )


def _tap(name: str, taps: Mapping[str, int], prefix: tuple[str, ...]) -> MeasuredNetwork:
    return MeasuredNetwork(
        mode=NetworkMode.TAP,
        nic=TapNetwork("measured", MEASURED_MAC, name),
        guest_address=f"{_GUEST}/24",
        server_host=_GUEST,
        server_port=SERVER_PORT,
        client_host=_GUEST,
        client_port=SERVER_PORT,
        client_prefix=prefix,
        taps=taps,
    )


@contextlib.asynccontextmanager
async def _namespace(where: Workspace) -> AsyncIterator[tuple[int, int]]:
    """A namespace with a tap on a bridge; gives the tap's descriptor and the holder's PID."""
    ours, theirs = socket.socketpair()
    with contextlib.ExitStack() as stack:
        stack.callback(ours.close)
        with theirs:
            script = (sys.executable, "-I", "-S", str(_HOLDER), str(theirs.fileno()))
            holder = await asyncio.create_subprocess_exec(
                *_unshare(),
                *dies_with_us((*script, where.id, f"{_CLIENT}/24")),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                cwd=where.folder,
                env=where.environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        try:
            tap = await asyncio.wait_for(asyncio.to_thread(_take_tap, ours), 2 * _HANDOVER_S)
            stack.callback(os.close, tap)
            yield tap, holder.pid
        finally:
            await reap(holder)


def _take_tap(from_holder: socket.socket) -> int:
    from_holder.settimeout(_HANDOVER_S)
    try:
        said, taps, _, _ = socket.recv_fds(from_holder, 1024, 1)
    except TimeoutError:
        said, taps = b"it did not get ready in time", []
    if not taps:
        why = said.decode(errors="replace") or "unshare(1) failed"
        raise HostCannotError(
            "No tap device could be made for the measured network.",
            why=f"{why}.",
            remedy='Load the "tun" module, run as root, or set network = "user" in the campaign.',
        )
    return taps[0]


def _unshare() -> tuple[str, ...]:
    """A new network namespace; for ordinary users, inside a user namespace that they own."""
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return (find_tool("unshare"), "--net", *user, "--")


def _enter(holder: int) -> tuple[str, ...]:
    user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
    return (find_tool("nsenter"), f"--target={holder}", "--net", *user, "--")
