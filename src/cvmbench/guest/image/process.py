"""Runs the programs that build an image, so that stopping ends every process of theirs."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import pty
import shutil
import signal
import struct
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cvmbench.errors import MissingToolError

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "HOME", "USER", "LOGNAME")


def build_environment(temporary: Path) -> dict[str, str]:
    """The environment build programs run in: the user's proxy settings, and nothing odd.

    /usr/sbin is on the PATH, which ordinary users of Debian lack and mkfs.ext4 needs.
    """
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **kept,
        "PATH": _PATH,
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm",
        "TMPDIR": str(temporary),
        "DEBIAN_FRONTEND": "noninteractive",
    }


def require_tools(tools: Mapping[str, str]) -> None:
    """Raise MissingToolError unless every program in `tools` (name -> Debian package) is there."""
    missing = {name: package for name, package in tools.items() if not _which(name)}
    if missing:
        raise MissingToolError(
            f"Building a guest image needs {', '.join(sorted(missing))}, not found on this host.",
            remedy=f"Install it with: apt-get install {' '.join(sorted(set(missing.values())))}",
        )


def _which(name: str) -> str | None:
    return shutil.which(name, path=_PATH)


async def run_process(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    on_error_text: Callable[[str], None],
    terminal: bool = False,
) -> int:
    """Run `argv` to its end and return its exit status.

    What it prints to standard error goes to `on_error_text` piece by piece; with `terminal`,
    standard error is the controlling terminal of the program, 80 columns wide, for programs that
    show progress only there. Standard output is discarded. If the calling task is cancelled, or
    this process dies, the program is killed with all of its children that stay in its session.
    """
    reading, writing = pty.openpty() if terminal else os.pipe()
    try:
        if terminal:
            fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 80, 0, 0))
        process = await asyncio.create_subprocess_exec(
            # Dies with us even if we are killed.
            *("setpriv", "--pdeathsig", "KILL", "--"),
            *(("setsid", "--ctty", "--") if terminal else ("setsid", "--")),
            *argv,
            stdin=writing if terminal else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=writing,
            env=dict(environment),
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    try:
        await _read_all(reading, on_error_text)
        return await process.wait()
    finally:
        os.close(reading)
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # In its first moment it has no process group of its own yet.
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())


async def _read_all(descriptor: int, on_text: Callable[[str], None]) -> None:
    """Pass on what comes from `descriptor` until everyone has closed the other end."""
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def read() -> None:
        try:
            data = os.read(descriptor, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                ended.set_exception(error)
                return
            # A terminal whose other side is closed answers so.
            data = b""
        if data:
            on_text(data.decode("utf-8", "replace"))
        elif not ended.done():
            ended.set_result(None)

    loop.add_reader(descriptor, read)
    try:
        await ended
    finally:
        loop.remove_reader(descriptor)
