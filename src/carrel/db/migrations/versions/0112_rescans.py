"""rescans"""

import sqlalchemy as sa
from alembic import op

revision = "0112"
down_revision = "0111"
branch_labels = None
depends_on = None
_TABLES = ("image_scans", "registry_scans")


def upgrade() -> None:
    op.create_table(
        "rescans",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("requested_by", sa.String(), nullable=True),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        *(
            sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False)
            for name in ("done", "failed", "cancelled")
        ),
        sa.Column("problem", sa.String(), nullable=True),
        sa.CheckConstraint("kind IN ('registries', 'images')", name=op.f("ck_rescans_kind")),
        sa.ForeignKeyConstraint(
            ["requested_by"], ["users.id"], name=op.f("fk_rescans_requested_by"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rescans")),
        sa.UniqueConstraint("kind", name=op.f("uq_rescans_kind")),
    )
    for table in _TABLES:
        op.add_column(table, sa.Column("rescan_id", sa.String(), nullable=True))
        op.create_foreign_key(
            op.f(f"fk_{table}_rescan_id"),
            table,
            "rescans",
            ["rescan_id"],
            ["id"],
            ondelete="SET NULL",
            postgresql_not_valid=True,
        )
        op.create_index(f"ix_{table}_rescan_id", table, ["rescan_id"])


def downgrade() -> None:
    for table in _TABLES:
        op.drop_column(table, "rescan_id")
    op.drop_table("rescans")
