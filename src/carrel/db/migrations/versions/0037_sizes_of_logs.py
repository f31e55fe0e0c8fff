"""how much is kept of the log of a container"""

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """UPDATE resource_policies SET limits = limits || '{"log_bytes": 67108864}' WHERE kind = 'keypair'"""
    )


def downgrade() -> None:
    op.execute("UPDATE resource_policies SET limits = limits - 'log_bytes'")
