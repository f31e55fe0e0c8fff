"""capabilities of nodes that resource groups require"""

import sqlalchemy as sa
from alembic import op

revision = "0069"
down_revision = "0067"
branch_labels = None
depends_on = None


def upgrade() -> None:
    empty = sa.text("'{}'")
    op.add_column(
        "resource_groups",
        sa.Column("required_capabilities", sa.ARRAY(sa.String()), server_default=empty, nullable=False),
    )


def downgrade() -> None:
    op.drop_column("resource_groups", "required_capabilities")
