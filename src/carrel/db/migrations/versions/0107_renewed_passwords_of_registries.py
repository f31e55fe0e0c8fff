"""renewed passwords of registries"""

import sqlalchemy as sa
from alembic import op

revision = "0107"
down_revision = "0106"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("registries", sa.Column("password", sa.LargeBinary(), nullable=True))
    op.add_column("registries", sa.Column("password_until", sa.DateTime(timezone=True), nullable=True))
    op.add_column("registries", sa.Column("password_due", sa.DateTime(timezone=True), nullable=True))
    op.add_column("registries", sa.Column("password_problem", sa.String(), nullable=True))


def downgrade() -> None:
    for name in ("password_problem", "password_due", "password_until", "password"):
        op.drop_column("registries", name)
