"""rights inside sessions, and the highest that a policy allows"""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "sessions", sa.Column("rights", sa.String(length=10), server_default="plain", nullable=False)
    )
    op.create_check_constraint(op.f("ck_sessions_rights"), "sessions", "rights IN ('plain', 'root')")
    op.execute(
        "UPDATE resource_policies SET limits = limits || '{\"max_rights\": \"plain\"}' WHERE kind = 'keypair'"
    )


def downgrade() -> None:
    op.execute("UPDATE resource_policies SET limits = limits - 'max_rights' WHERE kind = 'keypair'")
    op.drop_constraint(op.f("ck_sessions_rights"), "sessions", type_="check")
    op.drop_column("sessions", "rights")
