"""count attempts to sign in by e-mail"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "login_attempts",
        sa.Column("email_hash", sa.LargeBinary(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("email_hash", name=op.f("pk_login_attempts")),
    )
    op.create_index("ix_login_attempts_at", "login_attempts", ["at"], unique=False)
    op.drop_column("users", "failed_logins")
    op.drop_column("users", "locked_until")
