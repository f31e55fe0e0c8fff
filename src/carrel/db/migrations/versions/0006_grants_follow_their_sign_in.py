"""where mail stands, and app grants that follow their sign-in"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(op.f("ix_app_grants_login_id"), "app_grants", ["login_id"], unique=False)
    op.execute("DELETE FROM app_grants WHERE login_id NOT IN (SELECT id FROM logins)")
    op.create_foreign_key(
        op.f("fk_app_grants_login_id"),
        "app_grants",
        "logins",
        ["login_id"],
        ["id"],
        onupdate="CASCADE",
        ondelete="CASCADE",
    )
    op.add_column("site", sa.Column("mail_error", sa.String(), nullable=True))
    op.add_column("site", sa.Column("mail_error_at", sa.DateTime(timezone=True), nullable=True))
