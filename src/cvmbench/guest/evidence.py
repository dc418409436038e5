"""What a guest says about itself, collected in one go right after every boot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Command
from cvmbench.guest.connection import Connection, run_checked

SECTIONS = (
    "cmdline",
    "kernel",
    "virtualization",
    "confidential",
    "memory_encryption",
    "cpu_flags",
    "cpu_model",
    "vcpus",
    "memory_kb",
    "devices",
    "polling_idle",
    "idle_driver",
    "swiotlb_slots",
    "swiotlb_high_water",
    "swiotlb_message",
    "huge_pages",
    "clock_source",
    "mitigations",
    "end",
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sections of evidence.sh; a section that the guest left empty is an empty text."""

    sections: Mapping[str, str]

    def __getitem__(self, section: str) -> str:
        return self.sections[section]

    def number(self, section: str) -> int | None:
        """The section as a whole number, or None if it is not one."""
        text = self.sections[section]
        return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else None

    @property
    def kernel_arguments(self) -> tuple[str, ...]:
        """The guest kernel's command line, word by word."""
        return tuple(self.sections["cmdline"].split())


async def collect(connection: Connection) -> Evidence:
    """Ask the guest. Raises TrialFailure if it cannot be asked or answers in another form."""
    script = (resources.files("cvmbench.guest") / "evidence.sh").read_bytes()
    output = await run_checked(
        connection, Command(("sh", "-s"), stdin=script, timeout_s=60, output_limit=256 * 1024)
    )
    return parse_evidence(output.stdout)


def parse_evidence(text: str) -> Evidence:
    """The evidence printed by evidence.sh: every section once and in order, control signs removed.

    Raises TrialFailure (output not understood) otherwise.
    """
    _, *parts = re.split(r"^@@ ", text, flags=re.MULTILINE)
    named = [part.partition("\n") for part in parts]
    if tuple(name for name, _, _ in named) != SECTIONS:
        raise TrialFailure(
            FailureKind.OUTPUT_NOT_UNDERSTOOD,
            "What the guest says about itself was not understood.",
            why="Its sections are not the ones asked for.",
        )
    return Evidence({name: _clean(body) for name, _, body in named})


def _clean(body: str) -> str:
    return re.sub(r"[^\x20-\x7e\n]", "?", body).strip()
