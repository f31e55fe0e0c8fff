"""find sessions by part of a name"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# Of PostgreSQL's core alone: docs/decisions/0007-substring-search-without-pg-trgm.md. Repeats are left in; GIN drops them.
_TRIGRAMS = """
    CREATE FUNCTION trigrams(value text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT ARRAY(SELECT substr(lower(value), n, 3) FROM generate_series(1, length(lower(value)) - 2) n)
    $$
"""


def upgrade() -> None:
    op.execute(_TRIGRAMS)
    op.create_index("ix_sessions_name", "sessions", ["name"], unique=False)
    op.execute("CREATE INDEX ix_sessions_searched ON sessions USING gin (trigrams(name || ' ' || image))")
