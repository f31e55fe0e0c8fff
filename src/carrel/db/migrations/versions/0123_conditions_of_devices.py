"""conditions of devices"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0123"
down_revision = "0121"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "device_conditions",
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("description", postgresql.JSONB(), nullable=False),
        sa.Column("healthy", sa.Boolean(), nullable=False),
        sa.Column("problem", sa.String(length=500), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("metrics", postgresql.JSONB(), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["node_id"], ["nodes.id"], name="fk_device_conditions_node_id_nodes", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("node_id", "device", name="pk_device_conditions"),
    )
    op.create_index(
        "ix_device_conditions_unhealthy",
        "device_conditions",
        ["node_id"],
        postgresql_where=sa.text("NOT healthy"),
    )


def downgrade() -> None:
    op.drop_table("device_conditions")
