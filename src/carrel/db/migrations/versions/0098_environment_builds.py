"""builds of environments from recipes, their contexts and logs"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0098"
down_revision = "0095"
branch_labels = None
depends_on = None


def upgrade() -> None:
    now = sa.DateTime(timezone=True)
    op.add_column("environment_versions", sa.Column("recipe", sa.String(length=20), nullable=True))
    op.create_table(
        "environment_build_contexts",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("created_at", now, nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"],
            ["users.id"],
            name=op.f("fk_environment_build_contexts_owner_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environment_build_contexts")),
    )
    op.create_index(
        op.f("ix_environment_build_contexts_owner_id"), "environment_build_contexts", ["owner_id"]
    )
    op.create_table(
        "environment_builds",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("file", sa.String(length=255), nullable=True),
        sa.Column("base", sa.String(length=512), nullable=True),
        sa.Column("source", sa.String(length=2000), server_default=sa.text("''"), nullable=False),
        sa.Column("dockerfile", sa.String(), nullable=False),
        sa.Column("files", postgresql.JSONB(), nullable=False),
        sa.Column("added", postgresql.JSONB(), nullable=False),
        sa.Column("images", postgresql.JSONB(), nullable=False),
        sa.Column("below", sa.String(length=512), nullable=True),
        sa.Column("context_id", sa.String(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["environment_versions.id"],
            name=op.f("fk_environment_builds_version_id_environment_versions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["context_id"],
            ["environment_build_contexts.id"],
            name=op.f("fk_environment_builds_context_id_environment_build_contexts"),
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_environment_builds")),
    )
    op.create_index("ix_environment_builds_context_id", "environment_builds", ["context_id"])
    op.create_table(
        "environment_build_logs",
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["environment_builds.version_id"],
            name=op.f("fk_environment_build_logs_version_id_environment_builds"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("version_id", "number", name=op.f("pk_environment_build_logs")),
    )


def downgrade() -> None:
    op.drop_table("environment_build_logs")
    op.drop_table("environment_builds")
    op.drop_table("environment_build_contexts")
    op.drop_column("environment_versions", "recipe")
