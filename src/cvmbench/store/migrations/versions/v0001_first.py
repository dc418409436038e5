"""The first schema. Written out, not taken from `schema.py`, so that it stays as it was."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables of schema 0001."""
    op.create_table(
        "host",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_host"),
        sa.UniqueConstraint("content_hash", name="uq_host_content_hash"),
    )
    op.create_table(
        "schema_version",
        sa.Column("version", sa.String(length=4), nullable=False),
        sa.Column("tool_version", sa.Text(), nullable=False),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("version", name="pk_schema_version"),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("functional", sa.Boolean(), nullable=False),
        sa.Column("accelerator", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("tool_version", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("campaign_text", sa.Text(), nullable=False),
        sa.Column("campaign", sa.JSON(), nullable=False),
        sa.Column("image", sa.JSON(), nullable=False),
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["host.id"], name="fk_run_host_id"),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.UniqueConstraint("key", name="uq_run_key"),
    )
    op.create_table(
        "arm",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("baseline", sa.Boolean(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("argv", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_arm_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_arm"),
        sa.UniqueConstraint("run_id", "name", name="uq_arm_run_id_name"),
    )
    op.create_table(
        "block",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("arms", sa.JSON(), nullable=False),
        sa.Column("workloads", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_block_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_block"),
        sa.UniqueConstraint("run_id", "number", name="uq_block_run_id_number"),
    )
    op.create_table(
        "workload",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_workload_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_workload"),
        sa.UniqueConstraint("run_id", "label", name="uq_workload_run_id_label"),
    )
    op.create_table(
        "boot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("block_id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("ready_s", sa.Double()),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["arm_id"], ["arm.id"], name="fk_boot_arm_id"),
        sa.ForeignKeyConstraint(["block_id"], ["block.id"], name="fk_boot_block_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_boot_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_boot"),
        sa.UniqueConstraint(
            "block_id", "arm_id", "attempt", name="uq_boot_block_id_arm_id_attempt"
        ),
    )
    op.create_index("ix_boot_run_id", "boot", ["run_id"])
    op.create_table(
        "metric",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("workload_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("better", sa.String(length=8), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("headline", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["workload_id"], ["workload.id"], name="fk_metric_workload_id"),
        sa.PrimaryKeyConstraint("id", name="pk_metric"),
        sa.UniqueConstraint("workload_id", "name", name="uq_metric_workload_id_name"),
    )
    op.create_table(
        "trial",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("block_id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("workload_id", sa.Integer(), nullable=False),
        sa.Column("boot_id", sa.Integer()),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["arm_id"], ["arm.id"], name="fk_trial_arm_id"),
        sa.ForeignKeyConstraint(["block_id"], ["block.id"], name="fk_trial_block_id"),
        sa.ForeignKeyConstraint(["boot_id"], ["boot.id"], name="fk_trial_boot_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_trial_run_id"),
        sa.ForeignKeyConstraint(["workload_id"], ["workload.id"], name="fk_trial_workload_id"),
        sa.PrimaryKeyConstraint("id", name="pk_trial"),
        sa.UniqueConstraint(
            "block_id", "arm_id", "workload_id", name="uq_trial_block_id_arm_id_workload_id"
        ),
        sa.UniqueConstraint("run_id", "position", name="uq_trial_run_id_position"),
    )
    op.create_index("ix_trial_boot_id", "trial", ["boot_id"])
    op.create_table(
        "artifact",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("trial_id", sa.Integer()),
        sa.Column("boot_id", sa.Integer()),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["boot_id"], ["boot.id"], name="fk_artifact_boot_id"),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_artifact_trial_id"),
        sa.PrimaryKeyConstraint("id", name="pk_artifact"),
    )
    op.create_index("ix_artifact_boot_id", "artifact", ["boot_id"])
    op.create_index("ix_artifact_trial_id", "artifact", ["trial_id"])
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("level", sa.String(length=8), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("boot_id", sa.Integer()),
        sa.Column("trial_id", sa.Integer()),
        sa.ForeignKeyConstraint(["boot_id"], ["boot.id"], name="fk_event_boot_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_event_run_id"),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_event_trial_id"),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
    )
    op.create_index("ix_event_run_id_id", "event", ["run_id", "id"])
    op.create_table(
        "sample",
        sa.Column("trial_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("metric_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("iteration", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["metric_id"], ["metric.id"], name="fk_sample_metric_id"),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_sample_trial_id"),
        sa.PrimaryKeyConstraint("trial_id", "metric_id", "iteration", "position", name="pk_sample"),
        sqlite_with_rowid=False,
    )
