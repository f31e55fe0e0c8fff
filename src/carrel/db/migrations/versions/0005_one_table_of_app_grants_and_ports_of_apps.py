"""one table of app grants, and ports of apps"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "app_ports",
        sa.Column("port", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("app", sa.String(length=64), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("port", name=op.f("pk_app_ports")),
        sa.UniqueConstraint("session_id", "app", name="uq_app_ports_session_id_app"),
    )
    op.drop_index(op.f("ix_app_tickets_expires_at"), table_name="app_tickets")
    op.drop_table("app_tickets")
    # What opened the earlier ones is not known: they end, and apps are opened again.
    op.execute("DELETE FROM app_grants")
    op.add_column("app_grants", sa.Column("ticket", sa.Boolean(), nullable=False))
    op.add_column("app_grants", sa.Column("credential", sa.String(), nullable=False))
    op.add_column("app_grants", sa.Column("login_id", sa.LargeBinary(), nullable=True))
