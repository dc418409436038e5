"""Runs: adding a planned one, finding them again, and where each stands."""

from __future__ import annotations

import difflib
import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from cvmbench.errors import StoreError, UsageError
from cvmbench.store.columns import canonical_json
from cvmbench.store.connecting import Opened
from cvmbench.store.planned import add_plan
from cvmbench.store.records import NewRun, RunRow, RunStatus, TrialStatus
from cvmbench.store.schema import host, run, trial

_SLUG_LENGTH = 40


class Runs(Opened):
    """The part of `Store` about whole runs."""

    def add_run(self, new: NewRun) -> RunRow:
        """Store a run as planned: its arms, workloads, metrics, blocks, and all trials.

        Raises ValueError if the plan contradicts itself (see `planned.add_plan`).
        """
        if not 0 <= new.seed < 2**63:
            raise ValueError(f"the seed {new.seed} is not a non-negative 64-bit integer")
        created = datetime.now(UTC)
        with self.writing() as connection:
            run_id = connection.execute(
                insert(run)
                .values(
                    key=_new_key(connection, new.name, created),
                    name=new.name,
                    status=RunStatus.RUNNING.value,
                    reason="",
                    functional=new.functional,
                    accelerator=new.accelerator,
                    created_at=created,
                    tool_version=new.tool_version,
                    seed=new.seed,
                    campaign_text=new.campaign_text,
                    campaign=new.campaign,
                    image=new.image,
                    host_id=_host_id(connection, new.host),
                )
                .returning(run.c.id)
            ).scalar_one()
            add_plan(connection, run_id, new)
            return _rows(connection, _all_runs().where(run.c.id == run_id))[0]

    def runs(self) -> list[RunRow]:
        """All runs, newest first."""
        with self.reading() as connection:
            return _rows(connection, _all_runs())

    def run(self, key: str) -> RunRow:
        """The run called `key`: its whole key, a beginning that no other has, or `last`.

        Raises UsageError, which names the nearest keys, if that is not exactly one run.
        """
        with self.reading() as connection:
            newest_first = select(run.c.key).order_by(run.c.created_at.desc(), run.c.id.desc())
            keys = connection.execute(newest_first).scalars().all()
            found = _matching(key, keys)
            return _rows(connection, _all_runs().where(run.c.key == found))[0]

    def set_run_status(self, run_id: int, status: RunStatus, reason: str = "") -> None:
        """Say where a run stands; any status but `running` ends it, for now."""
        ended = None if status is RunStatus.RUNNING else datetime.now(UTC)
        with self.writing() as connection:
            connection.execute(
                update(run)
                .where(run.c.id == run_id)
                .values(status=status.value, reason=reason, ended_at=ended)
            )


def _new_key(connection: Connection, name: str, created: datetime) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower())[:_SLUG_LENGTH].strip("-") or "run"
    while True:
        key = f"{slug}-{created:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        if connection.execute(select(run.c.id).where(run.c.key == key)).first() is None:
            return key


def _host_id(connection: Connection, facts: Mapping[str, Any]) -> int:
    """The row of a host with exactly these facts, added if there is none."""
    content_hash = hashlib.sha256(canonical_json(facts).encode()).hexdigest()
    known = select(host.c.id).where(host.c.content_hash == content_hash)
    found: int | None = connection.execute(known).scalar()
    if found is None:
        try:
            with connection.begin_nested():
                connection.execute(insert(host).values(content_hash=content_hash, facts=facts))
        except IntegrityError:
            pass  # On PostgreSQL another process may have added the same host meanwhile.
        found = connection.execute(known).scalar_one()
    return found


def _all_runs() -> Select[Any]:
    return (
        select(run, host.c.facts.label("host"))
        .join(host, host.c.id == run.c.host_id)
        .order_by(run.c.created_at.desc(), run.c.id.desc())
    )


def _rows(connection: Connection, query: Select[Any]) -> list[RunRow]:
    found = connection.execute(query).all()
    counts = (
        select(trial.c.run_id, trial.c.status, func.count())
        .where(trial.c.run_id.in_([row.id for row in found]))
        .group_by(trial.c.run_id, trial.c.status)
    )
    trials: dict[int, dict[TrialStatus, int]] = {}
    for run_id, status, count in connection.execute(counts):
        trials.setdefault(run_id, {})[TrialStatus(status)] = count
    return [_row(row, trials.get(row.id, {})) for row in found]


def _row(row: Row[Any], trials: Mapping[TrialStatus, int]) -> RunRow:
    # The key becomes the name of files; a store may come from anywhere.
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,120}", row.key):
        raise StoreError(
            f"The store has a run with an impossible key: {row.key[:80]!r}.",
            why="It was not written by cvmbench, or it is damaged.",
            remedy="Use another store.",
        )
    return RunRow(
        id=row.id,
        key=row.key,
        name=row.name,
        status=RunStatus(row.status),
        reason=row.reason,
        functional=row.functional,
        accelerator=row.accelerator,
        created_at=row.created_at,
        ended_at=row.ended_at,
        trials={status: trials.get(status, 0) for status in TrialStatus},
        tool_version=row.tool_version,
        seed=row.seed,
        campaign_text=row.campaign_text,
        campaign=row.campaign,
        host=row.host,
        image=row.image,
    )


def _matching(key: str, keys: Sequence[str]) -> str:
    """The one of `keys` (newest first) that `key` stands for."""
    if not keys:
        raise UsageError(
            f"There is no run {key!r}.",
            why="The store holds no run yet.",
            remedy="`cvmbench run quick` makes one.",
        )
    if key in keys:
        return key
    if key == "last":
        return keys[0]
    beginning = [known for known in keys if key and known.startswith(key)]
    if len(beginning) == 1:
        return beginning[0]
    if beginning:
        raise UsageError(
            f"{key!r} stands for more than one run.",
            why=f"{_listed(beginning)} begin so.",
            remedy="Give more of the key; `last` is the newest run.",
        )
    near = difflib.get_close_matches(key, keys, n=3, cutoff=0.4) or list(keys[:3])
    raise UsageError(
        f"There is no run {key!r}.",
        why=f"The nearest are {_listed(near)}.",
        remedy="`cvmbench runs` lists them all; `last` is the newest.",
    )


def _listed(keys: Sequence[str]) -> str:
    shown = ", ".join(keys[:5])
    return f"{shown} and {len(keys) - 5} more" if len(keys) > 5 else shown
