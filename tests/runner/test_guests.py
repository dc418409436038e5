"""Real guests under real QEMU: what they are, and what happens when they break."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from cvmbench.campaign.arm import Arm, ArmType, parse_arm
from cvmbench.campaign.model import Campaign
from cvmbench.campaign.reading import read_campaign
from cvmbench.errors import FailureKind, TrialFailure
from cvmbench.guest.command import Command
from cvmbench.guest.image.keys import InstallationKeys
from cvmbench.runner.guest_boot import BootPlan, BootTrace, Guest, boot
from cvmbench.runner.jobs import jobs_of
from cvmbench.runner.trial import Trace, measure
from cvmbench.vm.network import NetworkMode, available_mode
from cvmbench.workloads.catalogue import OWN

pytestmark = pytest.mark.guest


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(
    quick: Campaign, image: object, keys: InstallationKeys, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Guest, BootTrace]]:
    """One guest for all tests that leave it as it was."""
    folder = tmp_path_factory.mktemp("machines")
    from cvmbench.vm.spec import Accelerator

    plan = BootPlan(quick, image, keys, Accelerator.TCG, available_mode(), folder)  # type: ignore[arg-type]
    trace = BootTrace()
    async with boot(plan, parse_arm("plain"), trace) as guest:
        yield guest, trace
    assert trace.stopped_by_itself, "an orderly shutdown, within its time limit"
    assert not list(folder.glob("cvmb*"))


async def test_a_plain_guest_is_verified_as_plain(shared: tuple[Guest, BootTrace]) -> None:
    _, trace = shared
    assert len(trace.checks) == 6
    assert all(check.holds for check in trace.checks)
    assert trace.ready_s > 0
    assert trace.evidence is not None
    assert trace.evidence["kernel"].startswith("6.12.")


@pytest.mark.parametrize("key", [workload.name for workload in OWN])
async def test_a_workload_gives_numbers(shared: tuple[Guest, BootTrace], key: str) -> None:
    guest, _ = shared
    only = f'workloads=["{key}"]'
    [job] = jobs_of(read_campaign("quick", ["iterations=2", "warm_up=0", only]).campaign).values()
    told: list[str] = []
    result = await measure(job, guest, Trace(), told.append)
    assert told == ["prepare", "iteration 1 of 2", "iteration 2 of 2"]
    for metric in job.workload.metrics:
        values = result.samples[metric.name]
        assert len(values) == 2
        assert all(value > 0 for iteration in values for value in iteration)


async def test_the_server_ends_with_its_trial(shared: tuple[Guest, BootTrace]) -> None:
    guest, _ = shared
    job = jobs_of(read_campaign("quick", ["iterations=1", "warm_up=0"]).campaign)["redis"]
    await measure(job, guest, Trace(), lambda _: None)
    listening = await guest.run(Command(("ss", "-Hltn")))
    assert ":22 " in listening.stdout
    assert f":{guest.surroundings.server_port} " not in listening.stdout


async def test_endless_output_is_bounded(shared: tuple[Guest, BootTrace]) -> None:
    guest, _ = shared
    flood = Command(("head", "-c", "1G", "/dev/zero"), output_limit=2**20)
    began = time.monotonic()
    with pytest.raises(TrialFailure, match="more than 1,048,576 bytes") as caught:
        await guest.run(flood)
    assert caught.value.kind is FailureKind.TOOL_FAILED
    assert time.monotonic() - began < 30
    assert (await guest.run(Command(("echo", "still here")))).stdout == "still here\n"


async def test_a_command_ends_at_its_time_limit_in_the_guest_too(
    shared: tuple[Guest, BootTrace],
) -> None:
    guest, _ = shared
    with pytest.raises(TrialFailure) as caught:
        await guest.run(Command(("sleep", "321"), timeout_s=2))
    assert caught.value.kind is FailureKind.TIME_LIMIT
    left = await guest.attempt(Command(("pgrep", "-x", "sleep")))
    assert left.stdout == ""


async def test_a_time_limit_holds_when_the_guest_goes_silent(
    shared: tuple[Guest, BootTrace],
) -> None:
    guest, _ = shared
    silence = "sleep 1; ip link set control down; sleep 30; ip link set control up"
    await guest.run(Command(("systemd-run", "--quiet", "sh", "-c", silence)))
    began = time.monotonic()
    with pytest.raises(TrialFailure) as caught:
        await guest.run(Command(("sleep", "300"), timeout_s=4))
    assert caught.value.kind is FailureKind.TIME_LIMIT
    assert time.monotonic() - began < 20
    await asyncio.sleep(25)
    assert (await guest.run(Command(("echo", "back")))).stdout == "back\n"


async def test_hostile_arguments_stay_arguments(shared: tuple[Guest, BootTrace]) -> None:
    guest, _ = shared
    nasty = "$(touch /tmp/owned) `id` ; echo 'x' \"y\" \n *"
    output = await guest.run(Command(("printf", "%s", nasty)))
    assert output.stdout == nasty


async def test_a_missing_program_is_a_tool_failure(shared: tuple[Guest, BootTrace]) -> None:
    guest, _ = shared
    with pytest.raises(TrialFailure, match="no-such-program") as caught:
        await guest.run(Command(("no-such-program",)))
    assert caught.value.kind is FailureKind.TOOL_FAILED


async def test_another_host_key_is_refused(shared: tuple[Guest, BootTrace], tmp_path: Path) -> None:
    from cvmbench.guest.ssh import connect

    guest, _ = shared
    other = InstallationKeys.load_or_create(tmp_path)
    with pytest.raises(TrialFailure, match="not the one whose keys we know"):
        async with connect(
            "127.0.0.1",
            guest.ssh_port,
            user="root",
            login_key=other.login_key,
            host_public_key=other.host_public_key,
            timeout_s=30,
        ):
            pass


@pytest.mark.parametrize("text", ["plain+swiotlb=64", "plain+idle-poll"])
async def test_a_modifier_is_in_effect_and_verified(plan: BootPlan, text: str) -> None:
    trace = BootTrace()
    async with boot(plan, parse_arm(text), trace):
        assert all(check.holds for check in trace.checks)
    plain = parse_arm("plain")
    from cvmbench.guest.verification import verify

    assert trace.evidence is not None
    judged_as_plain = verify(
        plain, trace.evidence, vcpus=plan.campaign.vm.vcpus, memory_bytes=2**30
    )
    assert not all(check.holds for check in judged_as_plain), "the evidence tells them apart"


async def test_a_guest_that_is_not_what_its_arm_says_fails_its_boot(plan: BootPlan) -> None:
    class Liar(BootPlan):
        def spec(self, arm: Arm, places: object) -> object:  # type: ignore[override]
            return super().spec(parse_arm("plain"), places)  # type: ignore[arg-type]

    liar = Liar(**{f.name: getattr(plan, f.name) for f in dataclasses.fields(plan)})
    with pytest.raises(TrialFailure, match="not what the arm") as caught:
        async with boot(liar, Arm("x", ArmType.PLAIN, (("idle-poll", None),)), BootTrace()):
            pass
    assert caught.value.kind is FailureKind.NOT_VERIFIED
    assert "idle polling: expected in effect" in caught.value.why


async def test_a_crash_of_the_guest_is_told_as_a_panic(plan: BootPlan) -> None:
    trace = BootTrace()
    with pytest.raises(TrialFailure, match="panicked") as caught:
        async with boot(plan, parse_arm("plain"), trace) as guest:
            await guest.run(Command(("sh", "-c", "echo c > /proc/sysrq-trigger; sleep 60")))
    assert caught.value.kind is FailureKind.GUEST_PANIC
    assert "sysrq triggered crash" in caught.value.why
    assert trace.machine is not None
    assert b"Kernel panic" in trace.machine.serial.content()


async def test_a_killed_qemu_is_told_with_its_signal(plan: BootPlan) -> None:
    with pytest.raises(TrialFailure, match="SIGKILL") as caught:
        async with boot(plan, parse_arm("plain"), BootTrace()) as guest:
            os.kill(guest.machine.pid, signal.SIGKILL)
            await guest.run(Command(("sleep", "60")))
    assert caught.value.kind is FailureKind.QEMU_DIED


async def test_a_guest_that_stops_answering_is_a_hang(plan: BootPlan) -> None:
    from cvmbench.runner import engine

    async def stuck(guest: Guest) -> None:
        os.kill(guest.machine.pid, signal.SIGSTOP)
        try:
            await guest.run(Command(("sleep", "1"), timeout_s=1))
        except TrialFailure as failure:
            raise await engine.closer_look(failure, guest, patience_s=2) from None

    with pytest.raises(TrialFailure, match="does not answer") as caught:
        async with boot(plan, parse_arm("plain"), BootTrace()) as guest:
            await stuck(guest)
    assert caught.value.kind is FailureKind.GUEST_HANG


async def test_a_guest_that_never_gets_ready_is_a_hang_with_its_log(plan: BootPlan) -> None:
    limits = plan.campaign.limits.model_copy(update={"boot_s": 1.0})
    hasty = dataclasses.replace(plan, campaign=plan.campaign.model_copy(update={"limits": limits}))
    trace = BootTrace()
    with pytest.raises(TrialFailure, match="not ready within 1 s") as caught:
        async with boot(hasty, parse_arm("plain"), trace):
            pass
    assert caught.value.kind is FailureKind.GUEST_HANG


async def test_cancelling_a_boot_leaves_nothing(plan: BootPlan, machines: Path) -> None:
    trace = BootTrace()

    async def forever() -> None:
        async with boot(plan, parse_arm("plain"), trace):
            await asyncio.sleep(600)

    task = asyncio.create_task(forever())
    while trace.machine is None:
        await asyncio.sleep(0.1)
    pid = trace.machine.pid
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not Path(f"/proc/{pid}").exists()
    assert not list(machines.glob("cvmb*"))


async def test_user_mode_networking_measures_too(plan: BootPlan) -> None:
    users = dataclasses.replace(plan, network=NetworkMode.USER)
    # The user-mode stack loses connections when many open at once (its backlog is 1).
    one = 'workloads=[{use="redis", parameters={clients=1, set_requests=1000}}]'
    job = jobs_of(read_campaign("quick", ["iterations=1", "warm_up=0", one]).campaign)["redis"]
    trace = BootTrace()
    async with boot(users, parse_arm("plain"), trace) as guest:
        result = await measure(job, guest, Trace(), lambda _: None)
    assert result.samples["set_rps"][0][0] > 0
    assert trace.evidence_data()["network"] == "user"


async def test_a_taken_port_is_a_sentence_and_transient(
    plan: BootPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    from cvmbench.runner import guest_boot

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(guest_boot, "free_port", lambda: taken.getsockname()[1])
        with pytest.raises(TrialFailure, match="is taken") as caught:
            async with boot(plan, parse_arm("plain"), BootTrace()):
                pass
    assert caught.value.kind is FailureKind.QEMU_DIED
