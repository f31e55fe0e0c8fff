"""counts of ended arrays"""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

_COUNTS = """
    UPDATE session_arrays r SET counts = (
        SELECT json_agg(json_build_object('state', c.state, 'result', c.result, 'count', c.count)
            ORDER BY c.state, c.result)
        FROM (SELECT m.state, m.result, count(*) AS count FROM sessions m WHERE m.array_id = r.id GROUP BY 1, 2) c)
    WHERE NOT EXISTS (SELECT FROM sessions m WHERE m.array_id = r.id AND m.ended_at IS NULL)
"""


def upgrade() -> None:
    op.add_column("session_arrays", sa.Column("counts", sa.JSON(none_as_null=True), nullable=True))
    op.execute(_COUNTS)


def downgrade() -> None:
    op.drop_column("session_arrays", "counts")
