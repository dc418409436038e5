"""The digest identifies what goes in, and nothing else."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.errors import UsageError
from cvmbench.guest.image import recipe as recipe_module
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.guest.image.recipe import BASE_PACKAGES, ImageFile, ImageRecipe, image_files

KEYS = InstallationKeys(Path("login"), Path("host"), "ssh-ed25519 AAAA", "ssh-ed25519 BBBB")
NAMES = st.from_regex(r"[a-z0-9][a-z0-9+.-]{1,12}", fullmatch=True)


@given(st.lists(NAMES, max_size=6), st.randoms())
def test_order_and_repetition_of_packages_do_not_count(
    names: list[str], rng: random.Random
) -> None:
    shuffled = [*names, *names]
    rng.shuffle(shuffled)
    assert ImageRecipe.of(names, KEYS) == ImageRecipe.of(shuffled, KEYS)
    assert ImageRecipe.of(names, KEYS).digest == ImageRecipe.of(shuffled, KEYS).digest


@given(st.sets(NAMES, max_size=4), st.sets(NAMES, max_size=4))
def test_different_packages_have_different_digests(one: set[str], other: set[str]) -> None:
    same = one | set(BASE_PACKAGES) == other | set(BASE_PACKAGES)
    assert (ImageRecipe.of(one, KEYS).digest == ImageRecipe.of(other, KEYS).digest) == same


@pytest.mark.parametrize(
    "change",
    [
        {"suite": "forky"},
        {"root_disk_bytes": 2**30},
        {"host_public_key": "ssh-ed25519 CCCC"},
        {"login_public_key": "ssh-ed25519 CCCC"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_everything_that_goes_in_changes_the_digest(change: dict[str, str]) -> None:
    recipe = ImageRecipe.of(["fio"], KEYS)
    assert replace(recipe, **change).digest != recipe.digest  # type: ignore[arg-type]


def test_a_changed_file_of_ours_changes_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = ImageRecipe.of([], KEYS)
    before = recipe.digest
    files = {tree: image_files(tree) for tree in ("root", "initramfs")}
    first = files["root"][0]
    files["root"] = (ImageFile(first.path, first.content + b"#", first.mode), *files["root"][1:])
    monkeypatch.setattr(recipe_module, "image_files", files.__getitem__)
    assert recipe.digest != before


def test_kernel_arguments_are_part_of_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = ImageRecipe.of([], KEYS)
    before = recipe.digest
    monkeypatch.setattr(recipe_module, "KERNEL_ARGUMENTS", ("root=LABEL=cvmbench-root",))
    assert recipe.digest != before


@pytest.mark.parametrize("name", ["", "Fio", "fio,ssh", "-x", "fio ssh", "?priority(required)"])
def test_what_cannot_be_a_package_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a Debian package"):
        ImageRecipe.of([name], KEYS)


def test_scripts_are_executable_and_nothing_else_is() -> None:
    for file in (*image_files("root"), *image_files("initramfs")):
        assert file.mode == (0o755 if file.content.startswith(b"#!") else 0o644), file.path
    assert {"init"} == {file.path for file in image_files("initramfs")}
