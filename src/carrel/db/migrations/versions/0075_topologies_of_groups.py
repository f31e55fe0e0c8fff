"""topologies of resource groups, and the level that a cluster session requires"""

import sqlalchemy as sa
from alembic import op

revision = "0075"
down_revision = "0073"
branch_labels = None
depends_on = None


def upgrade() -> None:
    empty = sa.text("'{}'")
    op.add_column(
        "resource_groups",
        sa.Column("topology", sa.ARRAY(sa.String()), server_default=empty, nullable=False),
    )
    op.add_column("sessions", sa.Column("topology", sa.String(length=317), nullable=True))


def downgrade() -> None:
    op.drop_column("sessions", "topology")
    op.drop_column("resource_groups", "topology")
