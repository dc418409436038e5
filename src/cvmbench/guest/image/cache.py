"""Finished guest images on disk: one directory each, described by its `manifest.json`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeInt, ValidationError

from cvmbench.errors import HostCannotError, ImageError, UsageError
from cvmbench.guest.image.recipe import ImageRecipe
from cvmbench.paths import cache_directory

ROOT_DISK = "root.ext4"
KERNEL = "vmlinuz"
INITRD = "initrd.cpio"
MANIFEST = "manifest.json"

_DIGITS_IN_NAME = 16
"""A directory is named by this many digits of its digest."""


def default_cache_directory() -> Path:
    """Where guest images are kept unless the user says otherwise."""
    return cache_directory() / "images"


def image_directory(cache_dir: Path, digest: str) -> Path:
    """Where the image with `digest` is, or would be, in `cache_dir`."""
    return cache_dir / digest[:_DIGITS_IN_NAME]


@dataclass(frozen=True, slots=True)
class Image:
    """A guest image that can be booted.

    `root_disk` is a raw ext4 file system with a private key in it: mode 0600, to be used as the
    backing file of an overlay and never written. A boot needs `kernel_arguments`, to which the
    caller adds its own.
    """

    directory: Path
    root_disk: Path
    kernel: Path
    initrd: Path
    kernel_release: str
    kernel_arguments: tuple[str, ...]
    digest: str
    suite: str
    packages: Mapping[str, str]
    """Name -> version of every package installed in the guest."""
    requested_packages: tuple[str, ...]
    created_at: datetime
    size_bytes: int
    """Bytes that the image takes on the host's disk."""


class Manifest(BaseModel):
    """The content of `manifest.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: int = 1
    digest: str
    suite: str
    kernel_release: str
    kernel_arguments: list[str]
    requested_packages: list[str]
    packages: dict[str, str]
    created_at: AwareDatetime
    file_bytes: dict[str, NonNegativeInt]
    """Name of each file -> its length, by which a truncated one is noticed."""


def load_image(directory: Path) -> Image:
    """The image in `directory`. Raises ImageError if it is missing or damaged."""
    try:
        manifest = Manifest.model_validate_json((directory / MANIFEST).read_bytes())
        for name in (ROOT_DISK, KERNEL, INITRD):
            expected = manifest.file_bytes.get(name, 0)
            actual = (directory / name).stat().st_size
            if actual != expected or not expected:
                raise ImageError(
                    f"The guest image in {directory} is damaged.",
                    why=f"{name} has {actual} bytes; it was made with {expected}.",
                    remedy="It is built anew when it is next needed, or by `cvmbench image build`.",
                )
        size = sum(f.stat().st_blocks * 512 for f in directory.iterdir() if f.is_file())
    except (OSError, ValidationError) as error:
        reason = f"{MANIFEST} is not valid" if isinstance(error, ValidationError) else str(error)
        raise ImageError(
            f"The guest image in {directory} is damaged.",
            why=f"{reason}.",
            remedy="It is built anew when it is next needed, or by `cvmbench image build`.",
        ) from error
    return Image(
        directory=directory,
        root_disk=directory / ROOT_DISK,
        kernel=directory / KERNEL,
        initrd=directory / INITRD,
        kernel_release=manifest.kernel_release,
        kernel_arguments=tuple(manifest.kernel_arguments),
        digest=manifest.digest,
        suite=manifest.suite,
        packages=manifest.packages,
        requested_packages=tuple(manifest.requested_packages),
        created_at=manifest.created_at,
        size_bytes=size,
    )


def cached_images(cache_dir: Path) -> list[Image | ImageError]:
    """Every image in `cache_dir`, newest first; a damaged one is the error that says so, last."""
    found = [_load_or_error(directory) for directory in _image_directories(cache_dir)]
    images = [image for image in found if isinstance(image, Image)]
    errors = [error for error in found if isinstance(error, ImageError)]
    return [*sorted(images, key=lambda image: image.created_at, reverse=True), *errors]


def find_image(cache_dir: Path, recipe: ImageRecipe) -> Image | None:
    """The image made by `recipe`, or None if it was not built yet.

    Raises ImageError if it is there but damaged; `build` replaces such an image.
    """
    directory = image_directory(cache_dir, recipe.digest)
    if not directory.exists():
        return None
    image = load_image(directory)
    if image.digest != recipe.digest:
        raise ImageError(
            f"The guest image in {directory} is damaged.",
            why="Its manifest belongs to another image.",
            remedy="It is built anew when it is next needed, or by `cvmbench image build`.",
        )
    return image


def remove_image(cache_dir: Path, digest_prefix: str) -> Path:
    """Delete the one image whose digest begins with `digest_prefix`; returns where it was.

    Damaged images can be removed too, by the name of their directory. Raises UsageError if the
    prefix fits none or several.
    """
    known = {directory.name: directory for directory in _image_directories(cache_dir)}
    wanted = digest_prefix[:_DIGITS_IN_NAME].lower()
    matches = [name for name in sorted(known) if wanted and name.startswith(wanted)]
    if len(matches) != 1:
        listed = ", ".join(matches or sorted(known)) or "none"
        raise UsageError(
            f"{digest_prefix!r} fits {'several' if matches else 'no'} guest images.",
            why=f"{'Fitting' if matches else 'Cached'} images: {listed}.",
            remedy="Give enough digits to name one; `cvmbench image list` shows them.",
        )
    directory = known[matches[0]]
    # Renamed first, so that nobody finds half an image; a build's sweep ends what a crash leaves.
    doomed = directory.with_name(f".building-{directory.name}-removed")
    try:
        shutil.rmtree(doomed, ignore_errors=True)
        directory.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise HostCannotError(
            f"The guest image in {directory} cannot be removed: {error}.",
            remedy="Check the permissions of the directory.",
        ) from error
    return directory


def _image_directories(cache_dir: Path) -> Iterator[Path]:
    if cache_dir.is_dir():
        for directory in sorted(cache_dir.iterdir()):
            if directory.is_dir() and not directory.name.startswith("."):
                yield directory


def _load_or_error(directory: Path) -> Image | ImageError:
    try:
        return load_image(directory)
    except ImageError as error:
        return error
