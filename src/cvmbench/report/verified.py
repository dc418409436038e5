"""What the verification of a guest found, in a few lines."""

from __future__ import annotations

from rich.console import Console

from cvmbench.report.literal import literal
from cvmbench.runner.guest_boot import BootTrace


def tell_checks(trace: BootTrace, console: Console) -> None:
    """Print how long the boot took, and each check that does not hold."""
    broken = [check for check in trace.checks if not check.holds]
    state = "not what its arm says:" if broken else "verified"
    console.print(literal(f"Ready after {trace.ready_s:.1f} s, {state}"))
    for check in broken:
        text = f"  {check.what}: expected {check.expected}, saw {check.seen or 'nothing'}"
        console.print(literal(text, style="yellow"))
