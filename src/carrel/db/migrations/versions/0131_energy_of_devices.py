"""energy of devices"""

import sqlalchemy as sa
from alembic import op

revision = "0131"
down_revision = "0129"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "device_energy",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("node_id", sa.String(), nullable=False),
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("slot", sa.String(length=60), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.Column("group_id", sa.String(), nullable=False),
        sa.Column("image", sa.String(length=512), nullable=False),
        sa.Column("domain_id", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("joules", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("day", "session_id", "node_id", "device", "slot", name="pk_device_energy"),
    )
    op.create_index("ix_device_energy_session_id", "device_energy", ["session_id"])
    op.create_index("ix_device_energy_owner_id_day", "device_energy", ["owner_id", "day"])
    op.create_index("ix_device_energy_project_id_day", "device_energy", ["project_id", "day"])


def downgrade() -> None:
    op.drop_table("device_energy")
