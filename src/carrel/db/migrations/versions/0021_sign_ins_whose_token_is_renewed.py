"""sign-ins whose token is renewed"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

# Whoever writes a role or an office, the cookies of its bearer are exchanged: no writer can forget it.
_ROLE = """
    CREATE FUNCTION role_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE logins SET renewal_due = true WHERE user_id = NEW.id;
        RETURN NULL;
    END $$
"""
_OFFICE = """
    CREATE FUNCTION office_change() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        before boolean := TG_OP <> 'INSERT' AND OLD.admin;
        after boolean := TG_OP <> 'DELETE' AND NEW.admin;
    BEGIN
        IF before <> after THEN
            UPDATE logins SET renewal_due = true
            WHERE user_id = CASE TG_OP WHEN 'DELETE' THEN OLD.user_id ELSE NEW.user_id END;
        END IF;
        RETURN NULL;
    END $$
"""


def upgrade() -> None:
    op.add_column("logins", sa.Column("token_hash", sa.LargeBinary(), nullable=True))
    op.execute("UPDATE logins SET token_hash = id")
    op.alter_column("logins", "token_hash", nullable=False)
    op.add_column(
        "logins", sa.Column("renewal_due", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.add_column("logins", sa.Column("offered", sa.LargeBinary(), nullable=True))
    op.add_column("logins", sa.Column("former_hash", sa.LargeBinary(), nullable=True))
    op.add_column("logins", sa.Column("former_until", sa.DateTime(timezone=True), nullable=True))
    op.create_index("uq_logins_token_hash", "logins", ["token_hash"], unique=True)
    op.create_index("uq_logins_former_hash", "logins", ["former_hash"], unique=True)
    op.execute("DROP TRIGGER credentials_change ON logins")
    op.execute(
        "CREATE TRIGGER credentials_change AFTER DELETE OR UPDATE OF token_hash, renewal_due ON logins "
        "FOR EACH STATEMENT EXECUTE FUNCTION credentials_change()"
    )
    op.execute(_ROLE)
    op.execute(
        "CREATE TRIGGER role_change AFTER UPDATE OF role ON users FOR EACH ROW "
        "WHEN (OLD.role IS DISTINCT FROM NEW.role) EXECUTE FUNCTION role_change()"
    )
    op.execute(_OFFICE)
    op.execute(
        "CREATE TRIGGER office_change AFTER INSERT OR DELETE OR UPDATE OF admin ON memberships "
        "FOR EACH ROW EXECUTE FUNCTION office_change()"
    )
