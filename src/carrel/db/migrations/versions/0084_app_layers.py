"""state of the app layer in each engine"""

import sqlalchemy as sa
from alembic import op

revision = "0084"
down_revision = "0081"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "app_layers",
        sa.Column("engine_id", sa.String(), nullable=False),
        sa.Column("reference", sa.String(512), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("step", sa.String(), server_default="", nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("state_since", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("state IN ('BUILDING', 'READY', 'FAILED')", name="ck_app_layers_state"),
        sa.ForeignKeyConstraint(
            ["engine_id"], ["engines.id"], name="fk_app_layers_engine_id_engines", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("engine_id", name="pk_app_layers"),
    )


def downgrade() -> None:
    op.drop_table("app_layers")
