"""The guest's serial line: kept within bounds, and watched for what it says.

What arrives here was written by the guest and is only data: at most `HEAD_BYTES` of its beginning
and `TAIL_BYTES` of its end are kept, and lines are matched against two fixed forms.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque

HEAD_BYTES = 512 * 1024
TAIL_BYTES = 512 * 1024
_LONGEST_LINE = 4096

_READY = re.compile(rb"cvmbench: ready(?: ([0-9]{1,6}(?:\.[0-9]{1,3})?))?\s*$")
_PANIC = re.compile(rb"Kernel panic - not syncing: (.{0,200})")


class SerialLog:
    """Reads the serial line until it closes.

    `kernel`, `ready` and `panicked` are set when the kernel's first line, the ready line or a
    kernel panic is seen; `panic_message` holds the kernel's words.
    """

    def __init__(self) -> None:
        self.kernel = asyncio.Event()
        self.ready = asyncio.Event()
        self.panicked = asyncio.Event()
        self.panic_message = ""
        self.total_bytes = 0
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._line = b""

    async def follow(self, stream: asyncio.StreamReader) -> None:
        """Take in the stream until its end."""
        while chunk := await stream.read(65536):
            self.feed(chunk)

    def feed(self, chunk: bytes) -> None:
        """Take in some bytes."""
        self.total_bytes += len(chunk)
        self._keep(chunk)
        *lines, rest = (self._line + chunk).split(b"\n")
        for line in lines:
            self._look_at(line[-_LONGEST_LINE:])
        self._line = rest[-_LONGEST_LINE:]

    def content(self) -> bytes:
        """What was kept: the beginning and the end, with a note of what is missing between."""
        kept = len(self._head) + self._tail_bytes
        gap = b""
        if self.total_bytes > kept:
            gap = f"\n[cvmbench: {self.total_bytes - kept} bytes left out]\n".encode()
        return bytes(self._head) + gap + b"".join(self._tail)

    def _keep(self, chunk: bytes) -> None:
        room = HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if chunk:
            self._tail.append(chunk)
            self._tail_bytes += len(chunk)
        while self._tail and self._tail_bytes - len(self._tail[0]) >= TAIL_BYTES:
            self._tail_bytes -= len(self._tail.popleft())

    def _look_at(self, line: bytes) -> None:
        if _READY.search(line):
            self.ready.set()
        elif b"Linux version " in line:
            self.kernel.set()
        elif panic := _PANIC.search(line):
            if not self.panicked.is_set():
                self.panic_message = panic[1].decode(errors="replace").strip()
            self.panicked.set()
