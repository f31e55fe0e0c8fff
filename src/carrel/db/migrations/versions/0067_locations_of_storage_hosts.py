"""locations of storage hosts on engines"""

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "storage_host_locations",
        sa.Column("host_id", sa.String(), nullable=False),
        sa.Column("engine_id", sa.String(), nullable=False),
        sa.Column("location", sa.String(length=1000), nullable=True),
        sa.ForeignKeyConstraint(
            ["host_id"],
            ["storage_hosts.id"],
            name=op.f("fk_storage_host_locations_host_id_storage_hosts"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["engine_id"],
            ["engines.id"],
            name=op.f("fk_storage_host_locations_engine_id_engines"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("host_id", "engine_id", name=op.f("pk_storage_host_locations")),
    )


def downgrade() -> None:
    op.drop_table("storage_host_locations")
