from __future__ import annotations

from pathlib import Path

import pytest

from cvmbench.guest.image.cache import Image
from cvmbench.vm import probe
from cvmbench.vm.configure import BootFiles


async def test_a_host_without_the_device_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(path: str, flags: int) -> int:
        raise FileNotFoundError(path)

    monkeypatch.setattr("cvmbench.vm.probe.os.open", missing)
    verdict = await probe.kvm_verdict(BootFiles(Path("k"), Path("i"), ()))
    assert not verdict.usable
    assert verdict.reason == "KVM is not usable here: there is no /dev/kvm."


@pytest.mark.guest
@pytest.mark.skipif(not Path("/dev/kvm").exists(), reason="this host has no /dev/kvm")
async def test_a_probe_boot_decides_and_its_verdict_is_kept(
    image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CVMBENCH_CACHE", str(tmp_path))
    files = BootFiles(image.kernel, image.initrd, image.kernel_arguments)
    verdict = await probe.kvm_verdict(files)
    assert verdict.reason
    assert verdict.usable == verdict.reason.startswith("KVM is usable")
    assert "\n" not in verdict.reason

    async def never(*_: object) -> probe.KvmVerdict:
        raise AssertionError("the kept verdict should have been used")

    monkeypatch.setattr(probe, "_probe_boot", never)
    assert await probe.kvm_verdict(files) == verdict
    (tmp_path / "kvm-verdict.json").write_text("{broken")
    with pytest.raises(AssertionError, match="kept verdict"):
        await probe.kvm_verdict(files)
