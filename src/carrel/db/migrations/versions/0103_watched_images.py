"""watch tags of images for updates"""

import sqlalchemy as sa
from alembic import op

revision = "0103"
down_revision = "0102"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "image_settings", sa.Column("watch", sa.String(length=5), server_default="off", nullable=False)
    )
    for name in ("pull_groups", "pull_nodes"):
        op.add_column(
            "image_settings",
            sa.Column(name, sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
        )
    op.create_table(
        "image_watches",
        sa.Column("image_id", sa.String(), nullable=False),
        sa.Column("offered", sa.String(length=80), nullable=True),
        sa.Column("offered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("skipped", sa.String(length=80), nullable=True),
        sa.Column("take", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("check", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("missing", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("news", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint("(offered IS NULL) = (offered_at IS NULL)", name=op.f("ck_image_watches_offered")),
        sa.CheckConstraint("NOT take OR offered IS NOT NULL", name=op.f("ck_image_watches_take")),
        sa.ForeignKeyConstraint(
            ["image_id"], ["images.id"], name=op.f("fk_image_watches_image_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("image_id", name=op.f("pk_image_watches")),
    )
    op.create_index(
        "ix_image_watches_due",
        "image_watches",
        ["image_id"],
        postgresql_where=sa.text('take OR "check" OR news'),
    )


def downgrade() -> None:
    op.drop_table("image_watches")
    for name in ("watch", "pull_groups", "pull_nodes"):
        op.drop_column("image_settings", name)
