"""Every error a user can meet, as one tree.

    CvmbenchError                 exit 1
    ├── UsageError                exit 2   the call or a file is wrong
    │   └── CampaignError
    ├── HostCannotError           exit 4   this machine cannot do it
    │   ├── MissingToolError
    │   └── ImageError
    ├── StoreError                exit 4   the result store cannot be used
    ├── Interrupted               exit 130
    └── TrialFailure              a measurement failed; `kind` decides whether it is repeated

An error says what happened, why, and what to do about it; the command line prints those three
sentences and nothing else.
"""

from __future__ import annotations

from enum import StrEnum


class CvmbenchError(Exception):
    """What happened (`what`), why (`why`), and what to do (`remedy`), each a sentence."""

    exit_code = 1

    def __init__(self, what: str, *, why: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.remedy = remedy

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.why, self.remedy) if part)


class UsageError(CvmbenchError):
    """The call or its input is wrong; nothing was started."""

    exit_code = 2


class CampaignError(UsageError):
    """A campaign file is wrong; names the file and the key."""


class HostCannotError(CvmbenchError):
    """This machine cannot do what was asked."""

    exit_code = 4


class MissingToolError(HostCannotError):
    """A program that cvmbench needs on this host is not installed."""


class ImageError(HostCannotError):
    """A guest image is missing or cannot be built."""


class StoreError(CvmbenchError):
    """The result store cannot be read or written."""

    exit_code = 4


class Interrupted(CvmbenchError):
    """The user or the system asked to stop; what was finished is kept."""

    exit_code = 130


class FailureKind(StrEnum):
    """Why a boot or a trial failed. The runner decides by kind whether it is tried again."""

    GUEST_PANIC = "guest panic"
    GUEST_HANG = "guest hang"
    QEMU_DIED = "QEMU died"
    CONNECTION_LOST = "connection lost"
    NOT_VERIFIED = "guest not verified"
    TOOL_FAILED = "tool failed"
    OUTPUT_NOT_UNDERSTOOD = "output not understood"
    TIME_LIMIT = "time limit"
    HOST_PROBLEM = "host problem"


class TrialFailure(CvmbenchError):
    """A boot or a trial did not give a number, with the kind of the failure."""

    def __init__(self, kind: FailureKind, what: str, *, why: str = "", remedy: str = "") -> None:
        super().__init__(what, why=why, remedy=remedy)
        self.kind = kind
