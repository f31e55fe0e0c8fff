"""ids of the copies of the API that have terminals; an index of the nodes that exist"""

import sqlalchemy as sa
from alembic import op

revision = "0078"
down_revision = "0077"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("terminals", sa.Column("copy_id", sa.String(), server_default="", nullable=False))
    op.create_index(op.f("ix_terminals_copy_id"), "terminals", ["copy_id"])
    op.drop_index(op.f("ix_terminals_address"), table_name="terminals")
    known = sa.text("forgotten_at IS NULL")
    op.create_index("ix_nodes_known", "nodes", ["engine_id"], postgresql_where=known)


def downgrade() -> None:
    op.drop_index("ix_nodes_known", table_name="nodes")
    op.create_index(op.f("ix_terminals_address"), "terminals", ["address"])
    op.drop_index(op.f("ix_terminals_copy_id"), table_name="terminals")
    op.drop_column("terminals", "copy_id")
