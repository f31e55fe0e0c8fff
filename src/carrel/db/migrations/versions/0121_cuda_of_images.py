"""what images require of NVIDIA drivers"""

import sqlalchemy as sa
from alembic import op

revision = "0121"
down_revision = "0119"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("images", sa.Column("requires_cuda", sa.String(), nullable=True))
    # The next scan reads the others again.
    op.execute("UPDATE images SET requires_cuda = '' WHERE NOT contents ?| ARRAY['cuda', 'cuda-driver']")
    op.create_index(
        "ix_images_digest_cuda", "images", ["digest"], postgresql_where=sa.text("requires_cuda <> ''")
    )


def downgrade() -> None:
    op.drop_column("images", "requires_cuda")
