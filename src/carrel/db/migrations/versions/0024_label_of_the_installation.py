"""label of the installation"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    of_its_own = sa.text("substr(md5(random()::text), 1, 8)")
    op.add_column("site", sa.Column("label", sa.String(), server_default=of_its_own, nullable=False))
    op.execute("""INSERT INTO site (id, "values") VALUES (1, '{}') ON CONFLICT DO NOTHING""")
    # All had this one before each got its own, and what runs keeps its label.
    op.execute("UPDATE site SET label = 'main' WHERE EXISTS (SELECT FROM users)")
