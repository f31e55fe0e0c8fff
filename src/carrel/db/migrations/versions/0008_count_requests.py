"""count requests"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "request_counts",
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("window", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", "window", name=op.f("pk_request_counts")),
        prefixes=["UNLOGGED"],
    )
    op.create_index("ix_request_counts_window", "request_counts", ["window"], unique=False)
