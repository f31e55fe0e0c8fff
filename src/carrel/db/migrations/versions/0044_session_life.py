"""dotfiles; stop signals and abandoned containers of sessions"""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

_STATES = ("PENDING", "SCHEDULED", "PREPARING", "STARTING", "RUNNING", "EXITED", "GONE")


def upgrade() -> None:
    op.create_table(
        "dotfiles",
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("path", sa.String(length=200), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_dotfiles_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "path", name=op.f("pk_dotfiles")),
    )
    op.add_column(
        "sessions", sa.Column("stop_signal", sa.String(length=10), server_default="SIGTERM", nullable=False)
    )
    op.add_column(
        "sessions", sa.Column("grace_s", sa.SmallInteger(), server_default=sa.text("10"), nullable=False)
    )
    op.drop_column("sessions", "force")
    _set_states(*_STATES, "ABANDONED")
    op.create_index(
        "ix_containers_abandoned",
        "containers",
        ["session_id"],
        postgresql_where=sa.text("state = 'ABANDONED'"),
    )


def _set_states(*states: str) -> None:
    op.drop_constraint(op.f("ck_containers_state"), "containers", type_="check")
    listed = ", ".join(f"'{state}'" for state in states)
    op.create_check_constraint(op.f("ck_containers_state"), "containers", f"state IN ({listed})")


def downgrade() -> None:
    op.execute("UPDATE containers SET state = 'GONE' WHERE state = 'ABANDONED'")
    op.drop_index("ix_containers_abandoned", table_name="containers")
    _set_states(*_STATES)
    op.add_column(
        "sessions", sa.Column("force", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.drop_column("sessions", "grace_s")
    op.drop_column("sessions", "stop_signal")
    op.drop_table("dotfiles")
