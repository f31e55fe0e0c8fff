"""rights inside sessions, limited by project and resource group too"""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "resource_groups",
        sa.Column("max_rights", sa.String(length=10), server_default="root", nullable=False),
    )
    op.create_check_constraint(
        op.f("ck_resource_groups_max_rights"), "resource_groups", "max_rights IN ('plain', 'root')"
    )
    op.execute(
        "UPDATE resource_policies SET limits = limits || '{\"max_rights\": \"root\"}' WHERE kind = 'project'"
    )


def downgrade() -> None:
    op.execute("UPDATE resource_policies SET limits = limits - 'max_rights' WHERE kind = 'project'")
    op.drop_constraint(op.f("ck_resource_groups_max_rights"), "resource_groups", type_="check")
    op.drop_column("resource_groups", "max_rights")
