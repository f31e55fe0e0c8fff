"""groups that select nodes by labels, and labels that administrators set"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0060"
down_revision = "0056"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("resource_groups", sa.Column("node_selector", sa.String(length=1000), nullable=True))
    op.add_column(
        "nodes",
        sa.Column("own_labels", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
    )
    op.add_column(
        "nodes", sa.Column("group_fixed", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.execute("UPDATE nodes SET group_fixed = true WHERE group_id <> 'default'")


def downgrade() -> None:
    op.drop_column("nodes", "group_fixed")
    op.drop_column("nodes", "own_labels")
    op.drop_column("resource_groups", "node_selector")
