"""dotfiles"""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "dotfiles",
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("path", sa.String(length=200), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_dotfiles_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "path", name=op.f("pk_dotfiles")),
    )


def downgrade() -> None:
    op.drop_table("dotfiles")
