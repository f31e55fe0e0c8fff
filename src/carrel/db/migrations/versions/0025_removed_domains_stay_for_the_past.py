"""removed domains stay for the past"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("domains", sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True))
    op.drop_constraint("uq_domains_name", "domains", type_="unique")
    op.drop_index("uq_domains_name_lower", "domains")
    op.create_index(
        "uq_domains_name_lower",
        "domains",
        [sa.text("lower(name)")],
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL"),
    )
