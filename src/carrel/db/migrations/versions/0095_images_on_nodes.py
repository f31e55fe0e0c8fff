"""images on nodes, and pulls ahead of sessions"""

import sqlalchemy as sa
from alembic import op

revision = "0095"
down_revision = "0094"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "image_pulls",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("reference", sa.String(length=512), nullable=False),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("requested_by", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_image_pulls_project_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["requested_by"], ["users.id"], name=op.f("fk_image_pulls_requested_by"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_image_pulls")),
    )
    op.create_index("ix_image_pulls_created_at_id", "image_pulls", ["created_at", "id"], unique=False)
    op.create_table(
        "node_images",
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("image_id", sa.String(length=600), nullable=False),
        sa.Column("references", sa.ARRAY(sa.String()), nullable=False),
        sa.Column("names", sa.ARRAY(sa.String()), nullable=False),
        sa.Column("alias", sa.String(length=600), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("in_use", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("pulled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("pulled_names", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("removing_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["node_id"], ["nodes.id"], name=op.f("fk_node_images_node_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("node_id", "image_id", name=op.f("pk_node_images")),
    )
    op.create_index("ix_node_images_names", "node_images", ["names"], unique=False, postgresql_using="gin")
    op.create_index(
        "ix_node_images_removing_at",
        "node_images",
        ["removing_at"],
        unique=False,
        postgresql_where=sa.text("removing_at IS NOT NULL"),
    )
    op.create_table(
        "pulled_references",
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("reference", sa.String(length=600), nullable=False),
        sa.Column("name", sa.String(length=600), nullable=False),
        sa.Column("pulled_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["node_id"], ["nodes.id"], name=op.f("fk_pulled_references_node_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("node_id", "reference", name=op.f("pk_pulled_references")),
    )
    op.create_table(
        "node_pulls",
        sa.Column("pull_id", sa.String(), nullable=False),
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(length=10), server_default="waiting", nullable=False),
        sa.Column("cancel", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("progress", sa.Double(), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(ended_at IS NULL) = (state IN ('waiting', 'running'))", name=op.f("ck_node_pulls_ended")
        ),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'failed', 'cancelled')", name=op.f("ck_node_pulls_state")
        ),
        sa.ForeignKeyConstraint(
            ["node_id"], ["nodes.id"], name=op.f("fk_node_pulls_node_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["pull_id"], ["image_pulls.id"], name=op.f("fk_node_pulls_pull_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pull_id", "node_id", name=op.f("pk_node_pulls")),
    )
    op.create_index(
        "ix_node_pulls_open",
        "node_pulls",
        ["pull_id"],
        unique=False,
        postgresql_where=sa.text("ended_at IS NULL"),
    )


def downgrade() -> None:
    for table in ("node_pulls", "pulled_references", "node_images", "image_pulls"):
        op.drop_table(table)
