"""announced ends at time limits; previous secrets of webhooks"""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("limit_ends_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("session_notices", sa.Column("cause", sa.String(length=40), nullable=True))
    op.add_column("webhooks", sa.Column("old_secret", sa.LargeBinary(), nullable=True))
    op.add_column("webhooks", sa.Column("old_secret_until", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("webhooks", "old_secret_until")
    op.drop_column("webhooks", "old_secret")
    op.drop_column("session_notices", "cause")
    op.drop_column("sessions", "limit_ends_at")
