"""results and retries of batch sessions"""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("result", sa.String(length=20), nullable=True))
    op.add_column(
        "sessions", sa.Column("retries_left", sa.SmallInteger(), server_default=sa.text("0"), nullable=False)
    )
    op.create_check_constraint(
        op.f("ck_sessions_result"), "sessions", "result IN ('success', 'failure', 'timed_out', 'cancelled')"
    )


def downgrade() -> None:
    op.drop_constraint(op.f("ck_sessions_result"), "sessions", type_="check")
    op.drop_column("sessions", "retries_left")
    op.drop_column("sessions", "result")
