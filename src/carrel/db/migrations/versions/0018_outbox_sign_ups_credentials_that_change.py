"""outbox, sign-ups, credentials that change"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

# Every copy of the API is told when what it remembers of somebody's credentials may be true no more.
_ANNOUNCE = """
    CREATE FUNCTION credentials_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_notify('carrel', 'credentials');
        RETURN NULL;
    END $$
"""
_CHANGES = {
    "logins": "DELETE OR UPDATE OF id",
    "keypairs": "DELETE OR UPDATE OF active, secret_hash, rate_limit",
    "tokens": "DELETE",
    "users": "DELETE OR UPDATE OF state, role, domain_id, addresses, must_change_password",
    "domains": "UPDATE OF active",
    "memberships": "INSERT OR DELETE OR UPDATE",
}


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("letter", sa.LargeBinary(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    op.create_index("ix_outbox_next_at", "outbox", ["next_at"], unique=False)
    op.add_column(
        "users", sa.Column("signed_up", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.execute("""
        UPDATE users SET signed_up = true WHERE state = 'unverified'
        AND EXISTS (SELECT FROM audit WHERE action = 'auth.sign_up' AND object_id = users.id)
    """)
    op.execute(_ANNOUNCE)
    for table, change in _CHANGES.items():
        op.execute(
            f"CREATE TRIGGER credentials_change AFTER {change} ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION credentials_change()"
        )
