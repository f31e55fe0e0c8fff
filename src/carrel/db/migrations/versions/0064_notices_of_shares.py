"""notices of shares"""

import sqlalchemy as sa
from alembic import op

revision = "0064"
down_revision = "0062"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("session_notices", sa.Column("shared_by", sa.String(length=254), nullable=True))
    op.add_column(
        "session_notices",
        sa.Column(
            "recipient_id",
            sa.String(),
            sa.ForeignKey("users.id", name=op.f("fk_session_notices_recipient_id"), ondelete="CASCADE"),
            nullable=True,
        ),
    )


def downgrade() -> None:
    op.drop_column("session_notices", "recipient_id")
    op.drop_column("session_notices", "shared_by")
