"""Keys are made once, private, and the same for every process that asks."""

from __future__ import annotations

import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import asyncssh
import pytest

from cvmbench.errors import HostCannotError
from cvmbench.guest.image.keys import InstallationKeys


def test_private_keys_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    keys = InstallationKeys.load_or_create(tmp_path / "keys")
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    for path in (keys.login_key, keys.host_key):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_public_keys_belong_to_the_private_ones_and_differ(tmp_path: Path) -> None:
    keys = InstallationKeys.load_or_create(tmp_path)
    for path, public in (
        (keys.login_key, keys.login_public_key),
        (keys.host_key, keys.host_public_key),
    ):
        assert public.startswith("ssh-ed25519 ")
        assert (
            asyncssh.import_public_key(public)
            == asyncssh.read_private_key(path).convert_to_public()
        )
    assert keys.login_public_key != keys.host_public_key


def test_a_second_call_finds_the_same_keys(tmp_path: Path) -> None:
    assert InstallationKeys.load_or_create(tmp_path) == InstallationKeys.load_or_create(tmp_path)


def test_permissions_that_became_too_wide_are_narrowed(tmp_path: Path) -> None:
    keys = InstallationKeys.load_or_create(tmp_path)
    keys.login_key.chmod(0o644)
    InstallationKeys.load_or_create(tmp_path)
    assert stat.S_IMODE(keys.login_key.stat().st_mode) == 0o600


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(InstallationKeys.load_or_create, [tmp_path / "keys"] * 8))
    assert len(set(found)) == 1


def test_a_file_that_is_no_key_is_named_with_a_remedy(tmp_path: Path) -> None:
    keys = InstallationKeys.load_or_create(tmp_path)
    keys.host_key.write_text("not a key\n")
    with pytest.raises(HostCannotError, match="is not a private key") as caught:
        InstallationKeys.load_or_create(tmp_path)
    assert str(keys.host_key) in caught.value.what
    assert "Delete the file" in caught.value.remedy


def test_a_directory_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HostCannotError, match="cannot be used"):
        InstallationKeys.load_or_create(tmp_path / "file" / "keys")
