"""templates of sessions, and which template a session was started from"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "session_templates",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("description", sa.String(length=500), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.Column("domain_id", sa.String(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("parameters", postgresql.JSONB(), nullable=False),
        sa.Column("definition", postgresql.JSONB(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_session_templates_owner_id_users")),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name=op.f("fk_session_templates_project_id_projects"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"], ["domains.id"], name=op.f("fk_session_templates_domain_id_domains")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session_templates")),
        sa.UniqueConstraint("owner_id", "name", name="uq_session_templates_owner_id_name"),
    )
    op.create_index(op.f("ix_session_templates_project_id"), "session_templates", ["project_id"])
    op.create_index(
        "uq_session_templates_project_id_name_shared",
        "session_templates",
        ["project_id", "name"],
        unique=True,
        postgresql_where=sa.text("shared"),
    )
    op.add_column("sessions", sa.Column("template", postgresql.JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("sessions", "template")
    op.drop_table("session_templates")
