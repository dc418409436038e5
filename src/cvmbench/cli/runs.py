"""`cvmbench runs`: what is in the store."""

from __future__ import annotations

from cvmbench.cli.options import Json, StorePath, store_path


def runs(json: Json = False, store: StorePath = None) -> None:
    """List the stored runs, newest first."""
    from cvmbench.cli.terminal import data, print_json
    from cvmbench.report.terminal import runs_table
    from cvmbench.store.store import Store

    with Store.open(store_path(store)) as opened:
        rows = opened.runs()
        if json:
            print_json(
                [
                    {
                        "key": row.key,
                        "name": row.name,
                        "status": row.status,
                        "reason": row.reason,
                        "functional": row.functional,
                        "accelerator": row.accelerator,
                        "created_at": row.created_at.isoformat(),
                        "ended_at": row.ended_at.isoformat() if row.ended_at else None,
                        "trials": {str(status): count for status, count in row.trials.items()},
                        "active": row.key in opened.active_runs(),
                    }
                    for row in rows
                ]
            )
        else:
            runs_table(rows, data())
