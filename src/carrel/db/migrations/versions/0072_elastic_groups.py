"""elastic groups: a limit instead of nodes, and when a container waited for a machine"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0072"
down_revision = "0069"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("resource_groups", sa.Column("elastic", JSONB(none_as_null=True), nullable=True))
    op.add_column(
        "nodes", sa.Column("elastic", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column("containers", sa.Column("machine_due_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("containers", sa.Column("machine_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index(
        "ix_containers_machine_at",
        "containers",
        ["machine_at"],
        postgresql_where=sa.text("machine_at IS NOT NULL AND machine_due_at IS NOT NULL"),
    )


def downgrade() -> None:
    # What it held is held on no machine.
    op.execute("UPDATE nodes SET forgotten_at = coalesce(forgotten_at, now()), state = 'DOWN' WHERE elastic")
    op.drop_index("ix_containers_machine_at", table_name="containers")
    op.drop_column("containers", "machine_at")
    op.drop_column("containers", "machine_due_at")
    op.drop_column("nodes", "elastic")
    op.drop_column("resource_groups", "elastic")
