"""repositories that were pulled with the credentials of a project or domain"""

import sqlalchemy as sa
from alembic import op

revision = "0094"
down_revision = "0092"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "private_repositories",
        sa.Column("name", sa.String(length=600), nullable=False),
        sa.Column("scope_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", "scope_id"),
    )


def downgrade() -> None:
    op.drop_table("private_repositories")
