"""Where cvmbench keeps its files; each place can be moved by an environment variable."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

from cvmbench.errors import UsageError


def cache_directory() -> Path:
    """Images and the disks of running machines; CVMBENCH_CACHE moves it. Needs a real disk."""
    return _moved("CVMBENCH_CACHE") or user_cache_path("cvmbench")


def data_directory() -> Path:
    """Results, reports and keys; CVMBENCH_DATA moves it."""
    return _moved("CVMBENCH_DATA") or user_data_path("cvmbench")


def _moved(variable: str) -> Path | None:
    value = os.environ.get(variable)
    try:
        return Path(value).expanduser().absolute() if value else None
    except RuntimeError as error:
        raise UsageError(f"{variable} is {value!r}: {error}") from None
