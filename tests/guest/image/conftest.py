"""A recipe and an image made without building one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cvmbench.guest.image.cache import (
    INITRD,
    KERNEL,
    MANIFEST,
    ROOT_DISK,
    Manifest,
    image_directory,
)
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.guest.image.recipe import KERNEL_ARGUMENTS, ImageRecipe


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> InstallationKeys:
    return InstallationKeys.load_or_create(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def recipe(keys: InstallationKeys) -> ImageRecipe:
    return ImageRecipe.of(["mbw"], keys)


@pytest.fixture
def stored_image(tmp_path: Path, recipe: ImageRecipe) -> Path:
    """The directory of an image of `recipe` in the cache `tmp_path`; its files are small."""
    directory = image_directory(tmp_path, recipe.digest)
    directory.mkdir()
    sizes = {ROOT_DISK: 8192, KERNEL: 100, INITRD: 10}
    for name, size in sizes.items():
        (directory / name).write_bytes(b"x" * size)
    manifest = Manifest(
        digest=recipe.digest,
        suite=recipe.suite,
        kernel_release="6.12.107+deb13-cloud-amd64",
        kernel_arguments=list(KERNEL_ARGUMENTS),
        requested_packages=list(recipe.packages),
        packages={"mbw": "1.2.2-1.2"},
        created_at=datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
        file_bytes=sizes,
    )
    (directory / MANIFEST).write_text(manifest.model_dump_json())
    return directory
