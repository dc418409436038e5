"""The tables of the store, one definition for SQLite and PostgreSQL.

A change here needs a migration in `migrations/versions/` and the next `SCHEMA_VERSION`; a test
compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from cvmbench.store.columns import UtcTime, Words

SCHEMA_VERSION = "0001"
"""The newest migration; versions are four digits, so that they sort as they follow."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

# Which cvmbench brought the store to which version, for messages; Alembic goes by its own table.
schema_version = Table(
    "schema_version",
    metadata,
    Column("version", String(4), primary_key=True),
    Column("tool_version", Text, nullable=False),
    Column("applied_at", UtcTime, nullable=False),
)

host = Table(
    "host",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("content_hash", String(64), nullable=False, unique=True),
    Column("facts", JSON, nullable=False),
)

run = Table(
    "run",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String(80), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("reason", Words, nullable=False),
    Column("functional", Boolean, nullable=False),
    Column("accelerator", Text, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("tool_version", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("campaign_text", Text, nullable=False),
    Column("campaign", JSON, nullable=False),
    Column("image", JSON, nullable=False),
    Column("host_id", ForeignKey("host.id"), nullable=False),
)

arm = Table(
    "arm",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("baseline", Boolean, nullable=False),
    Column("spec", JSON, nullable=False),
    Column("argv", JSON, nullable=False),
    UniqueConstraint("run_id", "name"),
)

workload = Table(
    "workload",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("parameters", JSON, nullable=False),
    UniqueConstraint("run_id", "label"),
)

metric = Table(
    "metric",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("workload_id", ForeignKey("workload.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("better", String(8), nullable=False),
    Column("summary", Text, nullable=False),
    Column("headline", Boolean, nullable=False),
    UniqueConstraint("workload_id", "name"),
)

block = Table(
    "block",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("arms", JSON, nullable=False),
    Column("workloads", JSON, nullable=False),
    UniqueConstraint("run_id", "number"),
)

boot = Table(
    "boot",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False, index=True),
    Column("block_id", ForeignKey("block.id"), nullable=False),
    Column("arm_id", ForeignKey("arm.id"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("kind", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("started_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("ready_s", Double),
    Column("evidence", JSON, nullable=False),
    Column("facts", JSON, nullable=False),
    UniqueConstraint("block_id", "arm_id", "attempt"),
)

trial = Table(
    "trial",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("block_id", ForeignKey("block.id"), nullable=False),
    Column("arm_id", ForeignKey("arm.id"), nullable=False),
    Column("workload_id", ForeignKey("workload.id"), nullable=False),
    Column("boot_id", ForeignKey("boot.id"), index=True),
    Column("status", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("kind", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("started_at", UtcTime),
    Column("ended_at", UtcTime),
    Column("facts", JSON, nullable=False),
    UniqueConstraint("run_id", "position"),
    UniqueConstraint("block_id", "arm_id", "workload_id"),
)

# Ten million rows: the primary key is the table (no second b-tree on SQLite), and one trial's
# samples lie together.
sample = Table(
    "sample",
    metadata,
    Column("trial_id", ForeignKey("trial.id"), primary_key=True, autoincrement=False),
    Column("metric_id", ForeignKey("metric.id"), primary_key=True, autoincrement=False),
    Column("iteration", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("value", Double, nullable=False),
    sqlite_with_rowid=False,
)

artifact = Table(
    "artifact",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("role", Text, nullable=False),
    Column("trial_id", ForeignKey("trial.id"), index=True),
    Column("boot_id", ForeignKey("boot.id"), index=True),
    Column("attempt", Integer, nullable=False),
)

event = Table(
    "event",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", ForeignKey("run.id"), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("level", String(8), nullable=False),
    Column("kind", Text, nullable=False),
    Column("message", Words, nullable=False),
    Column("boot_id", ForeignKey("boot.id")),
    Column("trial_id", ForeignKey("trial.id")),
    Index(None, "run_id", "id"),
)
