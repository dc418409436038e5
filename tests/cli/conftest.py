from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cvmbench.guest.image.cache import default_cache_directory

PROGRAM = Path(sys.executable).parent / "cvmbench"

TINY = """
name = "tiny"
arms = ["plain", "plain+swiotlb"]
blocks = 1
warm_up = 0
iterations = 1
accelerator = "tcg"
workloads = [
  {use = "sysbench-cpu", parameters = {time_s = 1}},
  {use = "mbw", parameters = {runs = 1}},
  {use = "fio-randread", parameters = {runtime_s = 1, area_mib = 16}},
  {use = "redis", parameters = {set_requests = 1000, get_requests = 1000}},
  {use = "iperf3-tcp", parameters = {time_s = 1}},
]
[vm]
data_disk = "64 MiB"
"""
"""Every workload of ours, so that all guest tests share one image."""


@dataclass
class Program:
    """The installed program, with a store of its own."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.folder / "results.sqlite"

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(PROGRAM), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
            env={**os.environ, "CVMBENCH_STORE": str(self.store), **self.environment},
        )

    def call(self, *words: str, status: int | None = 0) -> Said:
        process = self.start(*words)
        out, err = process.communicate(timeout=600)
        assert "Traceback" not in err, err
        assert status is None or process.returncode == status, f"{process.returncode}: {err}{out}"
        return Said(process.returncode, out, err)


@dataclass(frozen=True)
class Said:
    status: int
    out: str
    err: str


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """`cvmbench` with its store and reports in a folder of the test."""
    return Program(tmp_path, {"CVMBENCH_DATA": str(tmp_path), "NO_COLOR": "1", "COLUMNS": "120"})


@pytest.fixture
def guests(program: Program, image: object) -> Program:
    """The program with the installation's own keys and image, for running guests."""
    del program.environment["CVMBENCH_DATA"]
    cache = program.folder / "cache"
    cache.mkdir()
    (cache / "images").symlink_to(default_cache_directory())
    program.environment["CVMBENCH_CACHE"] = str(cache)
    return program


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def leftovers(program: Program) -> Sequence[str]:
    """Every process and folder that belongs to a machine of this test.

    QEMU and the holder of its network namespace both work in the machine's folder.
    """
    machines = program.folder / "cache" / "machines"
    found = [path.name for path in machines.glob("cvmb*")]
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(machines):
                found.append(f"process {process.name}")
    return found
