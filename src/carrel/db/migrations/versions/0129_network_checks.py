"""network checks"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0129"
down_revision = "0127"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "network_checks",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("busy_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("result", postgresql.JSONB(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_network_checks_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", name="pk_network_checks"),
    )


def downgrade() -> None:
    op.drop_table("network_checks")
