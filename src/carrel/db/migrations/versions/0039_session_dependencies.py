"""dependencies between sessions"""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "session_dependencies",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("after_id", sa.String(), nullable=False),
        sa.Column("condition", sa.String(length=20), nullable=False),
        sa.CheckConstraint(
            "condition IN ('succeeded', 'failed', 'ended')", name=op.f("ck_session_dependencies_condition")
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_session_dependencies_session_id_sessions")
        ),
        sa.ForeignKeyConstraint(
            ["after_id"], ["sessions.id"], name=op.f("fk_session_dependencies_after_id_sessions")
        ),
        sa.PrimaryKeyConstraint("session_id", "after_id", name=op.f("pk_session_dependencies")),
    )
    op.create_index(
        op.f("ix_session_dependencies_after_id"), "session_dependencies", ["after_id"], unique=False
    )


def downgrade() -> None:
    op.drop_table("session_dependencies")
