"""The measured network of one machine: between the guest and a client that runs outside it.

As root: a tap device and a bridge in a network namespace of the machine's own, where the client
runs too. Otherwise: QEMU's user-mode network, with one forwarded port. Which of the two it was is
part of the result.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import struct
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from cvmbench.errors import HostCannotError
from cvmbench.host.tools import call, find_tool
from cvmbench.vm.spec import MEASURED_MAC, Forward, TapNetwork, UserNetwork
from cvmbench.vm.workspace import Workspace

SERVER_PORT = 5201
_GUEST = "10.77.0.2"
_CLIENT = "10.77.0.1"
_USER_GUEST = "10.0.3.15"
_USER_NETWORK = "10.0.3.0/24"

# linux/if_tun.h
_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR = 0x0002, 0x1000, 0x4000


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


def available_mode() -> NetworkMode:
    """The better of the two that this process may use."""
    may = os.geteuid() == 0 and Path("/dev/net/tun").exists()
    return NetworkMode.TAP if may else NetworkMode.USER


def network_mode(asked: str) -> NetworkMode:
    """The mode that is meant by `tap`, `user` or `auto`."""
    return available_mode() if asked == "auto" else NetworkMode(asked)


def planned(mode: NetworkMode) -> MeasuredNetwork:
    """The network as it would be, for printing a command line; nothing is made."""
    return _tap("cvmb0", {}) if mode is NetworkMode.TAP else _user(5201)


@contextlib.asynccontextmanager
async def measured_network(mode: NetworkMode, where: Workspace) -> AsyncIterator[MeasuredNetwork]:
    """The measured network of one machine, gone when the block ends."""
    if mode is NetworkMode.USER:
        yield _user(free_port())
        return
    tap = _open_tap(where.namespace)
    try:
        await _build(where.namespace)
        yield _tap(where.namespace, {"measured": tap})
    finally:
        os.close(tap)
        if Path("/run/netns", where.namespace).exists():
            with contextlib.suppress(HostCannotError):
                await call("ip", "netns", "delete", where.namespace)


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


def _tap(name: str, taps: Mapping[str, int]) -> MeasuredNetwork:
    return MeasuredNetwork(
        mode=NetworkMode.TAP,
        nic=TapNetwork("measured", MEASURED_MAC, name),
        guest_address=f"{_GUEST}/24",
        server_host=_GUEST,
        server_port=SERVER_PORT,
        client_host=_GUEST,
        client_port=SERVER_PORT,
        client_prefix=(find_tool("ip"), "netns", "exec", name) if taps else (),
        taps=taps,
    )


def _open_tap(name: str) -> int:
    """A tap device that exists as long as its descriptor is open."""
    request = struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR)
    tap = -1
    try:
        tap = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        fcntl.ioctl(tap, _TUNSETIFF, request)
    except OSError as error:
        if tap >= 0:
            os.close(tap)
        raise HostCannotError(
            "No tap device could be made for the measured network.",
            why=f"{os.strerror(error.errno or errno.EIO)}.",
            remedy='Load the "tun" module, or set network = "user" in the campaign.',
        ) from None
    return tap


async def _build(name: str) -> None:
    """Namespace, bridge and addresses; the tap moves into the namespace and joins the bridge."""
    await call("ip", "netns", "add", name)
    await call("ip", "link", "set", name, "netns", name)
    for words in (
        ("link", "set", "lo", "up"),
        ("link", "add", "br0", "type", "bridge"),
        ("link", "set", name, "master", "br0", "up"),
        ("address", "add", f"{_CLIENT}/24", "dev", "br0"),
        ("link", "set", "br0", "up"),
    ):
        await call("ip", "-n", name, *words)
