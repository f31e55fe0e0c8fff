"""directories are not counted as files

Every folder is measured again; until then its old size and number of files are shown.
"""

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("UPDATE vfolders SET touched_at = now() WHERE measured_at IS NOT NULL")


def downgrade() -> None:
    upgrade()
