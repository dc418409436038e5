"""What is run in a guest or on a host (`Command`) and what came back (`Output`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    """A program and its arguments, with the bounds it runs under.

    `argv` is never a shell line. `output_limit` bounds the bytes kept of standard output and of
    standard error, each; a program that prints more is stopped and the trial fails.
    """

    argv: tuple[str, ...]
    timeout_s: float = 60.0
    output_limit: int = 4 * 2**20
    stdin: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Output:
    """Exit status and bounded output of a finished command; text is decoded with replacement."""

    argv: tuple[str, ...]
    status: int
    stdout: str
    stderr: str
    duration_s: float
