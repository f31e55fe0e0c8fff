"""pushes of environments to registries"""

import sqlalchemy as sa
from alembic import op

revision = "0115"
down_revision = "0112"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "registries", sa.Column("push", sa.String(length=7), server_default="nobody", nullable=False)
    )
    op.add_column(
        "registries",
        sa.Column("push_repositories", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
    )
    op.create_check_constraint(
        op.f("ck_registries_push"),
        "registries",
        "push IN ('nobody', 'members')",
        postgresql_not_valid=True,
    )
    op.create_table(
        "environment_pushes",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("registry_id", sa.String(), nullable=True),
        sa.Column("reference", sa.String(length=700), nullable=False),
        sa.Column("state", sa.String(length=10), server_default="waiting", nullable=False),
        sa.Column("cancel", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("progress", sa.Float(), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("code", sa.String(length=40), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("digest", sa.String(length=80), nullable=True),
        sa.Column("requested_by", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_environment_pushes_state"),
        ),
        sa.CheckConstraint(
            "(ended_at IS NULL) = (state IN ('waiting', 'running'))", name=op.f("ck_environment_pushes_ended")
        ),
        sa.ForeignKeyConstraint(
            ["registry_id"],
            ["registries.id"],
            name=op.f("fk_environment_pushes_registry_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["requested_by"],
            ["users.id"],
            name=op.f("fk_environment_pushes_requested_by"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["environment_versions.id"],
            name=op.f("fk_environment_pushes_version_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environment_pushes")),
    )
    op.create_index(
        "uq_environment_pushes_open",
        "environment_pushes",
        ["reference"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_index(
        "ix_environment_pushes_version_id_created_at", "environment_pushes", ["version_id", "created_at"]
    )
    op.create_index("ix_environment_pushes_registry_id", "environment_pushes", ["registry_id"])


def downgrade() -> None:
    op.drop_table("environment_pushes")
    op.drop_constraint(op.f("ck_registries_push"), "registries", type_="check")
    op.drop_column("registries", "push_repositories")
    op.drop_column("registries", "push")
