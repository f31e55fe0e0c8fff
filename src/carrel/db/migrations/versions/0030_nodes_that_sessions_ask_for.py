"""nodes that sessions ask for

The scheduler reads them in each of its passes: out of a column, they cost nothing.
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("wanted_node", sa.String(), nullable=True))
    op.execute("UPDATE sessions SET wanted_node = spec ->> 'node' WHERE spec ? 'node'")
    op.create_foreign_key(op.f("fk_sessions_wanted_node"), "sessions", "nodes", ["wanted_node"], ["id"])


def downgrade() -> None:
    op.drop_column("sessions", "wanted_node")
