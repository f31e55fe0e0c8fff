"""disk inside sessions, and its default and maximum in policies"""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("disk_limit_bytes", sa.BigInteger(), nullable=True))
    op.execute(
        """UPDATE resource_policies SET limits =
            '{"default_disk_bytes": 21474836480, "max_disk_bytes": "unlimited"}' || limits WHERE kind = 'keypair'"""
    )


def downgrade() -> None:
    op.execute("UPDATE resource_policies SET limits = limits - 'default_disk_bytes' - 'max_disk_bytes'")
    op.drop_column("sessions", "disk_limit_bytes")
