"""kinds of storage come from plug-ins"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_constraint(op.f("ck_storage_hosts_backend"), "storage_hosts", type_="check")
    op.alter_column("storage_hosts", "backend", type_=sa.String(length=60), existing_nullable=False)
    op.add_column("storage_hosts", sa.Column("settings", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    op.drop_column("storage_hosts", "settings")
    op.alter_column("storage_hosts", "backend", type_=sa.String(length=20), existing_nullable=False)
    op.create_check_constraint(
        op.f("ck_storage_hosts_backend"), "storage_hosts", "backend IN ('posix', 'btrfs')"
    )
