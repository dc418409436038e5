"""Whole runs of real guests through the program, and what happens when they are disturbed."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import PROGRAM, Program, leftovers

pytestmark = pytest.mark.guest

MEASURED_ONCE = "every planned trial measured, each once"


def insist_on_a_whole_run(program: Program, key: str, trials: int) -> None:
    """Every planned trial is measured, with its samples stored exactly once."""
    [row] = [r for r in json.loads(program.call("runs", "--json").out) if r["key"] == key]
    assert row["status"] == "finished"
    counts = {status: count for status, count in row["trials"].items() if count}
    assert counts == {"measured": trials}, MEASURED_ONCE
    rows = list(csv.DictReader(io.StringIO(program.call("export", key).out)))
    headline = [r for r in rows if r["headline"] == "true"]
    per_trial = Counter((r["arm"], r["block"], r["workload"]) for r in headline)
    assert len(per_trial) == trials, MEASURED_ONCE
    iterations = Counter((r["trial_id"], r["metric"], r["iteration"], r["position"]) for r in rows)
    assert set(iterations.values()) == {1}, MEASURED_ONCE


def the_run(program: Program) -> str:
    [row] = json.loads(program.call("runs", "--json").out)
    return str(row["key"])


def wait_for(program: Program, process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"'{text}' was never said")


def test_a_run_ends_with_a_table_and_a_report(guests: Program, tiny: Path) -> None:
    report = guests.folder / "report.html"
    said = guests.call("run", str(tiny), "--report", str(report))
    assert said.out.strip().splitlines()[-1] == str(report)
    assert "plain+swiotlb" in said.out
    assert "functional" in said.out
    assert "Block 1 of 1: boot plain" in said.err
    key = the_run(guests)
    insist_on_a_whole_run(guests, key, 10)
    page = report.read_text()
    assert "functional" in page
    assert key in page
    shown = json.loads(guests.call("show", key, "--json").out)
    assert shown["functional"] is True
    assert {e["workload"] for e in shown["estimates"]} == {
        "sysbench-cpu",
        "mbw",
        "fio-randread",
        "redis",
        "iperf3-tcp",
    }
    assert guests.call("report", key, "-o", str(guests.folder / "again.html")).out.strip()
    frame = pl.read_parquet(
        io.BytesIO(
            subprocess.run(
                [str(PROGRAM), "export", key, "--format", "parquet"],
                env={**os.environ, "CVMBENCH_STORE": str(guests.store)},
                capture_output=True,
                check=True,
            ).stdout
        )
    )
    assert frame["functional"].all()
    assert json.loads(guests.call("export", key, "--format", "json").out)
    trials = guests.call("show", key, "--trials").out
    assert trials.count("measured") == 10
    raw = guests.call("show", key, "--trial", "1").out
    assert "iteration-1-stdout" in raw
    assert "ready after" in guests.call("show", key, "--boots").out.lower()
    boot = guests.call("show", key, "--boot", "1").out
    assert "ok  memory encryption" in boot
    assert "cvmbench: ready" in boot
    head = f"{PROGRAM} export {key} | head -n 1"
    piped = subprocess.run(
        ["bash", "-c", head],
        env={**os.environ, "CVMBENCH_STORE": str(guests.store)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert piped.stdout.startswith("run,functional")
    assert piped.stderr == ""
    assert guests.call("resume", key, status=2).err.startswith("Error: The run")
    assert not leftovers(guests)


def test_a_run_killed_three_times_ends_with_every_trial_once(guests: Program, tiny: Path) -> None:
    draw = random.Random(20261120)
    process = guests.start("run", str(tiny), "--set", "blocks=2")
    wait_for(guests, process, "Run tiny-")
    for _ in range(3):
        time.sleep(draw.uniform(3, 14))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        time.sleep(0.5)
        assert not [name for name in leftovers(guests) if name.startswith("process")], (
            "QEMU dies with its owner"
        )
        process = guests.start("resume", "last")
    _out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    insist_on_a_whole_run(guests, the_run(guests), 20)
    assert not leftovers(guests), "what the killed runs left was swept"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on(
    guests: Program, tiny: Path, number: signal.Signals
) -> None:
    process = guests.start("run", str(tiny))
    wait_for(guests, process, "ready after")
    process.send_signal(number)
    _out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    key = the_run(guests)
    assert f"cvmbench resume {key}" in err
    assert not leftovers(guests)
    if number is signal.SIGTERM:
        (guests.folder / "cache" / "images").unlink()
        said = guests.call("resume", key, status=4)
        assert f"The guest image of the run {key} cannot be used" in said.err
        return
    guests.call("resume", key[:12])
    insist_on_a_whole_run(guests, key, 10)


def test_a_machine_that_dies_is_booted_again_inside_its_block(guests: Program, tiny: Path) -> None:
    process = guests.start("run", str(tiny))
    wait_for(guests, process, "ready after")
    [qemu] = [
        int(name.split()[1])
        for name in leftovers(guests)
        if name.startswith("process")
        and Path(f"/proc/{name.split()[1]}/comm").read_text().startswith("qemu")
    ]
    os.kill(qemu, signal.SIGKILL)
    _out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "boot lost (QEMU died). QEMU ended by signal SIGKILL." in err
    assert "attempt 2" in err
    insist_on_a_whole_run(guests, the_run(guests), 10)
    assert not leftovers(guests)


def test_two_runs_in_one_store_do_no_harm(guests: Program, tiny: Path) -> None:
    both = [guests.start("run", str(tiny)) for _ in range(2)]
    for process in both:
        _out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    rows = json.loads(guests.call("runs", "--json").out)
    assert len(rows) == 2
    for row in rows:
        insist_on_a_whole_run(guests, row["key"], 10)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk_stops_the_run_and_loses_nothing(guests: Program, tiny: Path) -> None:
    mount = guests.folder / "small"
    mount.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=560k", "tmpfs", str(mount)], check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this machine does not let us mount a small file system")
    try:
        guests.environment["CVMBENCH_STORE"] = str(mount / "results.sqlite")
        filler = mount / "filler"
        process = guests.start("run", str(tiny))
        wait_for(guests, process, "ready after")
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(b"x" * 4096):
                pass
        _out, err = process.communicate(timeout=300)
        assert process.returncode == 4, err
        assert "Traceback" not in err
        assert "full" in err or "space" in err
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,size=16m", str(mount)], check=True)
        guests.call("resume", "last")
        insist_on_a_whole_run(guests, the_run(guests), 10)
        assert not leftovers(guests)
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=True)


def test_disks_that_do_not_fit_are_a_sentence(guests: Program, tiny: Path) -> None:
    said = guests.call("run", str(tiny), "--set", "vm.data_disk=900 TiB", status=4)
    assert "no room for the disks of a boot" in said.err
    assert "CVMBENCH_CACHE" in said.err


def test_a_running_run_cannot_be_resumed_twice(guests: Program, tiny: Path) -> None:
    process = guests.start("run", str(tiny))
    try:
        wait_for(guests, process, "Run tiny-")
        said = guests.call("resume", "last", status=2)
        assert str(process.pid) in said.err
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
