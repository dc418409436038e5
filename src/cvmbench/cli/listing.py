"""`cvmbench list`: what there is to choose from."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cvmbench.cli.options import Json


class What(StrEnum):
    """What can be listed."""

    WORKLOADS = "workloads"
    ARMS = "arms"
    PRESETS = "presets"


def listing(
    what: Annotated[What, typer.Argument(help="What to list.")],
    parameters: Annotated[
        bool, typer.Option("--parameters", help="With workloads: their parameters and metrics.")
    ] = False,
    json: Json = False,
) -> None:
    """List the workloads, the words that arms are made of, or the presets."""
    from cvmbench.cli.terminal import data, print_json
    from cvmbench.report import catalogues

    match what:
        case What.WORKLOADS if json:
            print_json(catalogues.workloads_data())
        case What.WORKLOADS if parameters:
            catalogues.workload_details(data())
        case What.WORKLOADS:
            catalogues.workloads_table(data())
        case What.ARMS if json:
            print_json(catalogues.arms_data())
        case What.ARMS:
            catalogues.arms_table(data())
        case What.PRESETS if json:
            print_json(catalogues.presets_data())
        case What.PRESETS:
            catalogues.presets_table(data())
