"""Arms: the configurations under comparison, in the notation `type+modifier=value+...`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from cvmbench.campaign.suggest import nearest
from cvmbench.errors import UsageError


class ArmType(StrEnum):
    """What kind of machine an arm is."""

    PLAIN = "plain"
    SEV = "sev"
    SEV_ES = "sev-es"
    SEV_SNP = "sev-snp"
    TDX = "tdx"
    HOST = "host"
    SSH = "ssh"

    @property
    def is_confidential(self) -> bool:
        """True for the types whose memory is encrypted against the host."""
        return self in (ArmType.SEV, ArmType.SEV_ES, ArmType.SEV_SNP, ArmType.TDX)


@dataclass(frozen=True, slots=True)
class ModifierKind:
    """A mechanism that an arm can switch on by itself.

    `default` is the value meant when none is written; None if the modifier takes no value.
    Values are whole numbers in `unit`, between `least` and `most`.
    """

    name: str
    summary: str
    default: int | None = None
    unit: str = ""
    least: int = 0
    most: int = 0


MODIFIERS: Mapping[str, ModifierKind] = {
    kind.name: kind
    for kind in (
        ModifierKind(
            "swiotlb",
            "all device I/O of the guest goes through bounce buffers of this size",
            default=128,
            unit="MiB",
            least=4,
            most=1024,
        ),
        ModifierKind("idle-poll", "idle vCPUs of the guest spin instead of halting (idle=poll)"),
    )
}


@dataclass(frozen=True, slots=True)
class Arm:
    """One configuration under comparison.

    `modifiers` maps a modifier's name to its value (None where it takes none), in the order
    written; two arms with the same type and modifiers are the same configuration.
    """

    name: str
    type: ArmType
    modifiers: tuple[tuple[str, int | None], ...] = ()

    def value_of(self, modifier: str) -> int | None:
        """The value of `modifier`; KeyError if the arm does not have it."""
        return dict(self.modifiers)[modifier]

    def has(self, modifier: str) -> bool:
        """True if the arm switches `modifier` on."""
        return any(name == modifier for name, _ in self.modifiers)


_MODIFIER = re.compile(r"(?P<name>[a-z0-9-]+)(=(?P<value>.*))?")


def parse_arm(text: str, name: str | None = None) -> Arm:
    """The arm written as `type+modifier=value+...`.

    Raises UsageError naming the word that is wrong and the nearest valid spelling.
    """
    head, *tail = (part.strip() for part in text.strip().split("+"))
    try:
        arm_type = ArmType(head)
    except ValueError:
        raise UsageError(
            f"'{text}' does not begin with a known type of arm: '{head}'.",
            remedy=nearest(head, ArmType),
        ) from None
    modifiers: list[tuple[str, int | None]] = []
    for word in tail:
        modifier = _parse_modifier(text, word)
        if any(modifier[0] == known for known, _ in modifiers):
            raise UsageError(
                f"The arm '{text}' names '{modifier[0]}' twice.", remedy="Name it once."
            )
        modifiers.append(modifier)
    return Arm(name=name or text.strip(), type=arm_type, modifiers=tuple(modifiers))


def _parse_modifier(arm: str, word: str) -> tuple[str, int | None]:
    match = _MODIFIER.fullmatch(word)
    kind = MODIFIERS.get(match["name"]) if match else None
    if match is None or kind is None:
        raise UsageError(
            f"The arm '{arm}' has an unknown modifier: '{word}'.", remedy=nearest(word, MODIFIERS)
        )
    written = match["value"]
    if kind.default is None:
        if written is not None:
            raise UsageError(
                f"The modifier '{kind.name}' in the arm '{arm}' takes no value.",
                remedy=f"Write '{kind.name}' alone.",
            )
        return kind.name, None
    if written is None:
        return kind.name, kind.default
    if not re.fullmatch(r"[0-9]{1,9}", written) or not kind.least <= int(written) <= kind.most:
        raise UsageError(
            f"The value '{written}' of '{kind.name}' in the arm '{arm}' is not valid.",
            remedy=f"Give a whole number of {kind.unit} from {kind.least} to {kind.most}.",
        )
    return kind.name, int(written)
