"""folders looked for by what is to be done"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_vfolder_mounts_folder_id", "vfolder_mounts", ["folder_id"])
    op.create_index("ix_vfolders_host_id_measured_at", "vfolders", ["host_id", "measured_at"])
    op.drop_index("ix_vfolders_host_id", table_name="vfolders")
    op.drop_index("ix_vfolders_measured_at", table_name="vfolders")
    for name, column, state in (("trashed", "trashed_at", "TRASHED"), ("creating", "created_at", "CREATING")):
        only = sa.text(f"state = '{state}'")
        op.create_index(f"ix_vfolders_{name}", "vfolders", [column], postgresql_where=only)
