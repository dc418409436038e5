"""The campaign file: what to compare, with what, in which size, and how precisely."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ByteSize, ConfigDict, Field, model_validator

from cvmbench.campaign.arm import Arm, parse_arm
from cvmbench.errors import UsageError

MIB = 2**20


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def _percent(value: Any) -> Any:
    if isinstance(value, str):
        number = value.strip().removesuffix("%").strip()
        if value.strip().endswith("%"):
            return float(number) / 100
        raise ValueError("write it with a percent sign, for example '2%'")
    return value


def _arm_table(value: Any) -> Any:
    return {"arm": value} if isinstance(value, str) else value


def _workload_table(value: Any) -> Any:
    return {"use": value} if isinstance(value, str) else value


Fraction = Annotated[float, BeforeValidator(_percent), Field(gt=0, lt=1)]
"""A share, written as a percentage: '2%' is 0.02."""


class ArmChoice(_Table):
    """An arm: its configuration in the arm notation, and a name of its own if wanted."""

    arm: str
    name: str = Field(default="", max_length=60, pattern=r"^[^\x00-\x1f\x7f]*$")

    @model_validator(mode="after")
    def _is_an_arm(self) -> Self:
        try:
            parse_arm(self.arm)
        except UsageError as error:
            raise ValueError(str(error)) from None
        return self

    def parsed(self) -> Arm:
        """The arm that is meant."""
        return parse_arm(self.arm, self.name or None)


class WorkloadChoice(_Table):
    """A workload, with the parameters that differ from the chosen set."""

    use: str
    label: str = Field(default="", max_length=60, pattern=r"^[^\x00-\x1f\x7f]*$")
    parameters: dict[str, Any] = {}

    @property
    def key(self) -> str:
        """The label under which its results are stored; unique in a campaign."""
        return self.label or self.use


class VmSize(_Table):
    """The size of every VM of the campaign. Bytes; in the file with a unit: '1 GiB'."""

    vcpus: int = Field(strict=True, default=2, ge=1, le=4096)
    memory: Annotated[ByteSize, Field(ge=256 * MIB)] = ByteSize(1024 * MIB)
    data_disk: Annotated[ByteSize, Field(ge=64 * MIB)] = ByteSize(1024 * MIB)


class Limits(_Table):
    """How long to wait, in seconds, and how often to try again.

    `boot_s` is the limit for a guest to become ready. A measured run may take `patience` times
    its expected length plus `grace_s`.
    """

    boot_s: float = Field(default=120, gt=0, le=86400)
    grace_s: float = Field(default=60, gt=0, le=86400)
    patience: float = Field(default=5, ge=1, le=1000)
    boot_attempts: int = Field(strict=True, default=3, ge=1, le=20)
    trial_attempts: int = Field(strict=True, default=2, ge=1, le=20)


class Campaign(_Table):
    """One campaign as written, with every default filled in."""

    name: str = Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]*$")
    description: str = ""
    arms: tuple[Annotated[ArmChoice, BeforeValidator(_arm_table)], ...] = Field(min_length=1)
    baseline: str = ""
    workloads: tuple[Annotated[WorkloadChoice, BeforeValidator(_workload_table)], ...] = Field(
        min_length=1
    )
    parameters: Literal["quick", "paper"] = "quick"
    blocks: int = Field(strict=True, default=5, ge=1, le=10_000)
    warm_up: int = Field(strict=True, default=1, ge=0, le=1000)
    iterations: int = Field(strict=True, default=3, ge=1, le=100_000)
    threshold: Fraction = 0.02
    accelerator: Literal["auto", "kvm", "tcg"] = "auto"
    network: Literal["auto", "tap", "user"] = "auto"
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    vm: VmSize = VmSize()
    limits: Limits = Limits()

    @model_validator(mode="after")
    def _names_are_consistent(self) -> Self:
        names = [choice.parsed().name for choice in self.arms]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(
                    f"two arms are called '{name}'; give one of them a name of its own"
                )
        if self.baseline and self.baseline not in names:
            raise ValueError(f"the baseline '{self.baseline}' is not one of the arms: {names}")
        keys = [choice.key for choice in self.workloads]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"two workloads are called '{key}'; give one of them a label")
        return self

    @property
    def baseline_name(self) -> str:
        """The arm that all others are compared with: the one named, else the first."""
        return self.baseline or self.arms[0].parsed().name

    def parsed_arms(self) -> tuple[Arm, ...]:
        """The arms in the order written."""
        return tuple(choice.parsed() for choice in self.arms)
