"""shares of sessions"""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "session_shares",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("token_hash", sa.LargeBinary(), nullable=True),
        sa.Column("link_id", sa.String(), nullable=True),
        sa.Column("level", sa.String(length=10), nullable=False),
        sa.Column("granted_by", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("level IN ('look', 'use')", name=op.f("ck_session_shares_level")),
        sa.CheckConstraint(
            "num_nonnulls(user_id, project_id, token_hash) = 1", name=op.f("ck_session_shares_one_with")
        ),
        sa.CheckConstraint(
            "expires_at IS NOT NULL OR token_hash IS NULL AND link_id IS NULL",
            name=op.f("ck_session_shares_link_expires"),
        ),
        sa.ForeignKeyConstraint(
            ["granted_by"],
            ["users.id"],
            name=op.f("fk_session_shares_granted_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["link_id"],
            ["session_shares.id"],
            name=op.f("fk_session_shares_link_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_session_shares_project_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
            name=op.f("fk_session_shares_session_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_session_shares_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session_shares")),
    )
    for column in ("session_id", "user_id", "project_id"):
        op.create_index(op.f(f"ix_session_shares_{column}"), "session_shares", [column])
    op.create_index("uq_session_shares_token_hash", "session_shares", ["token_hash"], unique=True)
    op.create_index(
        "uq_session_shares_session_id_user_id",
        "session_shares",
        ["session_id", "user_id"],
        unique=True,
        postgresql_where=sa.text("link_id IS NULL"),
    )
    op.create_index(
        "uq_session_shares_session_id_project_id",
        "session_shares",
        ["session_id", "project_id"],
        unique=True,
    )
    op.create_index(
        "uq_session_shares_link_id_user_id", "session_shares", ["link_id", "user_id"], unique=True
    )


def downgrade() -> None:
    op.drop_table("session_shares")
