"""The mirror of the host is used if, and only if, it is a Debian main archive over HTTP."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvmbench.guest.image.mirror import main_archive

DEBIAN_12 = """\
http://mirror.example/debian/ bookworm-backports Debian Backports
http://mirror.example/debian/ bookworm Debian
http://mirror.example/debian/ bookworm-updates Debian
http://security.example/debian-security/ bookworm-security Debian
"""


def test_the_main_archive_is_taken_and_no_other() -> None:
    assert main_archive(DEBIAN_12) == "http://mirror.example/debian/"


@pytest.mark.parametrize(
    "listing",
    [
        "",
        "http://archive.example/ubuntu/ noble Ubuntu\n",
        "http://security.example/debian-security/ bookworm-security Debian\n",
        "http://packages.example/ bookworm Somebody Else\n",
        "cdrom://[Debian_12]/ bookworm Debian\n",
        "mirror+file:/etc/apt/mirrors/debian.list bookworm Debian\n",
    ],
)
def test_other_hosts_leave_the_choice_to_mmdebstrap(listing: str) -> None:
    assert main_archive(listing) is None


@given(st.text())
def test_any_output_is_survived(listing: str) -> None:
    main_archive(listing)
