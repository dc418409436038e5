"""What is laid over Debian's tree: our files, the keys, owned by root."""

from __future__ import annotations

import io
import tarfile

from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.guest.image.overlay import overlay_archive
from cvmbench.guest.image.recipe import ImageRecipe, image_files


def test_files_owners_and_modes(recipe: ImageRecipe, keys: InstallationKeys) -> None:
    with tarfile.open(fileobj=io.BytesIO(overlay_archive(recipe, keys))) as archive:
        members = {member.name: member for member in archive}
        host_key = archive.extractfile("etc/ssh/ssh_host_ed25519_key")
        assert host_key is not None
        assert host_key.read() == keys.host_key.read_bytes()
        authorized = archive.extractfile("root/.ssh/authorized_keys")
        assert authorized is not None
        assert authorized.read().decode() == f"{keys.login_public_key}\n"
    assert {(m.uid, m.gid) for m in members.values()} == {(0, 0)}
    assert members["etc/ssh/ssh_host_ed25519_key"].mode == 0o600
    assert members["root/.ssh"].mode == 0o700
    assert {file.path for file in image_files("root")} <= set(members)


def test_directories_of_debian_are_left_as_they_are(
    recipe: ImageRecipe, keys: InstallationKeys
) -> None:
    with tarfile.open(fileobj=io.BytesIO(overlay_archive(recipe, keys))) as archive:
        directories = {member.name for member in archive if member.isdir()}
    assert not directories & {"etc", "root", "usr", "usr/lib", "etc/ssh", "etc/systemd"}


def test_the_login_key_itself_never_goes_in(recipe: ImageRecipe, keys: InstallationKeys) -> None:
    # The last line of the encoding; the first is the same in every key.
    secret = keys.login_key.read_bytes().splitlines()[-2]
    assert secret not in overlay_archive(recipe, keys)


def test_equal_recipes_give_equal_bytes(recipe: ImageRecipe, keys: InstallationKeys) -> None:
    assert overlay_archive(recipe, keys) == overlay_archive(recipe, keys)
