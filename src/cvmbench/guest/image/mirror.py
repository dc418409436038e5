"""Which Debian mirror a build uses: the one this host is configured for, if it is a Debian."""

from __future__ import annotations

INDEX_TARGETS = (
    *("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(ORIGIN)"),
    "Created-By: Packages",
)
"""Prints one line for each package index that apt uses (apt-get(8), indextargets)."""


def main_archive(index_targets: str) -> str | None:
    """The address of Debian's main archive in the output of `INDEX_TARGETS`.

    None on hosts that are not Debian, and where the archive is reached by something other than
    HTTP(S) (a CD, a list of mirrors); mmdebstrap's own default serves there. Archives of security
    fixes, updates and backports have a code name with a hyphen and are passed over.
    """
    for line in index_targets.splitlines():
        address, _, rest = line.partition(" ")
        codename, _, origin = rest.partition(" ")
        if (
            origin.strip() == "Debian"
            and "-" not in codename
            and address.startswith(("http://", "https://"))
        ):
            return address
    return None
