"""containers of sessions

A session of before has one container with the session's own id, by which the engine knows it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

_STATES = "'PENDING', 'SCHEDULED', 'PREPARING', 'STARTING', 'RUNNING', 'EXITED', 'GONE'"

# What was being ended may have lost its processes already; all that is left to do is to remove it.
_FILL = """
    INSERT INTO containers (id, session_id, role, index, node_id, image, slots, state, address, started_at, ended_at)
    SELECT id, id, 'main', 0, CASE WHEN state <> 'PENDING' THEN node_id END, image, slots,
        CASE WHEN ended_at IS NOT NULL THEN 'GONE' WHEN state = 'TERMINATING' THEN 'EXITED' ELSE state END,
        CASE WHEN state = 'RUNNING' THEN address END, started_at, ended_at
    FROM sessions
"""


def upgrade() -> None:
    op.create_table(
        "containers",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("index", sa.SmallInteger(), nullable=False),
        sa.Column("node_id", sa.String(), nullable=True),
        sa.Column("image", sa.String(length=512), nullable=False),
        sa.Column("slots", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("address", sa.String(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(f"state IN ({_STATES})", name=op.f("ck_containers_state")),
        sa.CheckConstraint("(role = 'main') = (index = 0)", name=op.f("ck_containers_role")),
        sa.CheckConstraint("state <> 'PENDING' OR node_id IS NULL", name=op.f("ck_containers_node")),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name=op.f("fk_containers_session_id")),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"], name=op.f("fk_containers_node_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_containers")),
        sa.UniqueConstraint("session_id", "index", name="uq_containers_session_id_index"),
    )
    op.execute(_FILL)
    _move_the_ledger()
    _move_logs_and_samples()
    op.drop_column("sessions", "node_id")
    op.drop_column("sessions", "address")


def _move_the_ledger() -> None:
    op.add_column("allocations", sa.Column("container_id", sa.String(), nullable=True))
    op.execute("UPDATE allocations SET container_id = session_id")
    op.alter_column("allocations", "container_id", nullable=False)
    op.create_foreign_key(
        op.f("fk_allocations_container_id"), "allocations", "containers", ["container_id"], ["id"]
    )
    op.drop_index("uq_allocations_session_id_container_slot_held", "allocations")
    op.drop_column("allocations", "container")
    op.create_index(
        "uq_allocations_container_id_slot_held",
        "allocations",
        ["container_id", "slot"],
        unique=True,
        postgresql_where=sa.text("released_at IS NULL"),
    )


def _move_logs_and_samples() -> None:
    op.rename_table("session_logs", "container_logs")
    op.alter_column("container_logs", "session_id", new_column_name="container_id")
    op.execute("ALTER TABLE container_logs RENAME CONSTRAINT pk_session_logs TO pk_container_logs")
    op.drop_constraint("fk_session_logs_session_id", "container_logs", type_="foreignkey")
    op.create_foreign_key(
        op.f("fk_container_logs_container_id"), "container_logs", "containers", ["container_id"], ["id"]
    )
    op.alter_column("usage_samples", "session_id", new_column_name="container_id")
