"""specs of sessions

What was asked becomes one value. What only it has, the environment and the node that is asked for, moves there.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

# Folders with a dot before their names come by themselves.
_GATHER = """
    UPDATE sessions s SET spec = jsonb_strip_nulls(jsonb_build_object(
        'image', s.image, 'slots', s.slots, 'name', s.name, 'env', nullif(s.env, '{}'), 'project', s.project_id,
        'group', s.group_id, 'priority', s.priority, 'time_limit_s', s.time_limit_s, 'node', s.wanted_node,
        'containers', (SELECT count(*) FROM containers WHERE session_id = s.id),
        'mounts', (
            SELECT jsonb_agg(jsonb_build_object('folder', coalesce(m.folder_id, m.folder_name), 'path', m.path,
                'subpath', m.subpath, 'read_only', m.read_only) ORDER BY m.position)
            FROM vfolder_mounts m WHERE m.session_id = s.id AND m.folder_name NOT LIKE '.%'
        )))
"""
_SCATTER = "UPDATE sessions SET env = coalesce(spec -> 'env', '{}'), wanted_node = spec ->> 'node'"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=True))
    op.execute(_GATHER)
    op.alter_column("sessions", "spec", nullable=False)
    op.drop_column("sessions", "env")
    op.drop_column("sessions", "wanted_node")


def downgrade() -> None:
    op.add_column("sessions", sa.Column("env", postgresql.JSONB(astext_type=sa.Text()), nullable=True))
    op.add_column("sessions", sa.Column("wanted_node", sa.String(), nullable=True))
    op.execute(_SCATTER)
    op.alter_column("sessions", "env", nullable=False)
    op.create_foreign_key(op.f("fk_sessions_wanted_node"), "sessions", "nodes", ["wanted_node"], ["id"])
    op.drop_column("sessions", "spec")
