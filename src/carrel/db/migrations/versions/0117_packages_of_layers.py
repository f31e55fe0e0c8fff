"""packages of layers"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0117"
down_revision = "0115"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "layer_packages",
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("databases", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("removed", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("opaque", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_layer_packages")),
    )
    no = sa.text("false")
    op.add_column("registries", sa.Column("read_packages", sa.Boolean(), server_default=no, nullable=False))
    empty = sa.text("'{}'")
    kind = postgresql.JSONB(astext_type=sa.Text())
    op.add_column("images", sa.Column("package_contents", kind, server_default=empty, nullable=False))
    op.add_column("images", sa.Column("packages_digest", sa.String(length=80), nullable=True))
    op.add_column("images", sa.Column("packages_problem", sa.String(), nullable=True))
    zero = sa.text("0")
    op.add_column("registry_scans", sa.Column("layers", sa.Integer(), server_default=zero, nullable=False))
    op.add_column(
        "registry_scans", sa.Column("layer_bytes", sa.BigInteger(), server_default=zero, nullable=False)
    )


def downgrade() -> None:
    for name in ("layer_bytes", "layers"):
        op.drop_column("registry_scans", name)
    for name in ("packages_problem", "packages_digest", "package_contents"):
        op.drop_column("images", name)
    op.drop_column("registries", "read_packages")
    op.drop_table("layer_packages")
