"""scans of images for known vulnerabilities"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0102"
down_revision = "0098"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "image_reports",
        sa.Column("digest", sa.String(length=100), nullable=False),
        sa.Column("scanner", sa.String(length=100), nullable=False),
        sa.Column("scanned_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("packages", sa.Integer(), nullable=False),
        sa.Column("first_found", postgresql.JSONB(), nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.Column("sbom", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_image_reports")),
    )
    op.create_table(
        "image_scans",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("reference", sa.String(length=600), nullable=False),
        sa.Column("state", sa.String(length=10), server_default="waiting", nullable=False),
        sa.Column("cancel", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("requested_by", sa.String(), nullable=True),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("digest", sa.String(length=100), nullable=True),
        sa.Column("exempt_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("exempt_reason", sa.String(length=500), server_default="", nullable=False),
        sa.Column("exempted_by", sa.String(length=254), server_default="", nullable=False),
        sa.CheckConstraint(
            "(ended_at IS NULL) = (state IN ('waiting', 'running'))", name=op.f("ck_image_scans_ended")
        ),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_image_scans_state"),
        ),
        sa.ForeignKeyConstraint(["digest"], ["image_reports.digest"], name=op.f("fk_image_scans_digest")),
        sa.ForeignKeyConstraint(
            ["requested_by"], ["users.id"], name=op.f("fk_image_scans_requested_by"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_image_scans")),
    )
    op.create_index("uq_image_scans_reference", "image_scans", ["reference"], unique=True)
    op.create_index("ix_image_scans_digest", "image_scans", ["digest"])
    op.create_index(
        "ix_image_scans_open", "image_scans", ["requested_at"], postgresql_where=sa.text("ended_at IS NULL")
    )


def downgrade() -> None:
    op.drop_table("image_scans")
    op.drop_table("image_reports")
