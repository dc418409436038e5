from __future__ import annotations

from pathlib import Path

import pytest

from cvmbench.campaign.arm import parse_arm
from cvmbench.errors import HostCannotError
from cvmbench.vm.argv import Descriptors, qemu_argv
from cvmbench.vm.configure import BootFiles, Places, configure
from cvmbench.vm.network import NetworkMode, planned
from cvmbench.vm.spec import Accelerator, VmSpec


def spec(arm: str, network: NetworkMode = NetworkMode.USER, folder: str = "/boot/1") -> VmSpec:
    measured = planned(network)
    return configure(
        parse_arm(arm),
        vcpus=4,
        memory_bytes=2**30,
        accelerator=Accelerator.TCG,
        files=BootFiles(Path("/image/vmlinuz"), Path("/image/initrd"), ("root=LABEL=r",)),
        places=Places(
            Path(folder, "root.qcow2"),
            Path(folder, "data.raw"),
            2222,
            measured.nic,
            measured.guest_address,
        ),
    )


def value_after(argv: tuple[str, ...], option: str) -> str:
    return argv[argv.index(option) + 1]


@pytest.mark.parametrize(
    ("arm", "added"),
    [
        ("plain+swiotlb", "swiotlb=65536,force"),
        ("plain+swiotlb=64", "swiotlb=32768,force"),
        ("plain+idle-poll", "idle=poll"),
    ],
)
def test_an_arm_differs_from_plain_in_what_its_name_says_alone(arm: str, added: str) -> None:
    plain, other = qemu_argv(spec("plain")), qemu_argv(spec(arm))
    assert len(plain) == len(other)
    different = [(a, b) for a, b in zip(plain, other, strict=True) if a != b]
    assert different == [(value_after(plain, "-append"), value_after(other, "-append"))]
    assert value_after(other, "-append") == f"{value_after(plain, '-append')} {added}"


def test_virtio_devices_go_through_the_dma_api_in_every_arm() -> None:
    argv = qemu_argv(spec("plain"))
    devices = [word for word in argv if word.startswith("virtio-")]
    assert len(devices) == 5
    assert all("iommu_platform=on,disable-legacy=on" in device for device in devices)


def test_the_data_disk_bypasses_the_host_page_cache_and_obeys_flushes() -> None:
    argv = qemu_argv(spec("plain"))
    [data] = [word for word in argv if "data.raw" in word]
    assert "cache.direct=on" in data
    assert "cache.no-flush=off" in data
    assert "aio=native" in data


def test_guests_reach_nothing_of_the_host() -> None:
    users = [word for word in qemu_argv(spec("plain")) if word.startswith("user,")]
    assert len(users) == 2
    assert all("restrict=on" in user for user in users)
    assert all("hostfwd=tcp:127.0.0.1:" in user for user in users)


def test_commas_in_paths_are_doubled() -> None:
    assert any(
        "filename=/a,,b/root.qcow2," in word for word in qemu_argv(spec("plain", folder="/a,b"))
    )


def test_a_tap_is_named_without_descriptors_and_inherited_with_them() -> None:
    tapped = spec("plain", NetworkMode.TAP)
    assert any("ifname=cvmb0" in word for word in qemu_argv(tapped))
    inherited = qemu_argv(tapped, Descriptors(qmp=7, serial=8, taps={"measured": 9}))
    assert any(word.startswith("tap,id=measured,fd=9") for word in inherited)
    assert "socket,id=qmp0,fd=7" in inherited
    assert "socket,id=serial0,fd=8" in inherited


@pytest.mark.parametrize("arm", ["sev", "sev-es", "sev-snp", "tdx", "host", "ssh"])
def test_types_that_cannot_be_launched_yet_are_refused(arm: str) -> None:
    with pytest.raises(HostCannotError, match=f"type '{arm}'"):
        spec(arm)
