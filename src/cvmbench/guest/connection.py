"""Connections: run a command somewhere, with a time limit and bounded output.

One method is all a connection has; SSH and local implement it, and so can a double in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Command, Output


class Connection(Protocol):
    """A place where commands run."""

    async def run(self, command: Command) -> Output:
        """Run a command to its end.

        A non-zero exit status is a result, not an error. Raises TrialFailure: time limit, tool
        failed (output beyond the limit, program missing), or connection lost.
        """
        ...


Read = Callable[[int], Awaitable[bytes]]


async def read_both(stdout: Read, stderr: Read, command: Command) -> tuple[bytes, bytes]:
    """All that `command` prints on both streams, each within its bound; see `read_bounded`."""
    readers = [
        asyncio.ensure_future(read_bounded(read, command.output_limit, command.argv[0]))
        for read in (stdout, stderr)
    ]
    try:
        out, err = await asyncio.gather(*readers)
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    return out, err


async def read_bounded(read: Read, limit: int, what: str) -> bytes:
    """All of a stream, at most `limit` bytes of it.

    Raises TrialFailure (tool failed) as soon as there is more: the rest is not even read.
    """
    kept = bytearray()
    while chunk := await read(65536):
        kept += chunk
        if len(kept) > limit:
            raise TrialFailure(
                FailureKind.TOOL_FAILED,
                f"{what} printed more than {limit:,} bytes and was stopped.",
                remedy="The limit protects this host from a guest that never stops printing.",
            )
    return bytes(kept)


def over_time(command: Command) -> TrialFailure:
    """The failure of a command that did not end in time."""
    return TrialFailure(
        FailureKind.TIME_LIMIT,
        f"'{command.argv[0]}' did not end within {command.timeout_s:.0f} s.",
        remedy="Raise limits.patience or limits.grace_s if this machine is slow.",
    )


async def run_checked(connection: Connection, command: Command) -> Output:
    """Run a command that must succeed. Raises TrialFailure (tool failed) on a non-zero status."""
    output = await connection.run(command)
    if output.status != 0:
        said = (output.stderr.strip() or output.stdout.strip())[-300:]
        raise TrialFailure(
            FailureKind.TOOL_FAILED,
            f"'{command.argv[0]}' ended with status {output.status}.",
            why=f"It said: {said!r}." if said else "It said nothing.",
        )
    return output
