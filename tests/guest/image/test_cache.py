"""Images are found by recipe, removed by digest, and noticed when damaged."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cvmbench.errors import ImageError, UsageError
from cvmbench.guest.image.cache import (
    INITRD,
    KERNEL,
    MANIFEST,
    ROOT_DISK,
    Image,
    cached_images,
    find_image,
    remove_image,
)
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.guest.image.recipe import ImageRecipe


def test_an_image_is_found_by_its_recipe(
    tmp_path: Path, recipe: ImageRecipe, stored_image: Path
) -> None:
    image = find_image(tmp_path, recipe)
    assert image is not None
    assert image.root_disk == stored_image / ROOT_DISK
    assert image.packages == {"mbw": "1.2.2-1.2"}
    assert image.digest == recipe.digest
    assert cached_images(tmp_path) == [image]


def test_another_recipe_finds_nothing(
    tmp_path: Path, keys: InstallationKeys, stored_image: Path
) -> None:
    assert find_image(tmp_path, ImageRecipe.of(["fio"], keys)) is None
    assert find_image(tmp_path / "nowhere", ImageRecipe.of(["mbw"], keys)) is None
    assert cached_images(tmp_path / "nowhere") == []


@pytest.mark.parametrize("name", [ROOT_DISK, KERNEL, INITRD])
@pytest.mark.parametrize("damage", ["truncated", "missing", "empty"])
def test_a_file_that_lacks_bytes_is_damage(
    tmp_path: Path, recipe: ImageRecipe, stored_image: Path, name: str, damage: str
) -> None:
    path = stored_image / name
    if damage == "missing":
        path.unlink()
    else:
        os.truncate(path, path.stat().st_size - 1 if damage == "truncated" else 0)
    with pytest.raises(ImageError, match="is damaged") as caught:
        find_image(tmp_path, recipe)
    assert name in caught.value.why
    assert "built anew" in caught.value.remedy


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', "\x00"])
def test_a_manifest_that_cannot_be_read_is_damage(
    tmp_path: Path, recipe: ImageRecipe, stored_image: Path, content: str
) -> None:
    (stored_image / MANIFEST).write_text(content)
    with pytest.raises(ImageError, match="is damaged"):
        find_image(tmp_path, recipe)


def test_a_manifest_of_another_image_is_damage(
    tmp_path: Path, recipe: ImageRecipe, stored_image: Path
) -> None:
    manifest = json.loads((stored_image / MANIFEST).read_text())
    manifest["digest"] = "0" * 64
    (stored_image / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ImageError, match="is damaged"):
        find_image(tmp_path, recipe)


def test_the_list_names_damaged_images_after_sound_ones(tmp_path: Path, stored_image: Path) -> None:
    broken = tmp_path / "0000000000000000"
    shutil.copytree(stored_image, broken)
    (broken / KERNEL).unlink()
    sound, error = cached_images(tmp_path)
    assert isinstance(sound, Image)
    assert isinstance(error, ImageError)
    assert str(broken) in error.what


def test_the_list_passes_over_builds_in_progress(tmp_path: Path, stored_image: Path) -> None:
    (tmp_path / ".building-0000000000000000-abc").mkdir()
    assert len(cached_images(tmp_path)) == 1


@pytest.mark.parametrize("digits", [1, 12, 16, 64])
def test_an_image_is_removed_by_the_beginning_of_its_digest(
    tmp_path: Path, recipe: ImageRecipe, stored_image: Path, digits: int
) -> None:
    assert remove_image(tmp_path, recipe.digest[:digits]) == stored_image
    assert list(tmp_path.iterdir()) == []


def test_a_prefix_that_fits_several_removes_none(tmp_path: Path, stored_image: Path) -> None:
    twin = tmp_path / (stored_image.name[:8] + "zzzzzzzz")
    shutil.copytree(stored_image, twin)
    with pytest.raises(UsageError, match="fits several") as caught:
        remove_image(tmp_path, stored_image.name[:8])
    assert twin.name in caught.value.why
    assert twin.exists()
    assert stored_image.exists()


@pytest.mark.parametrize("prefix", ["", "zz", "..", "/", "../.."])
def test_a_prefix_that_fits_nothing_removes_none(
    tmp_path: Path, stored_image: Path, prefix: str
) -> None:
    with pytest.raises(UsageError, match="fits no guest image") as caught:
        remove_image(tmp_path, prefix)
    assert stored_image.name in caught.value.why
    assert stored_image.exists()
