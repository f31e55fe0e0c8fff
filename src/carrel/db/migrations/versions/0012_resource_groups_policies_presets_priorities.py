"""resource groups, policies, presets, priorities"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "resource_groups",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("description", sa.String(length=500), server_default="", nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("public", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column(
            "session_kinds",
            sa.ARRAY(sa.String()),
            server_default=sa.text("'{interactive,batch,inference}'"),
            nullable=False,
        ),
        sa.Column("scheduler", sa.String(length=20), server_default="fifo", nullable=False),
        sa.Column("placement", sa.String(length=20), server_default="dispersed", nullable=False),
        sa.Column("slot_priority", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("pending_timeout_s", sa.Integer(), nullable=True),
        sa.Column("patience_s", sa.Integer(), server_default=sa.text("300"), nullable=False),
        sa.Column("half_life_s", sa.Integer(), server_default=sa.text("604800"), nullable=False),
        sa.Column("on_node_loss", sa.String(length=20), server_default="end", nullable=False),
        sa.Column("node_loss_s", sa.Integer(), server_default=sa.text("120"), nullable=False),
        sa.Column("app_address", sa.String(length=300), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "on_node_loss IN ('end', 'reschedule')", name=op.f("ck_resource_groups_on_node_loss")
        ),
        sa.CheckConstraint(
            "placement IN ('dispersed', 'concentrated', 'round_robin')",
            name=op.f("ck_resource_groups_placement"),
        ),
        sa.CheckConstraint(
            "scheduler IN ('fifo', 'lifo', 'drf', 'fair_share')", name=op.f("ck_resource_groups_scheduler")
        ),
        sa.CheckConstraint(
            "patience_s >= 0 AND half_life_s > 0 AND node_loss_s >= 0", name=op.f("ck_resource_groups_times")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resource_groups")),
    )
    op.create_index(
        "uq_resource_groups_name_lower", "resource_groups", [sa.literal_column("lower(name)")], unique=True
    )
    op.create_table(
        "resource_policies",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("description", sa.String(length=500), server_default="", nullable=False),
        sa.Column("limits", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('keypair', 'user', 'project')", name=op.f("ck_resource_policies_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resource_policies")),
    )
    op.create_index(
        "uq_resource_policies_kind_name_lower",
        "resource_policies",
        ["kind", sa.literal_column("lower(name)")],
        unique=True,
    )
    op.execute("INSERT INTO resource_groups (id, name) VALUES ('default', 'default')")
    op.execute("""
        INSERT INTO resource_policies (id, kind, name, limits) VALUES
        ('default-keypair', 'keypair', 'default', '{"slots": {"*": "unlimited"}, "sessions": "unlimited",
            "pending_sessions": "unlimited", "pending_slots": {"*": "unlimited"}, "containers_per_session": "unlimited",
            "lifetime_s": "unlimited", "max_priority": 50}'),
        ('default-user', 'user', 'default', '{"slots": {"*": "unlimited"}, "sessions": "unlimited",
            "folders": "unlimited", "folder_bytes": "unlimited"}'),
        ('default-project', 'project', 'default', '{"folders": "unlimited", "folder_bytes": "unlimited"}')
    """)
    op.create_table(
        "fair_share_weights",
        sa.Column("group_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("scope_id", sa.String(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.CheckConstraint("kind IN ('domain', 'project', 'user')", name=op.f("ck_fair_share_weights_kind")),
        sa.CheckConstraint("weight > 0", name=op.f("ck_fair_share_weights_weight")),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["resource_groups.id"],
            name=op.f("fk_fair_share_weights_group_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("group_id", "kind", "scope_id", name=op.f("pk_fair_share_weights")),
    )
    op.create_table(
        "presets",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("group_id", sa.String(), nullable=True),
        sa.Column("slots", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["resource_groups.id"], name=op.f("fk_presets_group_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_presets")),
    )
    op.create_index(
        "uq_presets_group_id_name_lower",
        "presets",
        [sa.literal_column("coalesce(group_id, '')"), sa.literal_column("lower(name)")],
        unique=True,
    )
    op.create_table(
        "resource_group_access",
        sa.Column("group_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("scope_id", sa.String(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('domain', 'project', 'user')", name=op.f("ck_resource_group_access_kind")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["resource_groups.id"],
            name=op.f("fk_resource_group_access_group_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("group_id", "kind", "scope_id", name=op.f("pk_resource_group_access")),
    )
    op.add_column(
        "allocations", sa.Column("container", sa.SmallInteger(), server_default=sa.text("0"), nullable=False)
    )
    op.add_column(
        "allocations",
        sa.Column("devices", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
    )
    op.drop_index(
        op.f("uq_allocations_session_id_slot_held"),
        table_name="allocations",
        postgresql_where="(released_at IS NULL)",
    )
    op.create_index(
        "ix_allocations_released_at",
        "allocations",
        ["released_at"],
        unique=False,
        postgresql_where=sa.text("released_at IS NOT NULL"),
    )
    op.create_index(
        "uq_allocations_session_id_container_slot_held",
        "allocations",
        ["session_id", "container", "slot"],
        unique=True,
        postgresql_where=sa.text("released_at IS NULL"),
    )
    op.add_column(
        "keypairs", sa.Column("policy_id", sa.String(), server_default="default-keypair", nullable=False)
    )
    op.create_index(op.f("ix_keypairs_policy_id"), "keypairs", ["policy_id"], unique=False)
    op.create_foreign_key(
        op.f("fk_keypairs_policy_id"), "keypairs", "resource_policies", ["policy_id"], ["id"]
    )
    op.add_column(
        "nodes",
        sa.Column(
            "devices", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False
        ),
    )
    op.add_column(
        "nodes",
        sa.Column(
            "images", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False
        ),
    )
    op.add_column(
        "nodes",
        sa.Column(
            "labels", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
    )
    op.add_column("nodes", sa.Column("group_id", sa.String(), server_default="default", nullable=False))
    op.add_column(
        "nodes", sa.Column("cordoned", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column(
        "nodes",
        sa.Column(
            "reserved",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
    )
    op.add_column(
        "nodes", sa.Column("cpu_overcommit", sa.Double(), server_default=sa.text("1"), nullable=False)
    )
    op.add_column("nodes", sa.Column("down_since", sa.DateTime(timezone=True), nullable=True))
    op.create_index(op.f("ix_nodes_group_id"), "nodes", ["group_id"], unique=False)
    op.create_foreign_key(op.f("fk_nodes_group_id"), "nodes", "resource_groups", ["group_id"], ["id"])
    op.add_column(
        "projects", sa.Column("policy_id", sa.String(), server_default="default-project", nullable=False)
    )
    op.create_index(op.f("ix_projects_policy_id"), "projects", ["policy_id"], unique=False)
    op.create_foreign_key(
        op.f("fk_projects_policy_id"), "projects", "resource_policies", ["policy_id"], ["id"]
    )
    op.add_column("sessions", sa.Column("group_id", sa.String(), server_default="default", nullable=False))
    op.add_column("sessions", sa.Column("access_key", sa.String(length=24), nullable=True))
    op.add_column(
        "sessions", sa.Column("priority", sa.SmallInteger(), server_default=sa.text("50"), nullable=False)
    )
    op.add_column("sessions", sa.Column("wanted_node", sa.String(), nullable=True))
    op.add_column(
        "sessions",
        sa.Column("avoided_nodes", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
    )
    op.add_column("sessions", sa.Column("time_limit_s", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_sessions_group_id"), "sessions", ["group_id"], unique=False)
    op.create_foreign_key(op.f("fk_sessions_wanted_node"), "sessions", "nodes", ["wanted_node"], ["id"])
    op.create_foreign_key(op.f("fk_sessions_group_id"), "sessions", "resource_groups", ["group_id"], ["id"])
    op.add_column("users", sa.Column("policy_id", sa.String(), server_default="default-user", nullable=False))
    op.add_column(
        "users", sa.Column("keypair_policy_id", sa.String(), server_default="default-keypair", nullable=False)
    )
    op.create_index(op.f("ix_users_keypair_policy_id"), "users", ["keypair_policy_id"], unique=False)
    op.create_index(op.f("ix_users_policy_id"), "users", ["policy_id"], unique=False)
    op.create_foreign_key(op.f("fk_users_policy_id"), "users", "resource_policies", ["policy_id"], ["id"])
    op.create_foreign_key(
        op.f("fk_users_keypair_policy_id"), "users", "resource_policies", ["keypair_policy_id"], ["id"]
    )
    # What was offered of a node was kept; now it is what the node has, and what is kept back of it.
    op.execute("""
        UPDATE nodes SET reserved = '{"mem": 1073741824}', slots = slots || jsonb_build_object('mem', (slots ->> 'mem')::bigint + 1073741824)
        WHERE (slots ->> 'mem')::bigint > 3221225472
    """)
