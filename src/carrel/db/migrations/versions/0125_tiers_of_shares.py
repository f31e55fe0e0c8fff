"""tiers of shares"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0125"
down_revision = "0123"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("nodes", sa.Column("sharing", postgresql.JSONB()))
    op.add_column(
        "resource_groups",
        sa.Column("min_share_tier", sa.String(length=10), server_default="none", nullable=False),
    )
    op.create_check_constraint(
        op.f("ck_resource_groups_min_share_tier"),
        "resource_groups",
        "min_share_tier IN ('none', 'slice', 'mps3')",
        postgresql_not_valid=True,
    )


def downgrade() -> None:
    op.drop_column("resource_groups", "min_share_tier")
    op.drop_column("nodes", "sharing")
