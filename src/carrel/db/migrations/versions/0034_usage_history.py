"""allocation and usage over time, by site, domain, project, group, node and user"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "usage_history",
        sa.Column("scope", sa.String(length=10), nullable=False),
        sa.Column("scope_id", sa.String(), nullable=False),
        sa.Column("step_s", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("measures", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("scope", "scope_id", "step_s", "at", name=op.f("pk_usage_history")),
    )
    op.create_index("ix_usage_history_step_s_at", "usage_history", ["step_s", "at"], unique=False)


def downgrade() -> None:
    op.drop_table("usage_history")
