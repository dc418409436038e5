"""Recorded output and the surroundings that tests of workloads share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cvmbench.workloads.contract import Surroundings


@pytest.fixture(scope="session")
def recorded() -> Callable[[str], str]:
    def read(name: str) -> str:
        return (Path(__file__).parent / "recorded" / name).read_text()

    return read


@pytest.fixture(scope="session")
def around() -> Surroundings:
    return Surroundings(
        vcpus=6,
        memory_bytes=2**30,
        data_disk="/dev/disk/by-id/virtio-data",
        data_disk_bytes=256 * 2**20,
        server_host="192.0.2.2",
        server_port=5201,
        client_host="198.51.100.7",
        client_port=40001,
    )
