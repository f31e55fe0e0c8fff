"""whom events reach"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "events", sa.Column("audience", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False)
    )
