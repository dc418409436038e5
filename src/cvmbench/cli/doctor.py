"""`cvmbench doctor`: can this machine do the work, and if not, what is missing?"""

from __future__ import annotations

import typer

from cvmbench.cli.options import Json


def doctor(json: Json = False) -> None:
    """Say what this host can do, what is missing, and the remedy."""
    from cvmbench.cli.execution import until_done
    from cvmbench.cli.terminal import data, print_json
    from cvmbench.errors import Interrupted
    from cvmbench.report.findings import as_data, render
    from cvmbench.runner.checkup import Verdict, check_up

    findings = until_done(check_up(), lambda: Interrupted("Interrupted."))
    if json:
        print_json(as_data(findings))
    else:
        render(findings, data())
    if any(finding.verdict is Verdict.MISSING for finding in findings):
        raise typer.Exit(4)
