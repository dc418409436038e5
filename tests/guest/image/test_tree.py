"""What is read from the archive of the guest's tree."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.errors import ImageError
from cvmbench.guest.image.tree import parse_packages, read_tree

FILES = {
    "./boot/vmlinuz-6.12": b"kernel",
    "./usr/lib/modules/6.12/modules.dep": b"a.ko:\n",
    "./usr/lib/modules/6.11/modules.dep": b"old\n",
    "./usr/bin/busybox": b"busybox",
    "./usr/lib/cvmbench/packages": b"fio\t3.39-1\nlibc6\t2.41-12\n",
}


def archive_of(files: dict[str, bytes], path: Path) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_kernel_modules_busybox_and_packages(tmp_path: Path) -> None:
    facts = read_tree(archive_of(FILES, tmp_path / "tree.tar"))
    assert facts.kernel == b"kernel"
    assert facts.modules.release == "6.12"
    assert facts.modules.files == {"modules.dep": b"a.ko:\n"}
    assert facts.busybox == b"busybox"
    assert facts.packages == {"fio": "3.39-1", "libc6": "2.41-12"}


@pytest.mark.parametrize("name", [name for name in FILES if "modules" not in name])
def test_a_tree_that_lacks_a_part_is_refused(tmp_path: Path, name: str) -> None:
    files = {path: content for path, content in FILES.items() if path != name}
    with pytest.raises(ImageError, match="could not be built"):
        read_tree(archive_of(files, tmp_path / "tree.tar"))


def test_a_tree_with_two_kernels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="could not be built"):
        read_tree(archive_of({**FILES, "./boot/vmlinuz-6.13": b""}, tmp_path / "tree.tar"))


@given(st.text())
def test_any_listing_is_survived(listing: str) -> None:
    assert all("\t" not in name for name in parse_packages(listing))
