"""usage of containers by minute and hour, and statistics by day"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_RATES = ("read_rate", "write_rate", "rx_rate", "tx_rate", "disk_bytes")


def upgrade() -> None:
    for name in _RATES:
        op.add_column("usage_samples", sa.Column(name, sa.BigInteger(), nullable=True))
    op.create_table(
        "usage_minutes",
        sa.Column("container_id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("points", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("container_id", "at", name=op.f("pk_usage_minutes")),
    )
    op.create_index("ix_usage_minutes_at", "usage_minutes", ["at"], unique=False)
    # Compressed already.
    op.execute("ALTER TABLE usage_minutes ALTER COLUMN points SET STORAGE EXTERNAL")
    op.create_table(
        "usage_hours",
        sa.Column("container_id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.SmallInteger(), nullable=False),
        sa.Column("cpu_millis", sa.Integer(), nullable=False),
        sa.Column("cpu_peak", sa.Integer(), nullable=False),
        sa.Column("mem_bytes", sa.BigInteger(), nullable=False),
        sa.Column("mem_peak", sa.BigInteger(), nullable=False),
        sa.Column("accelerator_percent", sa.SmallInteger(), nullable=True),
        sa.Column("accelerator_mem_percent", sa.SmallInteger(), nullable=True),
        *(sa.Column(name, sa.BigInteger(), nullable=True) for name in _RATES),
        sa.PrimaryKeyConstraint("container_id", "at", name=op.f("pk_usage_hours")),
    )
    op.create_index("ix_usage_hours_at", "usage_hours", ["at"], unique=False)
    op.create_table(
        "usage_days",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("project_id", sa.String(), nullable=False),
        sa.Column("group_id", sa.String(), nullable=False),
        sa.Column("image", sa.String(length=512), nullable=False),
        sa.Column("slot", sa.String(length=60), nullable=False),
        sa.Column("domain_id", sa.String(), nullable=False),
        sa.Column("hours", postgresql.ARRAY(sa.Float()), nullable=False),
        sa.Column("measured", sa.Float(), nullable=False),
        sa.Column("used", sa.Float(), nullable=False),
        sa.Column("wasters", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("waits", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.PrimaryKeyConstraint(
            "day", "owner_id", "project_id", "group_id", "image", "slot", name=op.f("pk_usage_days")
        ),
    )
    op.create_index("ix_usage_days_owner_id_day", "usage_days", ["owner_id", "day"], unique=False)
    op.create_index("ix_usage_days_project_id_day", "usage_days", ["project_id", "day"], unique=False)
    op.create_table(
        "usage_progress",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_usage_progress")),
    )


def downgrade() -> None:
    for table in ("usage_progress", "usage_days", "usage_hours", "usage_minutes"):
        op.drop_table(table)
    for name in _RATES:
        op.drop_column("usage_samples", name)
