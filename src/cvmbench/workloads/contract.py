"""The contract between a workload and the runner.

A workload says what to run and how to read it; the runner runs it. It holds no state: the same
object serves every arm, and everything it may build upon comes in as `Parameters` and
`Surroundings`. Third parties add theirs with the entry point group `cvmbench.workloads`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Command, Output
from cvmbench.units import Metric


class Place(StrEnum):
    """Where the measured program runs."""

    GUEST = "guest"
    CLIENT_SERVER = "server in guest, client outside"


class ParameterSet(StrEnum):
    """The two sets of values every workload has."""

    QUICK = "quick"
    PAPER = "paper"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a workload may build upon in one boot.

    `data_disk` is a block device in the guest that holds nothing (its content is lost) of
    `data_disk_bytes`. A server listens on `server_host`:`server_port` in the guest; a client
    outside reaches it at `client_host`:`client_port`.
    """

    vcpus: int
    memory_bytes: int
    data_disk: str
    data_disk_bytes: int
    server_host: str
    server_port: int
    client_host: str
    client_port: int


class Parameters(BaseModel):
    """Typed values of one workload; field defaults are the `quick` set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def quick(cls) -> Self:
        """Short values, for trying things out; never the basis of a published number."""
        return cls()

    @classmethod
    def paper(cls) -> Self:
        """The values of the studies in `reference/`."""
        return cls()


P = TypeVar("P", bound=Parameters)

Samples = Mapping[str, Sequence[float]]
"""Metric name -> the values that one run of the tool gave, at least one, all finite."""


class Workload(ABC, Generic[P]):
    """One measured job. Subclasses are short: names, metrics, argv and `parse`."""

    name: ClassVar[str]
    summary: ClassVar[str]
    place: ClassVar[Place] = Place.GUEST
    packages: ClassVar[tuple[str, ...]]
    """Debian packages the guest needs."""
    client_packages: ClassVar[tuple[str, ...]] = ()
    """Debian packages the client's host needs; `client_programs` are looked for on PATH."""
    client_programs: ClassVar[tuple[str, ...]] = ()
    settle_s: ClassVar[float] = 0.0
    """Seconds to wait before every run, for a server that is not ready again at once."""
    parameters: type[P]
    metrics: ClassVar[tuple[Metric, ...]]

    def unavailable(self, p: P, around: Surroundings) -> str:
        """Why this cannot run in these surroundings, as a sentence; empty if it can. Pure.

        The runner asks before anything is started; such a trial ends as `unavailable`.
        """
        return ""

    def prepare(self, p: P, around: Surroundings) -> Sequence[Command]:
        """Commands run in the guest once a boot, before the warm-up, not measured."""
        return ()

    def server(self, p: P, around: Surroundings) -> Command | None:
        """The server to keep running in the guest during the trial (CLIENT_SERVER only).

        The runner starts it, waits until its port accepts connections, and ends it.
        """
        return None

    @abstractmethod
    def measure(self, p: P, around: Surroundings) -> Sequence[Command]:
        """The commands of one measured run, in order, most often one.

        Run in the guest, or by the client for CLIENT_SERVER. A run ends with the first that fails.
        """

    @abstractmethod
    def parse(self, stdout: str, p: P) -> Samples:
        """Samples of one measured run, in the metrics' units. Pure.

        `stdout` is what its commands printed, one after the other.

        Raises `not_understood` for anything but a whole, well-formed result: a wrong parse is an
        error, never a number.
        """

    @abstractmethod
    def duration_s(self, p: P) -> float:
        """Expected length of one measured run in seconds, for plans and time limits.

        The runner sets the time limit of every command from it, whatever the command says.
        """

    def complaint(self, output: Output) -> str:
        """What the tool itself said when it ended with a status other than 0; may be empty.

        One printable line of at most 200 characters, fit for a failure's reason. The default is
        the last line on standard error.
        """
        return one_line(next(reversed(output.stderr[-4096:].strip().splitlines()), ""))

    def metric(self, name: str) -> Metric:
        """The metric called `name`; KeyError if the workload has none of that name."""
        return next(m for m in self.metrics if m.name == name)


AnyWorkload = Workload[Any]


def one_line(text: str, limit: int = 200) -> str:
    """`text` from a guest as one line of at most `limit` printable characters."""
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * limit])
    words = " ".join(printable.split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def not_understood(tool: str, reason: str) -> TrialFailure:
    """The failure a parser raises when `tool` printed something it cannot read."""
    return TrialFailure(
        FailureKind.OUTPUT_NOT_UNDERSTOOD,
        f"The output of {tool} was not understood: {reason}.",
        remedy="The raw output is kept with the trial; `cvmbench show RUN --trial N` prints it.",
    )
