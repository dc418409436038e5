"""Building, as far as it shows without mmdebstrap; and one real build."""

from __future__ import annotations

import asyncio
import shutil
import stat
import subprocess
from collections import namedtuple
from pathlib import Path

import pytest

from cvmbench.errors import HostCannotError, ImageError, MissingToolError
from cvmbench.guest.image import build as build_module
from cvmbench.guest.image import process
from cvmbench.guest.image.build import BuildStep, build
from cvmbench.guest.image.cache import KERNEL, Image, find_image
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.guest.image.recipe import ImageRecipe

NOWHERE = "http://127.0.0.1:1/debian"
"""An address where nothing answers."""


async def test_a_sound_image_is_used_as_it_is(
    tmp_path: Path,
    recipe: ImageRecipe,
    keys: InstallationKeys,
    stored_image: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "_PATH", "/nonexistent")
    image = await build(recipe, keys, tmp_path)
    assert image.directory == stored_image


async def test_a_damaged_image_is_not_used(
    tmp_path: Path,
    recipe: ImageRecipe,
    keys: InstallationKeys,
    stored_image: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (stored_image / KERNEL).unlink()
    monkeypatch.setattr(process, "_PATH", "/nonexistent")
    with pytest.raises(MissingToolError):
        await build(recipe, keys, tmp_path)


async def test_missing_programs_are_named_with_the_command_that_installs_them(
    tmp_path: Path, recipe: ImageRecipe, keys: InstallationKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_PATH", "/nonexistent")
    with pytest.raises(MissingToolError, match="mmdebstrap") as caught:
        await build(recipe, keys, tmp_path)
    assert "apt-get install" in caught.value.remedy
    assert "e2fsprogs" in caught.value.remedy
    assert [p.name for p in tmp_path.iterdir() if not p.name.endswith(".lock")] == []


async def test_too_little_space_is_said_before_anything_is_built(
    tmp_path: Path, recipe: ImageRecipe, keys: InstallationKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(build_module, "require_tools", lambda tools: None)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9 - 5, 5))
    with pytest.raises(HostCannotError, match="not enough disk space") as caught:
        await build(recipe, keys, tmp_path)
    assert "5 B are free" in caught.value.why


@pytest.mark.image
async def test_a_mirror_that_does_not_answer_is_named_and_the_log_kept(
    tmp_path: Path, recipe: ImageRecipe, keys: InstallationKeys
) -> None:
    with pytest.raises(ImageError, match="could not be built") as caught:
        await build(recipe, keys, tmp_path, mirror=NOWHERE)
    assert "mirror cannot be reached" in caught.value.why
    (log,) = tmp_path.glob("*.log")
    assert str(log) in caught.value.remedy
    assert "127.0.0.1:1" in log.read_text()
    assert list(tmp_path.glob(".building-*")) == []


@pytest.mark.image
async def test_cancelling_a_build_leaves_no_file_and_no_mount(
    tmp_path: Path, recipe: ImageRecipe, keys: InstallationKeys
) -> None:
    unpacking = asyncio.Event()

    def note(step: BuildStep) -> None:
        if step.title == "unpacking the base system":
            unpacking.set()

    task = asyncio.create_task(build(recipe, keys, tmp_path, note))
    await asyncio.wait(
        [task, asyncio.create_task(unpacking.wait())], return_when=asyncio.FIRST_COMPLETED
    )
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [p.name for p in tmp_path.iterdir() if not p.name.endswith(".lock")] == []
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


@pytest.mark.image
async def test_a_real_build(tmp_path: Path, recipe: ImageRecipe, keys: InstallationKeys) -> None:
    steps: list[BuildStep] = []
    # Two at once: the second waits and uses what the first made.
    image, same = await asyncio.gather(
        build(recipe, keys, tmp_path, steps.append), build(recipe, keys, tmp_path)
    )
    assert same == image
    assert find_image(tmp_path, recipe) == image
    assert steps[-1] == BuildStep("done", 1.0)
    assert len({step.fraction for step in steps}) > 50

    assert stat.S_IMODE(image.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(image.root_disk.stat().st_mode) == 0o600
    assert image.size_bytes < 600e6
    assert {"mbw", "openssh-server", "systemd"} <= set(image.packages)
    assert image.kernel_release.startswith("6.12.")
    assert sorted(p.name for p in image.directory.iterdir()) == [
        "build.log", "initrd.cpio", "manifest.json", "root.ext4", "vmlinuz",
    ]  # fmt: skip
    _check_root_disk(image, keys)


def _check_root_disk(image: Image, keys: InstallationKeys) -> None:
    subprocess.run(["/sbin/e2fsck", "-fn", image.root_disk], check=True, capture_output=True)

    def ask(request: str) -> str:
        return subprocess.run(
            ["/sbin/debugfs", "-R", request, image.root_disk],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    shadow = ask("stat /etc/shadow")
    assert "Mode:  0640" in shadow
    # Group shadow: owners survive the way into the file system, whoever builds.
    assert "Group:    42" in shadow
    assert "Mode:  0600" in ask("stat /etc/ssh/ssh_host_ed25519_key")
    assert ask("cat /root/.ssh/authorized_keys").strip() == keys.login_public_key
    assert ask("cat /etc/machine-id").strip() == image.digest[:32]
    assert "vmlinuz" not in ask("ls /boot")
    enabled = ask("ls -p /etc/systemd/system")
    assert "default.target" in enabled
    assert ".wants" not in enabled
