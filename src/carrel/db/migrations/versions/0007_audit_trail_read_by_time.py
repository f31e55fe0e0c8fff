"""audit trail read by time"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# Whoever seals is told at commit; writing an entry stays one INSERT.
_ANNOUNCE = """
    CREATE FUNCTION audit_is_written() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_notify('carrel', 'audit');
        RETURN NULL;
    END $$
"""


def upgrade() -> None:
    for name in ("action_id", "actor_id_id", "at", "domain_id_id", "object_id_id", "owner_id_id"):
        op.drop_index(op.f(f"ix_audit_{name}"), table_name="audit")
    op.create_index("ix_audit_action_at_id", "audit", ["action", "at", "id"], unique=False)
    op.create_index(
        "ix_audit_actor_email_at_id",
        "audit",
        [sa.literal_column("lower(actor_email)"), "at", "id"],
        unique=False,
    )
    op.create_index("ix_audit_actor_id_at_id", "audit", ["actor_id", "at", "id"], unique=False)
    op.create_index("ix_audit_address_at_id", "audit", ["address", "at", "id"], unique=False)
    op.create_index("ix_audit_at_id", "audit", ["at", "id"], unique=False)
    op.create_index("ix_audit_domain_id_at_id", "audit", ["domain_id", "at", "id"], unique=False)
    op.create_index(
        "ix_audit_not_done",
        "audit",
        ["at", "id"],
        unique=False,
        postgresql_where=sa.text("outcome <> 'done'"),
    )
    op.create_index("ix_audit_object_id_at_id", "audit", ["object_id", "at", "id"], unique=False)
    op.create_index("ix_audit_object_kind_at_id", "audit", ["object_kind", "at", "id"], unique=False)
    op.create_index("ix_audit_owner_id_at_id", "audit", ["owner_id", "at", "id"], unique=False)
    op.execute(
        "CREATE INDEX ix_audit_searched ON audit USING gin (trigrams(actor_email || ' ' || object_name))"
    )
    op.execute(_ANNOUNCE)
    op.execute(
        "CREATE TRIGGER audit_is_written AFTER INSERT ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_written()"
    )
