"""Options that several commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

StorePath = Annotated[
    Path | None,
    typer.Option(
        "--store",
        envvar="CVMBENCH_STORE",
        help="The result store, a file; made if it is not there.",
        show_default="in the user's data directory",
    ),
]

RunKey = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's key, a unique beginning of it, or 'last'.")
]

CampaignName = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="A campaign file (TOML) or the name of a preset.")
]

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key of the campaign, for example --set blocks=5 --set vm.vcpus=4.",
    ),
]


def store_path(given: Path | None) -> Path:
    """The store that is meant: the one given, else the default one."""
    from cvmbench.errors import UsageError
    from cvmbench.store.store import Store

    path = given if given is not None else Store.default_path()
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError(f"The store {str(path)!r} has a name that is not UTF-8.") from None
    return path
