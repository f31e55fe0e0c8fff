"""moments of the start-up of containers and apps"""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

_MOMENTS = ("mounted_at", "image_at", "launched_at")


def upgrade() -> None:
    for name in _MOMENTS:
        op.add_column("containers", sa.Column(name, sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "app_starts",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("app", sa.String(length=64), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ready_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_app_starts_session_id_sessions")
        ),
        sa.PrimaryKeyConstraint("session_id", "app", name=op.f("pk_app_starts")),
    )


def downgrade() -> None:
    op.drop_table("app_starts")
    for name in reversed(_MOMENTS):
        op.drop_column("containers", name)
