"""engines

The one engine of before becomes the engine `local`, to which all nodes belong; it is told its address at the next
start.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "engines",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column(
            "settings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
        sa.Column("secrets", sa.LargeBinary(), nullable=True),
        sa.Column("state", sa.String(length=10), server_default="UNKNOWN", nullable=False),
        sa.Column("last_error", sa.String(), nullable=True),
        sa.Column("state_since", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("state IN ('UNKNOWN', 'READY', 'DOWN')", name=op.f("ck_engines_state")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_engines")),
        sa.UniqueConstraint("name", name=op.f("uq_engines_name")),
    )
    op.execute("INSERT INTO engines (id, name, kind) VALUES ('local', 'local', 'docker')")
    op.alter_column("nodes", "engine", new_column_name="engine_version")
    op.add_column("nodes", sa.Column("engine_id", sa.String(), nullable=True))
    op.execute("UPDATE nodes SET engine_id = 'local'")
    op.create_foreign_key(
        op.f("fk_nodes_engine_id"), "nodes", "engines", ["engine_id"], ["id"], ondelete="SET NULL"
    )
    op.create_check_constraint(
        op.f("ck_nodes_engine"), "nodes", "engine_id IS NOT NULL OR forgotten_at IS NOT NULL"
    )
    op.drop_constraint("uq_nodes_name", "nodes")
    op.create_unique_constraint("uq_nodes_engine_id_name", "nodes", ["engine_id", "name"])


def downgrade() -> None:
    """An earlier version knows one engine: where nodes have one name, those of other engines get another."""
    op.execute(
        """
        UPDATE nodes n
        SET name = left(n.name, 150) || '@' || coalesce((SELECT e.name FROM engines e WHERE e.id = n.engine_id), n.id)
        WHERE n.engine_id IS DISTINCT FROM 'local'
            AND EXISTS (SELECT FROM nodes o WHERE o.name = n.name AND o.id <> n.id)
        """
    )
    op.drop_constraint("uq_nodes_engine_id_name", "nodes")
    op.create_unique_constraint("uq_nodes_name", "nodes", ["name"])
    op.drop_constraint("ck_nodes_engine", "nodes")
    op.drop_constraint("fk_nodes_engine_id", "nodes", type_="foreignkey")
    op.drop_column("nodes", "engine_id")
    op.alter_column("nodes", "engine_version", new_column_name="engine")
    op.drop_table("engines")
