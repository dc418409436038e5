from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cvmbench.campaign.arm import Arm
from cvmbench.campaign.reading import parse_campaign
from cvmbench.errors import TrialFailure
from cvmbench.guest.command import Command, Output
from cvmbench.runner.engine import Engine
from cvmbench.runner.guest_boot import BootPlan, BootTrace, Guest
from cvmbench.runner.jobs import Job
from cvmbench.runner.progress import Event
from cvmbench.runner.timing import TimeLeft
from cvmbench.store.records import (
    ArmRecord,
    BlockRecord,
    NewRun,
    RunRow,
    TrialRow,
    TrialStatus,
    WorkloadRecord,
)
from cvmbench.store.store import Store
from cvmbench.units import Better, Metric
from cvmbench.workloads.contract import Parameters, Samples, Surroundings, Workload

T = TypeVar("T")

CAMPAIGN = """
name = "double"
arms = ["plain", "plain+idle-poll"]
workloads = ["one", "two"]
blocks = 2
warm_up = 1
iterations = 2
"""


class Counting(Workload[Parameters]):
    """Prints a number; the double in place of a guest decides which."""

    summary = "a number"
    packages = ()
    parameters = Parameters
    metrics = (Metric("rate", "1/s", Better.HIGHER, headline=True),)

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]
        self.reason = ""

    def unavailable(self, p: Parameters, around: Surroundings) -> str:
        return self.reason

    def measure(self, p: Parameters, around: Surroundings) -> tuple[Command]:
        return (Command((self.name,)),)

    def parse(self, stdout: str, p: Parameters) -> Samples:
        return {"rate": (float(stdout),)}

    def duration_s(self, p: Parameters) -> float:
        return 1.0


@dataclass
class Machine:
    """Stands for QEMU: nothing ends here unless a command says so."""

    argv: tuple[str, ...] = ("qemu",)
    cgroup: Path | None = None
    qemu_log: bytes = b"said\n"

    class Serial:
        @staticmethod
        def content() -> bytes:
            return b"serial\n"

    serial = Serial()

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        return await work


@dataclass
class Bench:
    """An engine over a real store and guests in memory.

    `answers` is asked for every command, with the arm and how often the command was run before in
    this boot; it gives the standard output or raises. `boots` lists the arms in the order booted.
    """

    store: Store
    run: RunRow
    engine: Engine
    events: list[Event]
    workloads: dict[str, Counting]
    boots: list[str] = field(default_factory=list)
    commands: list[tuple[str, str]] = field(default_factory=list)
    answers: Callable[[str, str, int], str] = lambda arm, command, count: "5"
    refuse: Callable[[str, int], TrialFailure | None] = lambda arm, count: None

    def trials(self) -> list[TrialRow]:
        return self.store.trials(self.run.id)

    def statuses(self) -> set[TrialStatus]:
        return {trial.status for trial in self.trials()}

    @contextlib.asynccontextmanager
    async def boot(self, plan: BootPlan, arm: Arm, trace: BootTrace) -> AsyncIterator[Guest]:
        self.boots.append(arm.name)
        refusal = self.refuse(arm.name, self.boots.count(arm.name))
        if refusal is not None:
            raise refusal
        bench, counts = self, dict[str, int]()

        class InMemory:
            cpu_s = 0.0

            async def run(self, command: Command) -> Output:
                name = command.argv[0]
                bench.commands.append((arm.name, name))
                counts[name] = counts.get(name, 0) + 1
                text = bench.answers(arm.name, name, counts[name])
                return Output(command.argv, 0, text, "", 0.5)

        trace.ready_s = 1.0
        trace.machine = Machine()  # type: ignore[assignment]
        around = Surroundings(1, 2**30, "/dev/x", 2**30, "a", 1, "b", 2)
        inside = InMemory()
        yield Guest(trace.machine, inside, inside, around, 22)  # type: ignore[arg-type]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    campaign = parse_campaign(CAMPAIGN, "test").campaign
    workloads = {name: Counting(name) for name in ("one", "two")}
    arms = {arm.name: arm for arm in campaign.parsed_arms()}
    names = tuple(arms)
    with Store.open(tmp_path / "results.sqlite") as store:
        run = store.add_run(
            NewRun(
                name="double",
                campaign_text=CAMPAIGN,
                campaign=campaign.model_dump(mode="json"),
                seed=1,
                tool_version="0",
                functional=True,
                accelerator="tcg",
                host={},
                image={},
                arms=tuple(ArmRecord(name, "plain", name == "plain", {}, ()) for name in names),
                workloads=tuple(
                    WorkloadRecord(name, name, {}, workload.metrics)
                    for name, workload in workloads.items()
                ),
                blocks=(
                    BlockRecord(1, names, ("two", "one")),
                    BlockRecord(2, names[::-1], ("one", "two")),
                ),
            )
        )
        events: list[Event] = []
        plan = BootPlan(campaign, None, None, None, None, tmp_path)  # type: ignore[arg-type]
        jobs = {
            name: Job(name, workload, Parameters(), 1, 2, 2.0, 1.0)
            for name, workload in workloads.items()
        }
        engine = Engine(store, run, plan, arms, jobs, events.append, TimeLeft({}, 5.0))
        bench = Bench(store, run, engine, events, workloads)
        engine.boot = bench.boot
        yield bench
