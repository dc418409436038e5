"""Samples frames made from a few numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl
import pytest
from hypothesis import settings

from cvmbench.units import Better

# A machine that builds and boots guests meanwhile is slow at times; slowness is no failure here.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

Boots = Mapping[str, Sequence[Sequence[float]]]
"""Arm -> boots in block order -> values of that boot."""


def _samples_frame(
    workloads: Mapping[str, Boots],
    *,
    better: Mapping[str, Better] | Better = Better.LOWER,
    headline: bool = True,
) -> pl.DataFrame:
    """A samples frame of one metric, `time` in seconds, a workload; boots of a slot are shared."""
    rows: list[dict[str, object]] = []
    for workload, arms in workloads.items():
        direction = better if isinstance(better, Better) else better[workload]
        for arm_number, (arm, boots) in enumerate(arms.items()):
            for block, values in enumerate(boots, start=1):
                for iteration, value in enumerate(values):
                    rows.append(
                        {
                            "workload": workload,
                            "metric": "time",
                            "unit": "s",
                            "better": direction.value,
                            "headline": headline,
                            "arm": arm,
                            "block": block,
                            "boot_id": 100 * arm_number + block,
                            "trial_id": len(rows),
                            "iteration": iteration,
                            "position": 0,
                            "value": float(value),
                        }
                    )
    return pl.DataFrame(rows)


@pytest.fixture(scope="session")
def samples_frame() -> Callable[..., pl.DataFrame]:
    """`_samples_frame`, as the tests call it."""
    return _samples_frame
