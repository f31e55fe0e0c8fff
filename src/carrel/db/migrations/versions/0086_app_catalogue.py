"""app templates, and apps of sessions besides those of their images"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0086"
down_revision = "0084"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "app_templates",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("domain_id", sa.String(), nullable=True),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("definition", postgresql.JSONB(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("user_id IS NULL OR project_id IS NULL", name=op.f("ck_app_templates_owner")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_app_templates_user_id_users"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_app_templates_project_id_projects"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"], ["domains.id"], name=op.f("fk_app_templates_domain_id_domains")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_app_templates")),
    )
    op.create_index(op.f("ix_app_templates_project_id"), "app_templates", ["project_id"])
    op.create_index(
        "uq_app_templates_owner_name",
        "app_templates",
        [sa.text("coalesce(user_id, project_id, '')"), "name"],
        unique=True,
    )
    op.create_table(
        "app_instances",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("template", sa.String(length=40), nullable=True),
        sa.Column("definition", postgresql.JSONB(), nullable=False),
        sa.Column("options", postgresql.JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
            name=op.f("fk_app_instances_session_id_sessions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_id", "name", name=op.f("pk_app_instances")),
    )


def downgrade() -> None:
    op.drop_table("app_instances")
    op.drop_table("app_templates")
