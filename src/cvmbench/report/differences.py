"""What differs between two QEMU command lines and the kernel command lines in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where an arm differs from the baseline.

    `option` names the QEMU option, or `kernel command line`. `only_baseline` and `only_arm` hold
    what stands on one side alone: properties of an option, or words of the kernel command line.
    """

    option: str
    only_baseline: tuple[str, ...]
    only_arm: tuple[str, ...]


KERNEL_COMMAND_LINE = "kernel command line"


def differences(baseline: Sequence[str], arm: Sequence[str]) -> tuple[Difference, ...]:
    """What `arm`'s argv says that `baseline`'s does not, and the other way round.

    Options are compared as a multiset, so their order does not count. An option that occurs on
    both sides with other properties (paired by its first property, such as the device's name, or
    by being the only one of its kind left) is one difference that lists the properties alone.
    """
    left, right = Counter(_options(baseline)), Counter(_options(arm))
    gone, come = list((left - right).elements()), list((right - left).elements())
    found: list[Difference] = []
    for option in gone:
        partner = _partner(option, gone, come)
        if partner is None:
            found.append(Difference(option[0], (option[1],), ()))
            continue
        come.remove(partner)
        found.append(_compared(option, partner))
    found.extend(Difference(name, (), (value,)) for name, value in come)
    return tuple(found)


def kernel_command_line(argv: Sequence[str]) -> str:
    """The value of `-append` in a QEMU command line; empty if there is none."""
    return next((value for name, value in _options(argv) if name == "-append"), "")


Option = tuple[str, str]


def _options(argv: Sequence[str]) -> list[Option]:
    """(name, value) of every option; the program's own name is not one."""
    found: list[Option] = []
    for word in argv[1:]:
        if word.startswith("-") or not found or found[-1][1]:
            found.append((word, ""))
        else:
            found[-1] = (found[-1][0], word)
    return found


def _partner(option: Option, gone: Sequence[Option], come: Sequence[Option]) -> Option | None:
    alike = [other for other in come if other[0] == option[0]]
    first = option[1].split(",", 1)[0]
    by_first = [other for other in alike if other[1].split(",", 1)[0] == first]
    if by_first:
        return by_first[0]
    alone = len(alike) == 1 and sum(other[0] == option[0] for other in gone) == 1
    return alike[0] if alone else None


def _compared(baseline: Option, arm: Option) -> Difference:
    name = baseline[0]
    words = name == "-append"
    left, right = (
        Counter(value.split() if words else value.split(",")) for value in (baseline[1], arm[1])
    )
    return Difference(
        KERNEL_COMMAND_LINE if words else name,
        tuple((left - right).elements()),
        tuple((right - left).elements()),
    )
