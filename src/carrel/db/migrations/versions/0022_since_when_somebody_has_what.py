"""since when somebody has what"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _add("memberships", "since")
    _add("vfolders", "owned_at")
    # Nobody wrote down when: no earlier than this.
    op.execute(
        "UPDATE memberships m SET since = greatest(u.created_at, p.created_at)"
        " FROM users u, projects p WHERE u.id = m.user_id AND p.id = m.project_id"
    )
    op.execute("UPDATE vfolders SET owned_at = created_at")


def _add(table: str, column: str) -> None:
    now = sa.text("now()")
    op.add_column(table, sa.Column(column, sa.DateTime(timezone=True), server_default=now, nullable=False))
