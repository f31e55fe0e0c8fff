"""risks of vulnerabilities, and what a scan has read"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0119"
down_revision = "0117"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "image_reports",
        sa.Column("risks", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
    )
    op.add_column(
        "image_scans", sa.Column("target", sa.String(length=600), server_default="", nullable=False)
    )


def downgrade() -> None:
    op.drop_column("image_scans", "target")
    op.drop_column("image_reports", "risks")
