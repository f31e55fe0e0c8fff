"""people, sign-ins, audit chain"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


# Sealing sets position and hash, once; retention says that it is at work. All else is refused.
_GUARD = """
    CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'UPDATE' AND OLD.position IS NULL AND NEW.position IS NOT NULL
            AND to_jsonb(NEW) - 'position' - 'hash' = to_jsonb(OLD) - 'position' - 'hash' THEN
            RETURN NEW;
        END IF;
        IF TG_OP = 'DELETE' AND current_setting('carrel.audit_retention', true) = 'on' THEN
            RETURN OLD;
        END IF;
        RAISE EXCEPTION 'The audit trail is never altered.';
    END $$
"""


class Xid8(sa.types.UserDefinedType[int]):
    """PostgreSQL's 64-bit transaction id."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "xid8"


def upgrade() -> None:
    # Browsers sign in again, and locks are forgotten: what is new in both tables cannot be made up.
    op.execute("DELETE FROM logins")
    op.execute("DELETE FROM login_attempts")
    op.create_table(
        "audit_anchor",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("cut_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_anchor")),
    )
    op.create_table(
        "site",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("values", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("mail_password", sa.LargeBinary(), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_site_one")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_site")),
    )
    op.create_table(
        "providers",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("domain_id", sa.String(), nullable=False),
        sa.Column("options", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "mapping", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False
        ),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('oidc', 'ldap')", name=op.f("ck_providers_kind")),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_providers_domain_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_providers")),
        sa.UniqueConstraint("name", name=op.f("uq_providers_name")),
    )
    op.create_table(
        "challenges",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("user_id", sa.String(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_challenges_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_challenges")),
    )
    op.create_index("ix_challenges_expires_at", "challenges", ["expires_at"], unique=False)
    op.create_table(
        "external_identities",
        sa.Column("provider_id", sa.String(), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["provider_id"],
            ["providers.id"],
            name=op.f("fk_external_identities_provider_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_external_identities_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("provider_id", "subject", name=op.f("pk_external_identities")),
    )
    op.create_index(op.f("ix_external_identities_user_id"), "external_identities", ["user_id"], unique=False)
    op.create_table(
        "former_passwords",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=False),
        sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_former_passwords_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_former_passwords")),
    )
    op.create_index(op.f("ix_former_passwords_user_id"), "former_passwords", ["user_id"], unique=False)
    op.create_table(
        "one_time_links",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_one_time_links_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_one_time_links")),
    )
    op.create_index("ix_one_time_links_expires_at", "one_time_links", ["expires_at"], unique=False)
    op.create_index(op.f("ix_one_time_links_user_id"), "one_time_links", ["user_id"], unique=False)
    op.create_table(
        "passkeys",
        sa.Column("id", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("transports", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_passkeys_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passkeys")),
    )
    op.create_index(op.f("ix_passkeys_user_id"), "passkeys", ["user_id"], unique=False)
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("code_hash", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_recovery_codes_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "code_hash", name=op.f("pk_recovery_codes")),
    )
    op.create_table(
        "ssh_keys",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("public_key", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(length=60), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_ssh_keys_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ssh_keys")),
    )
    op.create_index(op.f("ix_ssh_keys_user_id"), "ssh_keys", ["user_id"], unique=False)
    op.create_index("uq_ssh_keys_user_id_fingerprint", "ssh_keys", ["user_id", "fingerprint"], unique=True)
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_tokens_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
    )
    op.create_index(op.f("ix_tokens_user_id"), "tokens", ["user_id"], unique=False)
    op.create_index("uq_tokens_token_hash", "tokens", ["token_hash"], unique=True)
    op.create_table(
        "totps",
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_step", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_totps_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_totps")),
    )
    op.add_column(
        "audit", sa.Column("xid", Xid8(), server_default=sa.text("pg_current_xact_id()"), nullable=False)
    )
    op.add_column("audit", sa.Column("actor_email", sa.String(), server_default="", nullable=False))
    op.add_column("audit", sa.Column("object_kind", sa.String(length=30), server_default="", nullable=False))
    op.add_column("audit", sa.Column("object_name", sa.String(), server_default="", nullable=False))
    op.add_column("audit", sa.Column("owner_id", sa.String(), nullable=True))
    op.add_column("audit", sa.Column("project_id", sa.String(), nullable=True))
    op.add_column("audit", sa.Column("domain_id", sa.String(), nullable=True))
    op.add_column("audit", sa.Column("reason", sa.String(), server_default="", nullable=False))
    op.add_column("audit", sa.Column("request_id", sa.String(), server_default="", nullable=False))
    op.add_column("audit", sa.Column("position", sa.BigInteger(), nullable=True))
    op.add_column("audit", sa.Column("hash", sa.LargeBinary(), nullable=True))
    op.drop_index(op.f("ix_audit_actor_id_at"), table_name="audit")
    op.create_index("ix_audit_action_id", "audit", ["action", "id"], unique=False)
    op.create_index("ix_audit_actor_id_id", "audit", ["actor_id", "id"], unique=False)
    op.create_index("ix_audit_at", "audit", ["at"], unique=False)
    op.create_index("ix_audit_domain_id_id", "audit", ["domain_id", "id"], unique=False)
    op.create_index("ix_audit_object_id_id", "audit", ["object_id", "id"], unique=False)
    op.create_index("ix_audit_owner_id_id", "audit", ["owner_id", "id"], unique=False)
    op.create_index(
        "ix_audit_unsealed",
        "audit",
        ["xid", "id"],
        unique=False,
        postgresql_where=sa.text("position IS NULL"),
    )
    op.create_index("uq_audit_position", "audit", ["position"], unique=True)
    op.add_column(
        "domains", sa.Column("description", sa.String(length=500), server_default="", nullable=False)
    )
    op.add_column(
        "domains", sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False)
    )
    op.add_column(
        "domains",
        sa.Column(
            "ceilings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
    )
    op.add_column("domains", sa.Column("resource_groups", sa.ARRAY(sa.String()), nullable=True))
    op.add_column("domains", sa.Column("registries", sa.ARRAY(sa.String()), nullable=True))
    op.add_column("domains", sa.Column("storage_hosts", sa.ARRAY(sa.String()), nullable=True))
    op.add_column(
        "domains",
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    )
    op.create_index("uq_domains_name_lower", "domains", [sa.literal_column("lower(name)")], unique=True)
    op.add_column("keypairs", sa.Column("name", sa.String(length=64), server_default="", nullable=False))
    op.add_column("keypairs", sa.Column("rate_limit", sa.Integer(), nullable=True))
    op.add_column("keypairs", sa.Column("rotated_at", sa.DateTime(timezone=True), nullable=True))
    op.drop_constraint(op.f("fk_keypairs_user_id"), "keypairs", type_="foreignkey")
    op.create_foreign_key(
        op.f("fk_keypairs_user_id"), "keypairs", "users", ["user_id"], ["id"], ondelete="CASCADE"
    )
    op.alter_column("login_attempts", "email_hash", new_column_name="subject_hash")
    op.add_column("logins", sa.Column("public_id", sa.String(), nullable=False))
    op.add_column(
        "logins", sa.Column("method", sa.String(length=80), server_default="password", nullable=False)
    )
    op.add_column("logins", sa.Column("pending", sa.String(length=10), nullable=True))
    op.add_column("logins", sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=False))
    op.add_column("logins", sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False))
    op.create_index("uq_logins_public_id", "logins", ["public_id"], unique=True)
    op.drop_constraint(op.f("fk_logins_user_id"), "logins", type_="foreignkey")
    op.create_foreign_key(
        op.f("fk_logins_user_id"), "logins", "users", ["user_id"], ["id"], ondelete="CASCADE"
    )
    op.drop_constraint(op.f("fk_memberships_user_id"), "memberships", type_="foreignkey")
    op.create_foreign_key(
        op.f("fk_memberships_user_id"), "memberships", "users", ["user_id"], ["id"], ondelete="CASCADE"
    )
    op.add_column(
        "projects", sa.Column("description", sa.String(length=500), server_default="", nullable=False)
    )
    op.add_column(
        "projects",
        sa.Column(
            "ceilings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
    )
    op.add_column("projects", sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "projects",
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    )
    op.add_column("users", sa.Column("description", sa.String(length=500), server_default="", nullable=False))
    op.add_column("users", sa.Column("state", sa.String(length=12), server_default="active", nullable=False))
    op.add_column("users", sa.Column("password_set_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "users",
        sa.Column("must_change_password", sa.Boolean(), server_default=sa.text("false"), nullable=False),
    )
    op.add_column(
        "users", sa.Column("addresses", sa.ARRAY(sa.String()), server_default=sa.text("'{}'"), nullable=False)
    )
    op.add_column(
        "users",
        sa.Column(
            "preferences",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
    )
    op.add_column("users", sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=True))
    op.alter_column("users", "password_hash", existing_type=sa.VARCHAR(), nullable=True)
    op.create_index("ix_users_created_at_id", "users", ["created_at", "id"], unique=False)
    op.create_index(
        "ix_users_domain_id_created_at_id", "users", ["domain_id", "created_at", "id"], unique=False
    )
    op.execute("UPDATE users SET state = 'inactive' WHERE NOT active")
    op.drop_column("users", "active")
    op.drop_constraint(op.f("ck_users_role"), "users")
    op.create_check_constraint(
        op.f("ck_users_role"), "users", "role IN ('user', 'domain_admin', 'superadmin')"
    )
    op.create_check_constraint(
        op.f("ck_users_state"), "users", "state IN ('active', 'inactive', 'unverified', 'purged')"
    )
    op.execute("CREATE INDEX ix_users_searched ON users USING gin (trigrams(email || ' ' || name))")
    op.execute(_GUARD)
    op.execute(
        "CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE ON audit "
        "FOR EACH ROW EXECUTE FUNCTION audit_is_kept()"
    )
    op.execute(
        "CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept()"
    )
