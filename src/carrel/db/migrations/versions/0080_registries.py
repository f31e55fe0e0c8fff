"""registries"""

import sqlalchemy as sa
from alembic import op

revision = "0080"
down_revision = "0079"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "registries",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("url", sa.String(length=300), nullable=False),
        sa.Column("host", sa.String(length=300), nullable=False),
        sa.Column("namespace", sa.String(length=255), server_default="", nullable=False),
        sa.Column("username", sa.String(length=255), server_default="", nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column("ca_pem", sa.String(), server_default="", nullable=False),
        sa.Column("mirror", sa.String(length=300), server_default="", nullable=False),
        sa.Column("repositories", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("tags", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("domain_id", sa.String(), nullable=True),
        sa.Column("project_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "kind IN ('generic', 'dockerhub', 'harbor', 'ghcr', 'gitlab', 'ngc', 'ecr', 'quay')",
            name=op.f("ck_registries_kind"),
        ),
        sa.CheckConstraint("num_nonnulls(domain_id, project_id) <= 1", name=op.f("ck_registries_scope")),
        sa.ForeignKeyConstraint(
            ["domain_id"], ["domains.id"], name=op.f("fk_registries_domain_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_registries_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_registries")),
    )
    op.create_index(
        "uq_registries_name",
        "registries",
        ["name", sa.text("coalesce(domain_id, '')"), sa.text("coalesce(project_id, '')")],
        unique=True,
    )
    op.create_index(op.f("ix_registries_domain_id"), "registries", ["domain_id"], unique=False)
    op.create_index(op.f("ix_registries_host"), "registries", ["host"], unique=False)
    op.create_index(op.f("ix_registries_project_id"), "registries", ["project_id"], unique=False)


def downgrade() -> None:
    op.drop_table("registries")
