from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from cvmbench.errors import HostCannotError
from cvmbench.guest.command import Command
from cvmbench.guest.local import LocalConnection
from cvmbench.vm import network
from cvmbench.vm.network import NetworkMode, available_mode, measured_network, network_mode
from cvmbench.vm.workspace import open_workspace

needs_tap = pytest.mark.skipif(
    available_mode() is not NetworkMode.TAP, reason="this process may not make tap devices"
)


@needs_tap
async def test_the_client_runs_where_the_bridge_is(tmp_path: Path) -> None:
    with open_workspace(tmp_path) as where:
        async with measured_network(NetworkMode.TAP, where) as found:
            client = LocalConnection(found.client_prefix)
            links = (await client.run(Command(("ip", "-br", "address")))).stdout
            assert "10.77.0.1/24" in links
            assert where.id in links
            outside = (await LocalConnection().run(Command(("ip", "-br", "link")))).stdout
            assert where.id not in outside
            tap = found.taps["measured"]
            assert Path(f"/proc/self/fd/{tap}").readlink() == Path("/dev/net/tun")
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(tap)
        gone = await client.run(Command(("true",)))
        assert gone.status != 0, "the namespace is gone with its holder"


@needs_tap
async def test_two_machines_have_networks_of_their_own(tmp_path: Path) -> None:
    with open_workspace(tmp_path) as one, open_workspace(tmp_path) as two:
        async with (
            measured_network(NetworkMode.TAP, one) as first,
            measured_network(NetworkMode.TAP, two) as second,
        ):
            assert first.server_host == second.server_host
            for found, mine, other in ((first, one, two), (second, two, one)):
                client = LocalConnection(found.client_prefix)
                links = (await client.run(Command(("ip", "-br", "link")))).stdout
                assert mine.id in links
                assert other.id not in links


@needs_tap
async def test_cancelling_leaves_no_holder(tmp_path: Path) -> None:
    with open_workspace(tmp_path) as where:

        async def hold() -> None:
            async with measured_network(NetworkMode.TAP, where):
                await asyncio.sleep(60)

        task = asyncio.create_task(hold())
        await asyncio.sleep(1)
        assert _holders(where.id)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not _holders(where.id)


async def test_what_the_holder_says_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to get as far as the tap device")
    monkeypatch.setattr(network, "_CLIENT", "not-an-address")
    with (
        open_workspace(tmp_path) as where,
        pytest.raises(HostCannotError, match="No tap device") as caught,
    ):
        async with measured_network(NetworkMode.TAP, where):
            pass
    assert "not-an-address" in caught.value.why
    assert 'network = "user"' in caught.value.remedy


def test_a_mode_can_be_asked_for() -> None:
    assert network_mode("user") is NetworkMode.USER
    assert network_mode("auto") is available_mode()


def _holders(identity: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"namespace_holder" in line and identity.encode() in line:
            found.append(process.name)
    return found
