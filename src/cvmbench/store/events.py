"""Events of a run, and what is put right when a killed run is taken up again."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, insert, select, update

from cvmbench.store.connecting import Opened
from cvmbench.store.records import BootStatus, EventRow, Recovered, TrialStatus
from cvmbench.store.schema import boot, event, trial
from cvmbench.store.trials import PLANNED_AGAIN


class Events(Opened):
    """The part of `Store` that keeps a run's diary."""

    def add_event(
        self,
        run_id: int,
        kind: str,
        message: str,
        *,
        level: str = "info",
        boot_id: int | None = None,
        trial_id: int | None = None,
    ) -> None:
        """Note something that happened; `level` is `info`, `warning` or `error`."""
        with self.writing() as connection:
            _note(connection, run_id, kind, message, level, boot_id, trial_id)

    def events(self, run_id: int) -> list[EventRow]:
        """The events of a run in the order in which they were noted."""
        columns = [c for c in event.columns if c is not event.c.run_id]
        query = select(*columns).where(event.c.run_id == run_id).order_by(event.c.id)
        with self.reading() as connection:
            return [EventRow(**row) for row in connection.execute(query).mappings()]

    def recover(self, run_id: int) -> Recovered:
        """Put right what a killed run left open: running boots are lost, their trials planned.

        Finished trials stay, as do attempts. An event tells of it if there was anything. Only for
        whoever holds the lock of the run.
        """
        with self.writing() as connection:
            boots = connection.execute(
                update(boot)
                .where(boot.c.run_id == run_id, boot.c.status == BootStatus.RUNNING.value)
                .values(
                    status=BootStatus.LOST.value,
                    reason="cvmbench ended before the boot did.",
                    ended_at=datetime.now(UTC),
                )
            ).rowcount
            trials = connection.execute(
                update(trial)
                .where(trial.c.run_id == run_id, trial.c.status == TrialStatus.RUNNING.value)
                .values(PLANNED_AGAIN)
            ).rowcount
            if boots or trials:
                message = (
                    "The run had ended without notice. "
                    f"Boots given up: {boots}; trials put back into the plan: {trials}."
                )
                _note(connection, run_id, "recovered", message, "warning", None, None)
            return Recovered(boots_lost=boots, trials_requeued=trials)


def _note(
    connection: Connection,
    run_id: int,
    kind: str,
    message: str,
    level: str,
    boot_id: int | None,
    trial_id: int | None,
) -> None:
    connection.execute(
        insert(event).values(
            run_id=run_id,
            at=datetime.now(UTC),
            level=level,
            kind=kind,
            message=message,
            boot_id=boot_id,
            trial_id=trial_id,
        )
    )
