"""groups in which slots are held, for sessions that accept several"""

import sqlalchemy as sa
from alembic import op

revision = "0079"
down_revision = "0078"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("allocations", sa.Column("group_id", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("allocations", "group_id")
