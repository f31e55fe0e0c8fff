"""idle sessions"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "session_activity",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("active_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("kept_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("exempt", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_session_activity_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_session_activity")),
    )
    op.add_column("sessions", sa.Column("idle_ends_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("usage_samples", sa.Column("accelerator_percent", sa.SmallInteger(), nullable=True))
    op.add_column("usage_samples", sa.Column("accelerator_mem_percent", sa.SmallInteger(), nullable=True))
    # Every limit is written out.
    op.execute("""
        UPDATE resource_policies SET limits = limits || '{"idle_timeout_s": "unlimited", "idle_use": "unlimited"}'
        WHERE kind = 'keypair'
    """)
