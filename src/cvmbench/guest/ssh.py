"""The SSH connection to a guest, with its host key pinned and one session for all commands."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shlex
import time
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh

from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Command, Output
from cvmbench.guest.connection import over_time, read_both

_KEEPALIVE_S = 15
_KEEPALIVES_LOST = 8
_GRACE_S = 10.0
"""How much later than the guest's own `timeout` ours strikes."""


class SshConnection:
    """Runs commands in a guest."""

    def __init__(self, connection: asyncssh.SSHClientConnection) -> None:
        self._connection = connection

    async def run(self, command: Command) -> Output:
        """Run a command to its end; see `Connection.run`.

        SSH carries one command line, so the argv is quoted word by word (shlex.join) for the
        login shell of the guest; `timeout` ends the program in the guest even if we are gone.
        """
        line = shlex.join(
            (
                *("timeout", "--signal=KILL", f"{command.timeout_s:.3f}"),
                *("env", "LC_ALL=C.UTF-8"),
                *(f"{key}={value}" for key, value in command.environment.items()),
                *command.argv,
            )
        )
        started = time.monotonic()
        process: asyncssh.SSHClientProcess[bytes] | None = None
        try:
            async with asyncio.timeout(command.timeout_s + _GRACE_S):
                process = await self._connection.create_process(line, encoding=None)
                stdout, stderr = await _talk(process, command)
                await process.wait_closed()
        except TimeoutError:
            raise over_time(command) from None
        except (asyncssh.Error, OSError) as error:
            raise _lost(f"{error}") from None
        finally:
            # Not waited for: a guest that has gone silent would make us wait for its answer.
            if process is not None and process.returncode is None:
                process.channel.abort()
        status = process.returncode
        if status is None:
            raise _lost("the session closed without an exit status")
        took = time.monotonic() - started
        # timeout(1) with --signal=KILL ends itself by KILL: status 137, or the signal itself.
        if status in (137, -9) and took >= command.timeout_s:
            raise over_time(command)
        return Output(
            command.argv,
            status,
            stdout.decode(errors="replace"),
            stderr.decode(errors="replace"),
            took,
        )


async def _talk(process: asyncssh.SSHClientProcess[bytes], command: Command) -> tuple[bytes, bytes]:
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(command.stdin)
        process.stdin.write_eof()
    return await read_both(process.stdout.read, process.stderr.read, command)


def _lost(reason: str) -> TrialFailure:
    return TrialFailure(
        FailureKind.CONNECTION_LOST, "The connection to the guest was lost.", why=f"{reason}."
    )


@contextlib.asynccontextmanager
async def connect(
    host: str, port: int, *, user: str, login_key: Path, host_public_key: str, timeout_s: float
) -> AsyncIterator[SshConnection]:
    """Connect, accepting only the pinned host key; tries until `timeout_s` is over.

    Raises TrialFailure (connection lost) if there is no answer in time, or the key is another.
    """
    logging.getLogger("asyncssh").setLevel(logging.CRITICAL)
    pinned = asyncssh.import_public_key(host_public_key)
    options = asyncssh.SSHClientConnectionOptions(
        username=user,
        client_keys=[str(login_key)],
        known_hosts=([pinned], [], []),
        config=None,
        agent_path=None,
        preferred_auth="publickey",
        server_host_key_algs=["ssh-ed25519"],
        compression_algs=["none"],
        keepalive_interval=_KEEPALIVE_S,
        keepalive_count_max=_KEEPALIVES_LOST,
        login_timeout=timeout_s,
        connect_timeout=timeout_s,
    )
    connection = await _until_answered(host, port, options, timeout_s)
    try:
        yield SshConnection(connection)
    finally:
        connection.abort()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(connection.wait_closed(), 5)


async def _until_answered(
    host: str, port: int, options: asyncssh.SSHClientConnectionOptions, timeout_s: float
) -> asyncssh.SSHClientConnection:
    reason = "nothing answered"
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                try:
                    return await asyncssh.connect(host, port, options=options)
                except (asyncssh.HostKeyNotVerifiable, asyncssh.PermissionDenied) as error:
                    raise TrialFailure(
                        FailureKind.CONNECTION_LOST,
                        "The guest is not the one whose keys we know.",
                        why=f"{error}.",
                        remedy="Rebuild the image: `cvmbench image build`.",
                    ) from None
                except (asyncssh.Error, OSError) as error:
                    reason = str(error) or type(error).__name__
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise TrialFailure(
            FailureKind.CONNECTION_LOST,
            f"The guest's SSH server did not answer within {timeout_s:.0f} s.",
            why=f"{reason}.",
        ) from None
