"""what groups of providers gave"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "external_identities",
        sa.Column("projects", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
    )
    op.add_column("external_identities", sa.Column("role", sa.String(length=20), nullable=True))
    op.drop_index(op.f("ix_external_identities_user_id"), table_name="external_identities")
    op.create_unique_constraint(
        op.f("uq_external_identities_user_id_provider_id"), "external_identities", ["user_id", "provider_id"]
    )
