"""Holds the network namespace of one machine; run as a script inside a new namespace.

    namespace_holder.py SOCKET-FD TAP-NAME CLIENT-ADDRESS/PREFIX

Makes a tap device on a bridge, hands the tap's descriptor over the socket with the word `ready`
(or a sentence why not), and then stays until the other end of the socket is closed: the namespace
and everything in it is gone with this process, so nothing can be left behind.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

# linux/if_tun.h
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x0002, 0x1000, 0x4000


def open_tap(name: str) -> int:
    """A tap device that exists as long as its descriptor is open."""
    tap = os.open("/dev/net/tun", os.O_RDWR)
    request = struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR)
    fcntl.ioctl(tap, TUNSETIFF, request)
    return tap


def build(tap: str, address: str) -> None:
    """Bridge, tap and address."""
    for words in (
        ("link", "set", "lo", "up"),
        ("link", "add", "br0", "type", "bridge"),
        ("link", "set", tap, "master", "br0", "up"),
        ("address", "add", address, "dev", "br0"),
        ("link", "set", "br0", "up"),
    ):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def main() -> None:
    """Make it, hand it over, and stay."""
    owner = socket.socket(fileno=int(sys.argv[1]))
    try:
        tap = open_tap(sys.argv[2])
        build(sys.argv[2], sys.argv[3])
    except OSError as error:
        owner.send(f"{error.filename or '/dev/net/tun'}: {error.strerror}".encode())
        return
    except subprocess.CalledProcessError as error:
        owner.send(f"'{' '.join(error.cmd)}': {error.stderr.strip()}".encode())
        return
    socket.send_fds(owner, [b"ready"], [tap])
    os.close(tap)
    owner.recv(1)


if __name__ == "__main__":
    main()
