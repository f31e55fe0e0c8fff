"""settings of images, and which image a container really ran"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0092"
down_revision = "0091"
branch_labels = None
depends_on = None

_NO = sa.text("false")
_NONE = sa.text("'{}'")


def upgrade() -> None:
    op.create_table(
        "image_settings",
        sa.Column("image", sa.String(length=512), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=True),
        sa.Column("hidden", sa.Boolean(), server_default=_NO, nullable=False),
        sa.Column("deprecated", sa.Boolean(), server_default=_NO, nullable=False),
        sa.Column("successor", sa.String(length=512), nullable=True),
        sa.Column("aliases", sa.ARRAY(sa.String()), server_default=_NONE, nullable=False),
        sa.Column("preferred", sa.Boolean(), server_default=_NO, nullable=False),
        *(
            sa.Column(scopes, sa.ARRAY(sa.String()), server_default=_NONE, nullable=False)
            for scopes in ("domains", "projects", "groups")
        ),
        *(
            sa.Column(slots, postgresql.JSONB(), server_default=_NONE, nullable=False)
            for slots in ("min_slots", "recommended_slots")
        ),
        sa.CheckConstraint("deprecated OR successor IS NULL", name=op.f("ck_image_settings_successor")),
        sa.PrimaryKeyConstraint("image", name=op.f("pk_image_settings")),
    )
    op.create_index("ix_image_settings_aliases", "image_settings", ["aliases"], postgresql_using="gin")
    op.create_index("ix_images_repository", "images", ["repository"])
    op.add_column(
        "registries",
        sa.Column("images_enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
    )
    op.add_column("containers", sa.Column("image_digest", sa.String(length=80), nullable=True))
    op.add_column("containers", sa.Column("image_id", sa.String(length=80), nullable=True))


def downgrade() -> None:
    op.drop_column("containers", "image_id")
    op.drop_column("containers", "image_digest")
    op.drop_column("registries", "images_enabled")
    op.drop_index("ix_images_repository", table_name="images")
    op.drop_table("image_settings")
