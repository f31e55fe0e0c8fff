"""environments of users and projects, their versions and shares"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0091"
down_revision = "0086"
branch_labels = None
depends_on = None


def upgrade() -> None:
    now = sa.DateTime(timezone=True)
    in_use = sa.text("removed_at IS NULL")
    op.create_table(
        "environments",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("description", sa.String(length=500), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("domain_id", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=True),
        sa.Column("default_version", sa.String(length=18), nullable=True),
        sa.Column("last_number", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", now, nullable=False),
        sa.Column("updated_at", now, nullable=False),
        sa.Column("removed_at", now, nullable=True),
        sa.CheckConstraint(
            "(owner_id IS NULL) <> (project_id IS NULL)", name=op.f("ck_environments_one_owner")
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_environments_owner_id_users")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_environments_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["domain_id"], ["domains.id"], name=op.f("fk_environments_domain_id_domains")
        ),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_environments_created_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environments")),
    )
    for owner in ("owner_id", "project_id"):
        op.create_index(
            f"uq_environments_{owner}_name",
            "environments",
            [owner, "name"],
            unique=True,
            postgresql_where=in_use,
        )
    op.create_table(
        "environment_versions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("environment_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=18), nullable=False),
        sa.Column("note", sa.String(length=500), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("reference", sa.String(length=512), nullable=False),
        sa.Column("engine_id", sa.String(), nullable=False),
        sa.Column("node_id", sa.String(), nullable=True),
        sa.Column("session_id", sa.String(), nullable=True),
        sa.Column("session_name", sa.String(length=64), nullable=False),
        sa.Column("container_id", sa.String(), nullable=False),
        sa.Column("base", sa.String(length=512), nullable=False),
        sa.Column("architecture", sa.String(length=30), nullable=True),
        sa.Column("apps", postgresql.JSONB(), nullable=False),
        sa.Column("min_slots", postgresql.JSONB(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("added_bytes", sa.BigInteger(), nullable=True),
        sa.Column("progress", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("cancel", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("created_by", sa.String(), nullable=True),
        sa.Column("created_at", now, nullable=False),
        sa.Column("ended_at", now, nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'ready', 'failed', 'cancelled', 'removing')",
            name=op.f("ck_environment_versions_state"),
        ),
        sa.ForeignKeyConstraint(
            ["environment_id"],
            ["environments.id"],
            name=op.f("fk_environment_versions_environment_id_environments"),
        ),
        sa.ForeignKeyConstraint(
            ["engine_id"], ["engines.id"], name=op.f("fk_environment_versions_engine_id_engines")
        ),
        sa.ForeignKeyConstraint(
            ["node_id"], ["nodes.id"], name=op.f("fk_environment_versions_node_id_nodes")
        ),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["users.id"],
            name=op.f("fk_environment_versions_created_by_users"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environment_versions")),
    )
    op.create_index(
        "uq_environment_versions_environment_id_name",
        "environment_versions",
        ["environment_id", "name"],
        unique=True,
    )
    op.create_index("uq_environment_versions_reference", "environment_versions", ["reference"], unique=True)
    op.create_index(
        "ix_environment_versions_open",
        "environment_versions",
        ["created_at"],
        postgresql_where=sa.text("state IN ('waiting', 'running', 'removing')"),
    )
    op.create_table(
        "environment_shares",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("environment_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("created_at", now, nullable=False),
        sa.CheckConstraint(
            "(user_id IS NULL) <> (project_id IS NULL)", name=op.f("ck_environment_shares_one_with")
        ),
        *(
            sa.ForeignKeyConstraint(
                [column],
                [f"{table}.id"],
                name=op.f(f"fk_environment_shares_{column}_{table}"),
                ondelete="CASCADE",
            )
            for column, table in (
                ("environment_id", "environments"),
                ("user_id", "users"),
                ("project_id", "projects"),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environment_shares")),
    )
    for recipient in ("user_id", "project_id"):
        op.create_index(op.f(f"ix_environment_shares_{recipient}"), "environment_shares", [recipient])
        op.create_index(
            f"uq_environment_shares_environment_id_{recipient}",
            "environment_shares",
            ["environment_id", recipient],
            unique=True,
        )


def downgrade() -> None:
    op.drop_table("environment_shares")
    op.drop_table("environment_versions")
    op.drop_table("environments")
