"""several copies of the API: open terminals, leases of starting apps, credentials that depend on site settings"""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0060"
branch_labels = None
depends_on = None

# Besides those of 0018: what else changes an identity that copies of the API remember.
_CHANGES = {"site": "INSERT OR UPDATE OF values", "totps": "DELETE", "passkeys": "DELETE"}


def upgrade() -> None:
    op.create_table(
        "terminals",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("container_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["container_id"],
            ["containers.id"],
            name=op.f("fk_terminals_container_id_containers"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_terminals_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_terminals")),
    )
    op.create_index(op.f("ix_terminals_container_id"), "terminals", ["container_id"])
    op.create_index(op.f("ix_terminals_address"), "terminals", ["address"])
    op.create_table(
        "app_leases",
        sa.Column("container_id", sa.String(), nullable=False),
        sa.Column("app", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["container_id"],
            ["containers.id"],
            name=op.f("fk_app_leases_container_id_containers"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("container_id", "app", name=op.f("pk_app_leases")),
    )
    for table, change in _CHANGES.items():
        op.execute(
            f"CREATE TRIGGER credentials_change AFTER {change} ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION credentials_change()"
        )


def downgrade() -> None:
    for table in _CHANGES:
        op.execute(f"DROP TRIGGER credentials_change ON {table}")
    op.drop_table("app_leases")
    op.drop_table("terminals")
