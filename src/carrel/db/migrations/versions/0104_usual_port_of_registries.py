"""the usual port of registries is left out of names"""

from alembic import op

revision = "0104"
down_revision = "0103"
branch_labels = None
depends_on = None

_NAMED = r"^([^/]*[.:][^/]*)[:]443(?=/|$)"
_COLUMNS = (("registries", "host"), ("images", "host"), ("images", "reference"), ("images", "full_name"))
_KEYS = (("image_settings", "image"), ("image_scans", "reference"))


def upgrade() -> None:
    for table, column in _COLUMNS:
        op.execute(f"UPDATE {table} SET {column} = {_plain(column)} WHERE {column} ~ '{_NAMED}'")  # noqa: S608 - no input in it
    # Where both spellings have a row, that of the plain one stays.
    for table, column in _KEYS:
        other = f"SELECT FROM {table} o WHERE o.{column} = {_plain(f't.{column}')}"
        op.execute(
            f"UPDATE {table} t SET {column} = {_plain(column)} WHERE {column} ~ '{_NAMED}' AND NOT EXISTS ({other})"  # noqa: S608 - no input in it
        )
    # Both spellings: nobody gets what others' credentials have pulled.
    op.execute(
        f"INSERT INTO private_repositories (name, scope_id) SELECT {_plain('name')}, scope_id"  # noqa: S608 - no input in it
        f" FROM private_repositories WHERE name ~ '{_NAMED}' ON CONFLICT DO NOTHING"
    )


def downgrade() -> None:
    """The former spelling is not known, and no version needs it."""


def _plain(column: str) -> str:
    return f"regexp_replace({column}, '{_NAMED}', '\\1')"
