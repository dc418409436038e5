from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cvmbench.campaign.model import Campaign
from cvmbench.campaign.reading import read_campaign
from cvmbench.guest.image.build import build
from cvmbench.guest.image.cache import Image, default_cache_directory
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.runner.guest_boot import BootPlan
from cvmbench.runner.jobs import jobs_of, recipe_for
from cvmbench.vm.network import available_mode
from cvmbench.vm.spec import Accelerator
from cvmbench.workloads.catalogue import OWN

EVERYTHING = f"workloads={json.dumps([workload.name for workload in OWN])}"
"""The setting that makes a campaign run every workload of ours."""


@pytest.fixture(scope="session")
def keys() -> InstallationKeys:
    return InstallationKeys.load_or_create()


@pytest.fixture(scope="session")
def image(keys: InstallationKeys) -> Image:
    """The image with all our workloads, from the cache or built now; all guest tests boot it."""
    jobs = jobs_of(read_campaign("quick", [EVERYTHING]).campaign)
    return asyncio.run(build(recipe_for(jobs, keys), keys, default_cache_directory()))


@pytest.fixture(scope="session")
def quick() -> Campaign:
    return read_campaign("quick", ["vm.data_disk=128 MiB", EVERYTHING]).campaign


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Path]:
    """A folder for the machines of one test, which must be empty again at its end."""
    folder = tmp_path / "machines"
    yield folder
    assert not list(folder.glob("cvmb*"))


@pytest.fixture
def plan(quick: Campaign, image: Image, keys: InstallationKeys, machines: Path) -> BootPlan:
    return BootPlan(quick, image, keys, Accelerator.TCG, available_mode(), machines)
