"""nodes that are being emptied"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("nodes", sa.Column("draining", sa.String(length=10), nullable=True))
    op.create_check_constraint(op.f("ck_nodes_draining"), "nodes", "draining IN ('wait', 'end', 'move')")
    op.create_check_constraint(
        op.f("ck_nodes_drained_behind_a_cordon"), "nodes", "cordoned OR draining IS NULL"
    )
