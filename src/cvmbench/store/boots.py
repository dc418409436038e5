"""Boots: each start of an arm in a block, counted, with what the guest proved and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, insert, select, update

from cvmbench.store.artifacts import RawFiles
from cvmbench.store.faults import WrongStateError
from cvmbench.store.records import BootRef, BootRow, BootStatus, RawFile
from cvmbench.store.schema import arm, block, boot


class Boots(RawFiles):
    """The part of `Store` about boots."""

    def begin_boot(self, run_id: int, block_id: int, arm_id: int) -> BootRef:
        """Note that an arm is being started; its n-th start in the block is attempt n."""
        with self.writing() as connection:
            attempt = (
                1
                + connection.execute(
                    select(func.coalesce(func.max(boot.c.attempt), 0)).where(
                        boot.c.block_id == block_id, boot.c.arm_id == arm_id
                    )
                ).scalar_one()
            )
            boot_id = connection.execute(
                insert(boot)
                .values(
                    run_id=run_id,
                    block_id=block_id,
                    arm_id=arm_id,
                    attempt=attempt,
                    status=BootStatus.RUNNING.value,
                    kind="",
                    reason="",
                    started_at=datetime.now(UTC),
                    evidence={},
                    facts={},
                )
                .returning(boot.c.id)
            ).scalar_one()
            return BootRef(boot_id, attempt)

    def boot_ready(
        self,
        boot_id: int,
        *,
        ready_s: float,
        evidence: Mapping[str, Any],
        facts: Mapping[str, Any],
    ) -> None:
        """Note that the guest takes commands and is what it should be.

        `ready_s` seconds passed since its start; `evidence` is what proved its type, `facts` what
        it says about itself. Raises WrongStateError if the boot does not run.
        """
        self._note(boot_id, ready_s=ready_s, evidence=evidence, facts=facts)

    def note_evidence(self, boot_id: int, evidence: Mapping[str, Any]) -> None:
        """Keep what a guest showed though it was not verified; WrongStateError as `boot_ready`."""
        self._note(boot_id, evidence=evidence)

    def _note(self, boot_id: int, **values: object) -> None:
        """Write columns of a running boot."""
        with self.writing() as connection:
            changed = connection.execute(
                update(boot)
                .where(boot.c.id == boot_id, boot.c.status == BootStatus.RUNNING.value)
                .values(**values)
            )
            if changed.rowcount != 1:
                raise WrongStateError(f"boot {boot_id} is not running")

    def end_boot(
        self,
        boot_id: int,
        status: BootStatus,
        *,
        kind: str = "",
        reason: str = "",
        raw: Sequence[RawFile] = (),
    ) -> None:
        """Note how a boot ended, with its raw files. Raises WrongStateError if it does not run."""
        if status is BootStatus.RUNNING:
            raise ValueError("a boot cannot end as running")
        kept = self.keep(raw)
        with self.writing() as connection:
            attempt = connection.execute(
                update(boot)
                .where(boot.c.id == boot_id, boot.c.status == BootStatus.RUNNING.value)
                .values(
                    status=status.value,
                    kind=str(kind),
                    reason=reason,
                    ended_at=datetime.now(UTC),
                )
                .returning(boot.c.attempt)
            ).scalar()
            if attempt is None:
                raise WrongStateError(f"boot {boot_id} is not running")
            self.note(connection, kept, attempt=attempt, boot_id=boot_id)

    def boots(self, run_id: int) -> list[BootRow]:
        """The boots of a run in the order of their starts."""
        query = (
            select(
                boot.c.id,
                boot.c.block_id,
                block.c.number.label("block"),
                boot.c.arm_id,
                arm.c.name.label("arm"),
                boot.c.attempt,
                boot.c.status,
                boot.c.kind,
                boot.c.reason,
                boot.c.started_at,
                boot.c.ended_at,
                boot.c.ready_s,
                boot.c.evidence,
                boot.c.facts,
            )
            .join(block, block.c.id == boot.c.block_id)
            .join(arm, arm.c.id == boot.c.arm_id)
            .where(boot.c.run_id == run_id)
            .order_by(boot.c.id)
        )
        with self.reading() as connection:
            return [
                BootRow(**{**row, "status": BootStatus(row["status"])})
                for row in connection.execute(query).mappings()
            ]
