"""why an engine places nothing on a node"""

import sqlalchemy as sa
from alembic import op

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("nodes", sa.Column("closed", sa.String(length=500), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("nodes", "closed")
