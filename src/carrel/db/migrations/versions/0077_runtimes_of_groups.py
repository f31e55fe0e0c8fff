"""container runtimes of resource groups"""

import sqlalchemy as sa
from alembic import op

revision = "0077"
down_revision = "0075"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("resource_groups", sa.Column("runtime", sa.String(63), nullable=True))


def downgrade() -> None:
    op.drop_column("resource_groups", "runtime")
