"""kinds of identity providers come from plug-ins

The one secret of a provider becomes the setting of that name of its kind; it stays sealed as it is.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_constraint(op.f("ck_providers_kind"), "providers", type_="check")
    op.alter_column("providers", "kind", type_=sa.String(length=30), existing_nullable=False)
    op.alter_column("providers", "options", new_column_name="settings")
    op.add_column(
        "providers",
        sa.Column(
            "secrets",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
        ),
    )
    op.add_column("providers", sa.Column("server", sa.String(length=1024), nullable=True))
    op.execute("UPDATE providers SET server = coalesce(settings->>'issuer', settings->>'host', '')")
    op.alter_column("providers", "server", nullable=False)
    op.execute(
        """
        UPDATE providers SET secrets = jsonb_build_object(
            CASE kind WHEN 'oidc' THEN 'client_secret' ELSE 'bind_password' END, encode(secret, 'hex')
        ) WHERE secret IS NOT NULL
        """
    )
    op.drop_column("providers", "secret")


def downgrade() -> None:
    """Providers of other kinds are lost: an earlier version knows two. Settings that are as usual are written out
    there when the provider is saved again.
    """
    op.execute("DELETE FROM providers WHERE kind NOT IN ('oidc', 'ldap')")
    op.add_column("providers", sa.Column("secret", sa.LargeBinary(), nullable=True))
    op.execute(
        """
        UPDATE providers SET secret = decode(coalesce(secrets->>'client_secret', secrets->>'bind_password'), 'hex')
        """
    )
    op.drop_column("providers", "server")
    op.drop_column("providers", "secrets")
    op.alter_column("providers", "settings", new_column_name="options")
    op.alter_column("providers", "kind", type_=sa.String(length=10), existing_nullable=False)
    op.create_check_constraint(op.f("ck_providers_kind"), "providers", "kind IN ('oidc', 'ldap')")
