"""How mmdebstrap is called, what its progress display means, and what its failures mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cvmbench.errors import ImageError
from cvmbench.guest.image.recipe import ImageRecipe

_LEFT_OUT = ("doc", "info", "lintian", "locale", "man")
"""Directories of /usr/share that are not unpacked."""


def mmdebstrap_argv(
    recipe: ImageRecipe, *, mode: str, overlay: Path, target: Path, mirror: str | None
) -> tuple[str, ...]:
    """The command that makes `target`, a tar archive of the guest's root file system.

    `mode` is `root` or `unshare`; `overlay` is the archive to unpack over the packages. See
    mmdebstrap(1). The variant `essential` leaves apt itself out of the guest.
    """
    hooks = (
        f"tar-in {_quoted(overlay)} /",
        'chroot "$1" /usr/lib/cvmbench/finish',
    )
    return (
        *("mmdebstrap", f"--mode={mode}", "--variant=essential", "--format=tar"),
        "--architectures=amd64",
        # That clean-up would empty our /etc/machine-id.
        "--skip=cleanup/reproducible",
        f"--include={','.join(recipe.packages)}",
        '--aptopt=APT::Install-Recommends "false"',
        *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _LEFT_OUT),
        *(f"--customize-hook={hook}" for hook in hooks),
        *(recipe.suite, str(target)),
        *((mirror,) if mirror else ()),
    )


def _quoted(path: Path) -> str:
    # mmdebstrap splits hook arguments as a shell would.
    return "'" + str(path).replace("'", "'\\''") + "'"


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of mmdebstrap: the message that opens it, and its share of the whole time."""

    message: str
    title: str
    share: float


PHASES = (
    Phase("running apt-get update", "reading the package lists", 0.10),
    Phase("downloading packages", "downloading the base system", 0.05),
    Phase("extracting archives", "unpacking the base system", 0.07),
    Phase("installing essential packages", "configuring the base system", 0.13),
    Phase("installing remaining packages", "installing packages", 0.55),
    Phase("running special hook", "adding files", 0.03),
    Phase("running --customize-hook", "adding files", 0.01),
    Phase("creating tarball", "packing the tree", 0.06),
)
"""In order; the shares were measured on two cores with a near mirror and only steer a display."""

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PERCENTAGE = re.compile(r"^(?:[a-z]+:)?\s*(\d{1,3}\.\d\d)(?: \[[=> ]*\])?$")


class ProgressReader:
    """Follows mmdebstrap's standard error and tells how far it is.

    Percentages appear only on a terminal, rewritten in place by a carriage return.
    """

    def __init__(self) -> None:
        self.phase: Phase | None = None
        self.within = 0.0
        self._unfinished = ""

    @property
    def fraction(self) -> float:
        """Part of mmdebstrap's work that is done, 0 to 1; never falls."""
        if self.phase is None:
            return 0.0
        before = sum(p.share for p in PHASES[: PHASES.index(self.phase)])
        return min(1.0, before + self.phase.share * self.within)

    def feed(self, text: str) -> list[str]:
        """Take in output as it comes; returns the finished lines worth keeping in a log."""
        *pieces, self._unfinished = re.split(r"[\r\n]", self._unfinished + text)
        # A program that never ends its line must not fill the memory.
        self._unfinished = self._unfinished[-4096:]
        kept = []
        for piece in pieces:
            line = _ESCAPES.sub("", piece).strip()
            percentage = _PERCENTAGE.match(line)
            if percentage:
                self.within = max(self.within, min(1.0, float(percentage[1]) / 100))
            elif line and line != "done":
                self._enter_phase(line)
                kept.append(line)
        return kept

    def _enter_phase(self, line: str) -> None:
        for phase in PHASES:
            started = 0 if self.phase is None else PHASES.index(self.phase)
            if line.startswith(f"I: {phase.message}") and PHASES.index(phase) >= started:
                if phase is not self.phase:
                    self.phase, self.within = phase, 0.0
                return


_CAUSES = (
    (
        r"Temporary failure resolving|Could not resolve|Failed to fetch|Could not connect"
        r"|Connection (?:failed|timed out|refused)|Unable to connect",
        "The Debian mirror cannot be reached.",
        "Check the network and the apt sources of this host, then try again.",
    ),
    (
        r"Unable to locate package (?P<name>[a-z0-9+.-]+)"
        r"|Package '?(?P<name2>[a-z0-9+.-]+)'? has no installation candidate",
        "Debian {suite} has no package called {name}.",
        "Correct the package list of the workload that asks for it.",
    ),
    (
        r"NO_PUBKEY|Missing key|not signed|signatures? (?:couldn't|could not) be verified",
        "This host does not know the key that Debian {suite} is signed with.",
        "Install or update the package debian-archive-keyring.",
    ),
    (
        r"No space left on device",
        "The disk is full.",
        "Free some space, or set TMPDIR and the cache directory to a larger disk.",
    ),
    (
        r"newuidmap|newgidmap|/etc/sub[ug]id|unshare.*(?:not permitted|failed)|user namespace",
        "This user may not make a user namespace with ids of its own.",
        "Install uidmap and give the user a range in /etc/subuid and /etc/subgid, or build as "
        "root.",
    ),
)


def failure(recipe: ImageRecipe, log_lines: Sequence[str], log: Path) -> ImageError:
    """The error for a failed mmdebstrap, with the likely cause found in what it printed."""
    tail = list(log_lines)[-200:]
    why = "mmdebstrap failed without a reason that cvmbench knows."
    remedy = "Read the log; the build can be repeated safely."
    for pattern, cause, advice in _CAUSES:
        found = next((m for line in tail if (m := re.search(pattern, line))), None)
        if found:
            named = {key: value for key, value in found.groupdict().items() if value}
            why = cause.format(suite=recipe.suite, name=next(iter(named.values()), ""))
            remedy = advice
            break
    # The first errors are those of apt or dpkg; what follows only says that they failed.
    errors = [line for line in tail if line.startswith("E:")]
    last = " / ".join(line[:200] for line in (errors[:2] or tail[-3:]))
    return ImageError(
        "The guest image could not be built.",
        why=f"{why} It printed: {last}",
        remedy=f"{remedy} Log: {log}",
    )
