"""images by version"""

from alembic import op

revision = "0111"
down_revision = "0107"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_images_version_key_id", "images", ["version_key", "id"])


def downgrade() -> None:
    op.drop_index("ix_images_version_key_id", "images")
