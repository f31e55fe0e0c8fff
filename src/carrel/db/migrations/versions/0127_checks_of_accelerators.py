"""checks of accelerators, and devices that are put back after one"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0127"
down_revision = "0125"
branch_labels = None
depends_on = None


def _list(name: str) -> sa.Column[list[str]]:
    return sa.Column(name, postgresql.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False)


def _text(name: str, length: int) -> sa.Column[str]:
    return sa.Column(name, sa.String(length=length), server_default="", nullable=False)


def upgrade() -> None:
    op.create_table(
        "accelerator_checks",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("device", sa.String(), nullable=True),
        sa.Column("requested_by", sa.String(), nullable=True),
        sa.Column("image", sa.String(length=512), nullable=True),
        sa.Column("state", sa.String(length=10), server_default="waiting", nullable=False),
        sa.Column("cancel", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        _list("taken"),
        _list("containers"),
        sa.Column("progress", sa.Float(), server_default=sa.text("0"), nullable=False),
        _text("step", 200),
        _text("problem", 1000),
        _text("driver", 64),
        sa.Column("results", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_accelerator_checks_state"),
        ),
        sa.CheckConstraint(
            "(ended_at IS NULL) = (state IN ('waiting', 'running'))", name=op.f("ck_accelerator_checks_ended")
        ),
        sa.CheckConstraint(
            "ended_at IS NULL OR containers = '{}'", name=op.f("ck_accelerator_checks_removed")
        ),
        sa.ForeignKeyConstraint(
            ["node_id"], ["nodes.id"], name=op.f("fk_accelerator_checks_node_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["requested_by"],
            ["users.id"],
            name=op.f("fk_accelerator_checks_requested_by"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accelerator_checks")),
    )
    op.create_index(
        "uq_accelerator_checks_node_id_open",
        "accelerator_checks",
        ["node_id"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_index(
        "ix_accelerator_checks_node_id_created_at", "accelerator_checks", ["node_id", "created_at", "id"]
    )
    op.add_column("device_conditions", sa.Column("cleared_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "device_conditions",
        sa.Column("put_back", sa.Boolean(), server_default=sa.text("false"), nullable=False),
    )


def downgrade() -> None:
    op.drop_column("device_conditions", "put_back")
    op.drop_column("device_conditions", "cleared_at")
    op.drop_table("accelerator_checks")
