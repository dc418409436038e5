"""Commands that start no guest."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM, TINY, Program


def test_help_names_every_command(program: Program) -> None:
    said = program.call("--help")
    commands = ["doctor", "list", "plan", "run", "resume", "runs", "show", "report", "export"]
    for command in [*commands, "image", "vm"]:
        assert f"\n  {command} " in said.out


def test_version(program: Program) -> None:
    assert program.call("--version").out.startswith("cvmbench 0.")


@pytest.mark.parametrize("what", ["workloads", "arms", "presets"])
def test_lists_are_tables_and_json(program: Program, what: str) -> None:
    assert program.call("list", what).out
    assert json.loads(program.call("list", what, "--json").out)


def test_workloads_show_their_parameters(program: Program) -> None:
    out = program.call("list", "workloads", "--parameters").out
    assert "prime_limit" in out
    assert "copy_bandwidth (main)" in out


def test_a_plan_is_printed_and_starts_nothing(program: Program, tiny: Path) -> None:
    out = program.call("plan", str(tiny)).out
    assert "2 boots, 10 trials" in out
    data = json.loads(program.call("plan", str(tiny), "--set", "seed=7", "--json").out)
    assert (data["seed"], data["boots"], data["trials"]) == (7, 2, 10)
    assert not program.store.exists()


def test_a_command_line_can_be_read_back(program: Program) -> None:
    out = program.call("vm", "argv", "plain+swiotlb=64", "--set", "vm.vcpus=4").out
    words = shlex.split(out)
    assert words[0] == "qemu-system-x86_64"
    assert words[words.index("-smp") + 1] == "4"
    assert words == json.loads(
        program.call("vm", "argv", "plain+swiotlb=64", "--set", "vm.vcpus=4", "--json").out
    )


def test_an_empty_store_lists_no_runs(program: Program) -> None:
    assert json.loads(program.call("runs", "--json").out) == []
    program.call("runs")


@pytest.mark.parametrize("command", ["show", "report", "export", "resume"])
def test_without_runs_the_last_one_is_a_sentence(program: Program, command: str) -> None:
    said = program.call(command, "last", status=2)
    assert said.err.startswith("Error: ")


@pytest.mark.parametrize(
    ("change", "hint", "status"),
    [
        (('"plain+swiotlb"', '"plain+swoitlb"'), "Did you mean 'swiotlb'?", 2),
        (('"plain+swiotlb"', '"sev-snp"'), "cannot run the arm 'sev-snp'", 4),
        (('"plain+swiotlb"', '"tdx"'), "cannot run the arm 'tdx'", 4),
        (('use = "mbw"', 'use = "mwb"'), "mbw", 2),
        (("runs = 1", "rusn = 1"), "Did you mean 'runs'?", 2),
        (("runs = 1", "runs = -1"), "'runs' is -1", 2),
        (("blocks = 1", "blocks = 0"), "'blocks' is 0", 2),
        (('name = "tiny"', "name = tiny"), "not valid TOML", 2),
    ],
)
def test_a_wrong_campaign_is_a_sentence_before_anything_is_started(
    program: Program, tiny: Path, change: tuple[str, str], hint: str, status: int
) -> None:
    assert change[0] in TINY
    tiny.write_text(TINY.replace(*change))
    said = program.call("run", str(tiny), status=status)
    assert hint in said.err
    assert not (program.folder / "reports").exists()


def test_a_host_without_qemu_is_told_the_package(program: Program, tiny: Path) -> None:
    empty = program.folder / "bin"
    empty.mkdir()
    program.environment["PATH"] = str(empty)
    said = program.call("run", str(tiny), status=4)
    assert "'qemu-system-x86_64' is not installed" in said.err
    assert "apt-get install qemu-system-x86" in said.err


def test_doctor_names_what_is_missing(program: Program) -> None:
    empty = program.folder / "bin"
    empty.mkdir()
    program.environment["PATH"] = str(empty)
    findings = json.loads(program.call("doctor", "--json", status=4).out)
    missing = {f["what"]: f for f in findings if f["verdict"] == "missing"}
    assert {"QEMU", "qemu-img", "mmdebstrap", "redis-benchmark"} <= set(missing)
    assert missing["mmdebstrap"]["remedy"] == "apt-get install mmdebstrap"


def test_doctor_on_this_host(program: Program) -> None:
    findings = {f["what"]: f for f in json.loads(program.call("doctor", "--json").out)}
    assert findings["QEMU"]["verdict"] == "ready"
    assert findings["KVM"]["verdict"] in {"ready", "limited"}
    assert "KVM" in program.call("doctor").out


def test_a_file_that_is_no_store_is_a_sentence_and_is_left_alone(program: Program) -> None:
    program.store.write_text("my thesis\n" * 100)
    said = program.call("runs", status=4)
    assert str(program.store) in said.err.replace("\n", "")
    assert program.store.read_text().startswith("my thesis")


def test_errors_are_not_markup(program: Program) -> None:
    said = program.call("run", "[red]x[/nope]\x1b[31m", status=2)
    assert "[red]x[/nope]" in said.err
    assert "\x1b" not in said.err


def test_a_report_that_cannot_be_written_is_told_before_the_run(
    program: Program, tiny: Path
) -> None:
    (program.folder / "file").write_text("")
    for place in ("file/report.html", "."):
        said = program.call("run", str(tiny), "--report", place, status=2)
        assert "The report cannot be written" in said.err
    assert not program.store.exists()


def test_a_plan_warns_of_what_would_not_be_measured(program: Program, tiny: Path) -> None:
    settings = ["vm.memory=400 TiB", "vm.vcpus=4096", 'arms=["plain","sev-snp"]']
    more = [word for setting in settings for word in ("--set", setting)]
    told = json.loads(program.call("plan", str(tiny), *more, "--json").out)["obstacles"]
    assert len(told) == 3, told
    assert "cannot run the arm 'sev-snp'" in told[0]
    assert "does not fit on this host" in told[1]
    assert "vCPUs will wait" in told[2]
    area = 'workloads=[{use="fio-randread", parameters={area_mib=1024}}]'
    assert "would be unavailable" in program.call("plan", str(tiny), "--set", area).out


def test_a_vm_larger_than_the_host_is_refused(program: Program, tiny: Path) -> None:
    said = program.call("run", str(tiny), "--set", "vm.memory=400 TiB", status=4)
    assert "does not fit on this host" in said.err


def test_part_of_a_name_is_enough_to_be_reminded_of_it(program: Program, tiny: Path) -> None:
    said = program.call("run", str(tiny), "--set", 'workloads=["fio"]', status=2)
    assert "Did you mean 'fio-randread'" in said.err


def test_a_report_never_replaces_what_is_no_regular_file(program: Program, tiny: Path) -> None:
    pipe = program.folder / "pipe"
    os.mkfifo(pipe)
    said = program.call("run", str(tiny), "--report", str(pipe), status=2)
    assert "not a regular file" in said.err
    assert pipe.is_fifo()


def test_a_device_is_no_store_and_no_campaign(program: Program) -> None:
    said = program.call("runs", "--store", "/dev/null", status=4)
    assert "not a regular file" in said.err
    assert not Path("/dev/null-journal").exists()
    assert "not a file" in program.call("plan", "/dev/zero", status=2).err


@pytest.mark.parametrize(
    "setting", ["arms=" + "[" * 5000, "seed=" + "9" * 5000, "vm.memory=99999999999999999999999 GiB"]
)
def test_absurd_settings_are_sentences(program: Program, setting: str) -> None:
    said = program.call("plan", "quick", "--set", setting, status=None)
    assert said.status == 2 or "does not fit on this host" in said.out


@pytest.mark.parametrize("words", [["plan", "quick"], ["list", "arms"], ["--help"]])
def test_output_that_cannot_be_written_is_a_sentence(program: Program, words: list[str]) -> None:
    for shell, status in (('"$0" "$@" >/dev/full', 4), ('"$0" "$@" >&-', 0)):
        ended = subprocess.run(
            ["bash", "-c", shell, str(PROGRAM), *words],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert "Traceback" not in ended.stderr
        assert ended.returncode == status, ended.stderr


def test_a_terminal_without_unicode_gets_what_it_can_show(program: Program) -> None:
    program.environment |= {"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C"}
    assert "Workload" in program.call("list", "workloads").out
    program.call("plan", "quick")


def test_a_cache_that_cannot_be_is_a_sentence(program: Program) -> None:
    for place, status in (("~nosuchuser/x", 2), ("/tmp/" + "a" * 300, 4)):
        program.environment["CVMBENCH_CACHE"] = place
        said = program.call("image", "list", status=status)
        assert said.err.startswith("Error: ")
