"""scans of registries, and what they find out about images"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0081"
down_revision = "0080"
branch_labels = None
depends_on = None

_EMPTY = sa.text("'{}'")
_ADDED = (
    ("registry_id", sa.String(), None),
    ("full_name", sa.String(length=512), None),
    ("host", sa.String(length=300), "localhost"),
    ("repository", sa.String(length=255), ""),
    ("tag", sa.String(length=128), ""),
    ("digest", sa.String(length=80), None),
    ("family", sa.String(length=255), ""),
    ("version", sa.String(length=128), ""),
    ("version_key", sa.String(length=1200, collation="C"), ""),
    ("architectures", sa.ARRAY(sa.String()), _EMPTY),
    ("layers", sa.Integer(), None),
    ("built_at", sa.DateTime(timezone=True), None),
    ("contents", postgresql.JSONB(), _EMPTY),
    ("accelerators", sa.ARRAY(sa.String()), _EMPTY),
    ("licenses", sa.String(length=500), ""),
    ("labels", postgresql.JSONB(), _EMPTY),
    ("scanned_at", sa.DateTime(timezone=True), None),
)
_COUNTS = ("repositories_done", "repositories_failed", "tags", "added", "updated", "removed", "requests")


def upgrade() -> None:
    op.create_table(
        "registry_scans",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("registry_id", sa.String(), nullable=False),
        sa.Column("requested_by", sa.String(), nullable=True),
        sa.Column("state", sa.String(length=10), server_default="waiting", nullable=False),
        sa.Column("cancel", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("repositories", sa.Integer(), nullable=True),
        *(sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False) for name in _COUNTS),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(ended_at IS NULL) = (state IN ('waiting', 'running'))", name=op.f("ck_registry_scans_ended")
        ),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_registry_scans_state"),
        ),
        sa.ForeignKeyConstraint(
            ["registry_id"],
            ["registries.id"],
            name=op.f("fk_registry_scans_registry_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["requested_by"], ["users.id"], name=op.f("fk_registry_scans_requested_by"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_registry_scans")),
    )
    op.create_index(
        "uq_registry_scans_open",
        "registry_scans",
        ["registry_id"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_index(
        "ix_registry_scans_registry_id_created_at_id", "registry_scans", ["registry_id", "created_at", "id"]
    )
    op.create_table(
        "registry_scan_repositories",
        sa.Column("scan_id", sa.String(), nullable=False),
        sa.Column("repository", sa.String(length=255), nullable=False),
        sa.Column("done", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["scan_id"],
            ["registry_scans.id"],
            name=op.f("fk_registry_scan_repositories_scan_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("scan_id", "repository", name=op.f("pk_registry_scan_repositories")),
    )
    for name, kind, default in _ADDED:
        op.add_column("images", sa.Column(name, kind, server_default=default, nullable=default is None))
    op.create_foreign_key(
        op.f("fk_images_registry_id"),
        "images",
        "registries",
        ["registry_id"],
        ["id"],
        ondelete="CASCADE",
        postgresql_not_valid=True,
    )
    op.create_index("ix_images_registry_id_repository", "images", ["registry_id", "repository"])
    op.create_index("ix_images_shown_name_id", "images", [sa.text("coalesce(full_name, name)"), "id"])
    op.create_index("ix_images_family_version_key_id", "images", ["family", "version_key", "id"])
    op.create_index(
        "ix_images_searched",
        "images",
        [sa.text("trigrams((coalesce(full_name, name) || ' ') || title)")],
        postgresql_using="gin",
    )
    op.execute(
        "UPDATE images SET host = CASE WHEN split_part(reference, '/', 1) ~ '[.:]'"
        " AND reference LIKE '%/%' THEN lower(split_part(reference, '/', 1))"
        " WHEN reference LIKE 'localhost/%' THEN 'localhost' ELSE 'docker.io' END, family = name"
    )


def downgrade() -> None:
    op.execute("DELETE FROM images WHERE registry_id IS NOT NULL")
    op.drop_index("ix_images_searched", "images")
    op.drop_index("ix_images_family_version_key_id", "images")
    op.drop_index("ix_images_shown_name_id", "images")
    for name, _, _ in _ADDED:
        op.drop_column("images", name)
    op.drop_table("registry_scan_repositories")
    op.drop_table("registry_scans")
