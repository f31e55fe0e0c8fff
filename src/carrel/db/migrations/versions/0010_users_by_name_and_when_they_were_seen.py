"""users by name and by when they were last seen"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX ix_users_name_id ON users (lower(name), id)")
    op.execute(
        "CREATE INDEX ix_users_last_seen_at_id ON users "
        "(coalesce(last_seen_at, '1970-01-01 00:00:00+00'::timestamptz), id)"
    )
