"""Jobs: the workloads of a campaign with checked parameters, and the image they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from cvmbench.campaign.model import Campaign
from cvmbench.campaign.reading import explain
from cvmbench.errors import CampaignError
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.guest.image.recipe import ImageRecipe
from cvmbench.workloads.catalogue import find
from cvmbench.workloads.contract import AnyWorkload, Parameters, ParameterSet


@dataclass(frozen=True, slots=True)
class Job:
    """A workload with its parameters and how it is measured."""

    key: str
    workload: AnyWorkload
    parameters: Parameters
    warm_up: int
    iterations: int
    patience: float
    grace_s: float

    @property
    def expected_s(self) -> float:
        """Expected length of one trial in seconds, without its preparation."""
        runs = self.warm_up + self.iterations
        return runs * float(self.workload.duration_s(self.parameters) + self.workload.settle_s)


def jobs_of(campaign: Campaign) -> dict[str, Job]:
    """The campaign's workloads with their parameters checked, by key.

    Raises UsageError for an unknown workload, CampaignError for a wrong parameter.
    """
    jobs = {}
    for choice in campaign.workloads:
        workload = find(choice.use)
        kind = workload.parameters
        base = (
            kind.paper()
            if ParameterSet(campaign.parameters) is ParameterSet.PAPER
            else kind.quick()
        )
        try:
            parameters = kind.model_validate({**base.model_dump(), **choice.parameters})
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            raise CampaignError(
                f"The parameters of the workload '{choice.key}' are wrong: "
                f"{explain(problem, kind, choice.parameters)}",
                remedy="`cvmbench list workloads --parameters` shows them all.",
            ) from None
        jobs[choice.key] = Job(
            choice.key,
            workload,
            parameters,
            campaign.warm_up,
            campaign.iterations,
            campaign.limits.patience,
            campaign.limits.grace_s,
        )
    return jobs


def recipe_for(jobs: Mapping[str, Job], keys: InstallationKeys) -> ImageRecipe:
    """The guest image that these jobs need: the base and their packages."""
    return ImageRecipe.of(
        (package for job in jobs.values() for package in job.workload.packages), keys
    )
