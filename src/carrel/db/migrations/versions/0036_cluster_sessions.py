"""cluster sessions: roles, host names, placement, and what a failed container means"""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "containers", sa.Column("host", sa.String(length=24), server_default="main1", nullable=False)
    )
    op.execute("UPDATE containers SET host = 'sub' || index WHERE index > 0")
    op.alter_column("containers", "host", server_default=None)
    op.add_column(
        "containers", sa.Column("has_command", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.execute(
        "UPDATE containers SET has_command = true FROM sessions s"
        " WHERE s.id = session_id AND s.kind = 'batch' AND index = 0"
    )
    for name, default in (("placement", "spread"), ("on_failure", "end")):
        op.add_column(
            "sessions", sa.Column(name, sa.String(length=10), server_default=default, nullable=False)
        )
    op.add_column(
        "sessions", sa.Column("mixed", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.create_check_constraint(
        op.f("ck_sessions_placement"), "sessions", "placement IN ('together', 'spread')"
    )
    op.create_check_constraint(
        op.f("ck_sessions_on_failure"), "sessions", "on_failure IN ('end', 'continue')"
    )


def downgrade() -> None:
    op.drop_constraint(op.f("ck_sessions_on_failure"), "sessions", type_="check")
    op.drop_constraint(op.f("ck_sessions_placement"), "sessions", type_="check")
    for name in ("mixed", "on_failure", "placement"):
        op.drop_column("sessions", name)
    op.drop_column("containers", "has_command")
    op.drop_column("containers", "host")
