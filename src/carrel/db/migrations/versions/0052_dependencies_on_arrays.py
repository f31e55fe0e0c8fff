"""dependencies on whole arrays"""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

_TABLE, _KEY = "session_dependencies", "pk_session_dependencies"
_INDEX = "ix_sessions_array_id_ended_at"


def upgrade() -> None:
    op.add_column(
        _TABLE, sa.Column("whole_array", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.drop_constraint(op.f(_KEY), _TABLE, type_="primary")
    op.create_primary_key(op.f(_KEY), _TABLE, ["session_id", "after_id", "whole_array"])
    op.create_index(
        _INDEX,
        "sessions",
        ["array_id", "ended_at"],
        postgresql_where=sa.text("array_id IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index(_INDEX, table_name="sessions")
    op.execute("DELETE FROM session_dependencies WHERE whole_array")
    op.drop_constraint(op.f(_KEY), _TABLE, type_="primary")
    op.create_primary_key(op.f(_KEY), _TABLE, ["session_id", "after_id"])
    op.drop_column(_TABLE, "whole_array")
