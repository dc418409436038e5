"""`cvmbench plan`: what a campaign would do, before anything runs."""

from __future__ import annotations

from cvmbench.cli.options import CampaignName, Json, Settings


def plan(campaign: CampaignName, settings: Settings = None, json: Json = False) -> None:
    """Print what a campaign would do and how long it would take; nothing is started."""
    from cvmbench.campaign.reading import read_campaign
    from cvmbench.cli.terminal import data, print_json
    from cvmbench.report.planned import as_data, render
    from cvmbench.runner.outline import outline

    planned = outline(read_campaign(campaign, settings or ()))
    if json:
        print_json(as_data(planned))
    else:
        render(planned, data())
