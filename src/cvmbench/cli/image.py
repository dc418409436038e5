"""`cvmbench image`: build, list and remove guest images."""

from __future__ import annotations

from typing import Annotated

import typer

from cvmbench.cli.options import Json

app = typer.Typer(help="Build, list and remove guest images.", no_args_is_help=True)


@app.command("build")
def build(
    campaign: Annotated[
        str, typer.Argument(metavar="CAMPAIGN", help="The campaign whose workloads it is for.")
    ] = "quick",
) -> None:
    """Build the guest image that a campaign needs, unless it is there already."""
    from cvmbench.campaign.reading import read_campaign
    from cvmbench.cli.execution import until_done
    from cvmbench.cli.terminal import data, errors
    from cvmbench.errors import Interrupted
    from cvmbench.guest.image.build import build as build_image
    from cvmbench.guest.image.cache import default_cache_directory
    from cvmbench.guest.image.keys import InstallationKeys
    from cvmbench.report.progress import build_display
    from cvmbench.runner.jobs import jobs_of, recipe_for

    jobs = jobs_of(read_campaign(campaign).campaign)
    keys = InstallationKeys.load_or_create()
    with build_display(errors()) as display:
        work = build_image(recipe_for(jobs, keys), keys, default_cache_directory(), display)
        image = until_done(
            work, lambda: Interrupted("Interrupted; nothing of the unfinished image is left.")
        )
    data().print(str(image.directory), soft_wrap=True, markup=False)


@app.command("list")
def list_images(json: Json = False) -> None:
    """List the images in the cache."""
    from cvmbench.cli.terminal import data, print_json
    from cvmbench.guest.image.cache import cached_images, default_cache_directory
    from cvmbench.report.catalogues import images_data, images_table

    images = cached_images(default_cache_directory())
    if json:
        print_json(images_data(images))
    else:
        images_table(images, data())


@app.command("remove")
def remove(
    digest: Annotated[str, typer.Argument(help="The image's digest, or a unique beginning of it.")],
) -> None:
    """Remove an image from the cache."""
    from cvmbench.cli.terminal import errors
    from cvmbench.guest.image.cache import default_cache_directory, remove_image

    removed = remove_image(default_cache_directory(), digest)
    errors().print(f"Removed {removed}", markup=False, soft_wrap=True)
