"""storage hosts in policies; folders to measure"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_vfolders_measured_at", "vfolders", ["measured_at"], unique=False)
    op.create_index(
        "ix_vfolders_to_measure",
        "vfolders",
        ["host_id"],
        unique=False,
        postgresql_where=sa.text("measured_at IS NULL OR touched_at > measured_at"),
    )
    # Every limit is written out.
    op.execute("""
        UPDATE resource_policies SET limits = limits || '{"storage_hosts": "unlimited"}' WHERE kind = 'keypair'
    """)
