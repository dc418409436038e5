"""How long is left: expected lengths, corrected by what was seen in this run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class TimeLeft:
    """Estimates the rest of a run, in seconds.

    `trial_s` holds the expected length of a trial by workload key, `boot_s` that of starting and
    stopping a guest. What is seen replaces what was expected, by workload, as a running mean.
    """

    trial_s: dict[str, float]
    boot_s: float
    _seen: dict[str, tuple[int, float]] = field(default_factory=dict)

    def saw_trial(self, workload: str, seconds: float) -> None:
        """Take in the length of a trial."""
        self._learn(f"trial {workload}", seconds)

    def saw_boot(self, seconds: float) -> None:
        """Take in what a boot cost beside its trials."""
        self._learn("boot", seconds)

    def left_s(self, workloads: Iterable[str], boots: int) -> float:
        """Seconds for these trials (one workload key each) in this many boots."""
        per_boot = self._mean("boot", self.boot_s)
        return boots * per_boot + sum(
            self._mean(f"trial {key}", self.trial_s.get(key, 10.0)) for key in workloads
        )

    def _learn(self, what: str, seconds: float) -> None:
        count, mean = self._seen.get(what, (0, 0.0))
        self._seen[what] = (count + 1, mean + (seconds - mean) / (count + 1))

    def _mean(self, what: str, expected: float) -> float:
        return self._seen[what][1] if what in self._seen else expected
