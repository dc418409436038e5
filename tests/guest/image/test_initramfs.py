"""The initramfs holds the drivers, what they need, and nothing twice."""

from __future__ import annotations

import lzma
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.errors import ImageError
from cvmbench.guest.image import initramfs
from cvmbench.guest.image.initramfs import KernelModules, initramfs_files, pack
from cvmbench.guest.image.recipe import ImageFile, image_files

BUILT_IN = ("virtio_pci", "ext4", "nvme", "sd_mod", "virtio_scsi", "pvpanic-pci", "virtio-rng")


def modules(**changes: bytes) -> KernelModules:
    files = {
        "modules.dep": b"kernel/net/virtio_net.ko.xz: kernel/net/net_failover.ko.xz "
        b"kernel/net/failover.ko.xz\nkernel/net/net_failover.ko.xz: kernel/net/failover.ko.xz\n"
        b"kernel/net/failover.ko.xz:\nkernel/block/virtio_blk.ko.xz:\nkernel/sound/loud.ko.xz:\n",
        "modules.alias": b"alias virtio:d00000001v* virtio_net\nalias virtio:d00000002v* virtio_blk"
        b"\nalias pci:v0000 loud\n",
        "modules.builtin": "\n".join(f"kernel/x/{name}.ko" for name in BUILT_IN).encode(),
        "kernel/net/virtio_net.ko.xz": lzma.compress(b"virtio_net"),
        "kernel/net/net_failover.ko.xz": lzma.compress(b"net_failover"),
        "kernel/net/failover.ko.xz": lzma.compress(b"failover"),
        "kernel/block/virtio_blk.ko.xz": lzma.compress(b"virtio_blk"),
        "kernel/sound/loud.ko.xz": lzma.compress(b"loud"),
        **changes,
    }
    return KernelModules("6.12", files)


def test_drivers_come_with_their_dependencies_unpacked() -> None:
    files = {f.path: f.content for f in initramfs_files(modules(), b"busybox", [])}
    assert files["lib/modules/6.12/kernel/net/virtio_net.ko"] == b"virtio_net"
    assert files["lib/modules/6.12/kernel/net/failover.ko"] == b"failover"
    assert files["lib/modules/6.12/kernel/block/virtio_blk.ko"] == b"virtio_blk"
    assert not any("loud" in path for path in files)


def test_the_index_names_only_what_is_there() -> None:
    files = {f.path: f.content.decode() for f in initramfs_files(modules(), b"busybox", [])}
    index = files["lib/modules/6.12/modules.dep"]
    for line in index.splitlines():
        for path in line.replace(":", " ").split():
            assert f"lib/modules/6.12/{path}" in files
    assert "loud" not in files["lib/modules/6.12/modules.alias"]
    assert "virtio_net" in files["lib/modules/6.12/modules.alias"]


def test_a_kernel_without_a_driver_is_refused() -> None:
    with pytest.raises(ImageError, match="no driver virtio_pci"):
        initramfs_files(modules(**{"modules.builtin": b""}), b"busybox", [])


def test_a_kernel_without_an_index_is_refused() -> None:
    with pytest.raises(ImageError, match=r"no modules\.dep"):
        KernelModules("6.12", {}).needed_for(["ext4"])


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_cpio_reads_back_what_was_packed(contents: list[bytes]) -> None:
    files = [ImageFile(f"d{n}/file", content, 0o644) for n, content in enumerate(contents)]
    assert unpack(pack(files)) == {file.path: file.content for file in files}


def unpack(archive: bytes) -> dict[str, bytes]:
    """Regular files of a newc archive, read by the format's definition."""
    found: dict[str, bytes] = {}
    position = 0
    while True:
        assert archive[position : position + 6] == b"070701"
        fields = [int(archive[position + 6 + 8 * n : position + 14 + 8 * n], 16) for n in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = archive[position + 110 : position + 110 + name_size - 1].decode()
        position += (110 + name_size + 3) // 4 * 4
        if name == "TRAILER!!!":
            assert position == len(archive)
            return found
        if mode >> 12 == 0o10:
            found[name] = archive[position : position + size]
        position += (size + 3) // 4 * 4


def test_the_boot_script_uses_only_applets_that_are_linked() -> None:
    (script,) = image_files("initramfs")
    text = script.content.decode()
    for applet in ("findfs", "ip", "modprobe", "mount", "poweroff", "switch_root", "usleep"):
        assert applet in text
        assert applet in initramfs.APPLETS


@pytest.mark.skipif(not shutil.which("busybox"), reason="busybox is not installed")
def test_scripts_are_valid_shell(tmp_path: Path) -> None:
    for file in (*image_files("initramfs"), *image_files("root")):
        if file.mode == 0o755:
            path = tmp_path / "script"
            path.write_bytes(file.content)
            subprocess.run(["busybox", "sh", "-n", path], check=True)
