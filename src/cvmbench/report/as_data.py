"""The results of a run as JSON data, for `show --json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from cvmbench.report.view import RunView


def results(view: RunView) -> dict[str, Any]:
    """Run, arms, estimates, means and everything without a number, as JSON data."""
    run = view.run
    return {
        "run": run.key,
        "name": run.name,
        "status": run.status.value,
        "reason": run.reason,
        "functional": run.functional,
        "accelerator": run.accelerator,
        "baseline": view.baseline.name,
        "threshold_percent": view.threshold_percent,
        "arms": [{"name": arm.name, "type": arm.type} for arm in view.arms],
        "estimates": [asdict(estimate) for estimate in view.estimates],
        "means": [asdict(mean) for mean in view.means],
        "not_measured": [
            {
                "trial": trial.id,
                "block": trial.block,
                "arm": trial.arm,
                "workload": trial.workload,
                "status": trial.status.value,
                "kind": trial.kind,
                "reason": trial.reason,
            }
            for trial in view.not_measured
        ],
    }
