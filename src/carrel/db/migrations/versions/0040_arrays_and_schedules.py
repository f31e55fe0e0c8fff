"""arrays of sessions, schedules of recurring sessions"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

_COLLAPSED = sa.text("array_id IS NULL OR array_id = id")


def upgrade() -> None:
    op.create_table(
        "session_arrays",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("first_index", sa.Integer(), nullable=False),
        sa.Column("last_index", sa.Integer(), nullable=False),
        sa.Column("max_parallel", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session_arrays")),
    )
    op.create_index(op.f("ix_session_arrays_name"), "session_arrays", ["name"])
    op.add_column("sessions", sa.Column("array_id", sa.String(), nullable=True))
    op.add_column("sessions", sa.Column("array_index", sa.Integer(), nullable=True))
    op.create_foreign_key(op.f("fk_sessions_array_id"), "sessions", "session_arrays", ["array_id"], ["id"])
    op.create_check_constraint(
        op.f("ck_sessions_array"), "sessions", "(array_id IS NULL) = (array_index IS NULL)"
    )
    op.create_index(
        "ix_sessions_array_id",
        "sessions",
        ["array_id", "state", "result"],
        postgresql_where=sa.text("array_id IS NOT NULL"),
    )
    op.create_index("ix_sessions_collapsed", "sessions", ["created_at", "id"], postgresql_where=_COLLAPSED)
    op.create_index(
        "ix_sessions_owner_id_collapsed",
        "sessions",
        ["owner_id", "created_at", "id"],
        postgresql_where=_COLLAPSED,
    )

    op.create_table(
        "schedules",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.Column("domain_id", sa.String(), nullable=False),
        sa.Column("cron", sa.String(length=100), nullable=False),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("missed", sa.String(length=20), nullable=False),
        sa.Column("overlap", sa.String(length=20), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("spec", postgresql.JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("missed IN ('skip', 'run_once')", name=op.f("ck_schedules_missed")),
        sa.CheckConstraint("overlap IN ('allow', 'forbid', 'replace')", name=op.f("ck_schedules_overlap")),
        sa.CheckConstraint("active OR next_at IS NULL", name=op.f("ck_schedules_next_at")),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_schedules_owner_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_schedules_project_id")),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_schedules_domain_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
        sa.UniqueConstraint("owner_id", "name", name="uq_schedules_owner_id_name"),
    )
    op.create_index(op.f("ix_schedules_project_id"), "schedules", ["project_id"])
    op.create_index(
        "ix_schedules_next_at", "schedules", ["next_at"], postgresql_where=sa.text("next_at IS NOT NULL")
    )
    op.create_table(
        "schedule_runs",
        sa.Column("schedule_id", sa.String(), nullable=False),
        sa.Column("planned_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("on_request", sa.Boolean(), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("session_id", sa.String(), nullable=True),
        sa.CheckConstraint(
            "outcome IN ('started', 'skipped', 'refused')", name=op.f("ck_schedule_runs_outcome")
        ),
        sa.CheckConstraint(
            "(session_id IS NOT NULL) = (outcome = 'started')", name=op.f("ck_schedule_runs_session")
        ),
        sa.ForeignKeyConstraint(
            ["schedule_id"], ["schedules.id"], name=op.f("fk_schedule_runs_schedule_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name=op.f("fk_schedule_runs_session_id")),
        sa.PrimaryKeyConstraint("schedule_id", "planned_at", name=op.f("pk_schedule_runs")),
    )
    op.create_index(op.f("ix_schedule_runs_session_id"), "schedule_runs", ["session_id"])


def downgrade() -> None:
    op.drop_table("schedule_runs")
    op.drop_table("schedules")
    op.drop_index("ix_sessions_owner_id_collapsed", "sessions")
    op.drop_index("ix_sessions_collapsed", "sessions")
    op.drop_index("ix_sessions_array_id", "sessions")
    op.drop_constraint(op.f("ck_sessions_array"), "sessions", type_="check")
    op.drop_constraint(op.f("fk_sessions_array_id"), "sessions", type_="foreignkey")
    op.drop_column("sessions", "array_index")
    op.drop_column("sessions", "array_id")
    op.drop_index(op.f("ix_session_arrays_name"), "session_arrays")
    op.drop_table("session_arrays")
