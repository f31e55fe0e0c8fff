"""counts of arrays"""

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

_COUNTS = """
    UPDATE session_arrays r SET counts = (
        SELECT coalesce(json_agg(json_build_object('state', c.state, 'result', c.result, 'count', c.count)
            ORDER BY c.state, c.result), '[]')
        FROM (SELECT m.state, m.result, count(*) AS count FROM sessions m WHERE m.array_id = r.id GROUP BY 1, 2) c)
    WHERE r.counts IS NULL
"""
_FORGET = """
    UPDATE session_arrays r SET counts = NULL
    WHERE EXISTS (SELECT FROM sessions m WHERE m.array_id = r.id AND m.ended_at IS NULL)
        OR r.id IN (SELECT array_id FROM array_count_changes)
"""
_CREATED = """
    CREATE FUNCTION count_created_in_arrays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO array_count_changes (array_id, state, result, change)
        SELECT array_id, state, result, count(*) FROM created WHERE array_id IS NOT NULL GROUP BY 1, 2, 3;
        RETURN NULL;
    END $$
"""
_CHANGED = """
    CREATE FUNCTION count_changed_in_arrays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO array_count_changes (array_id, state, result, change)
        SELECT c.* FROM (VALUES
            (OLD.array_id, OLD.state, OLD.result, -1), (NEW.array_id, NEW.state, NEW.result, 1)
        ) AS c (array_id) WHERE c.array_id IS NOT NULL;
        RETURN NULL;
    END $$
"""

# The former version writes null for an array that is not over.
_FILLED = """
    CREATE FUNCTION fill_counts_of_arrays() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.counts := '[]';
        RETURN NEW;
    END $$
"""


def upgrade() -> None:
    op.execute(_FILLED)
    op.execute(
        "CREATE TRIGGER fill_counts_of_arrays BEFORE INSERT ON session_arrays FOR EACH ROW "
        "WHEN (NEW.counts IS NULL) EXECUTE FUNCTION fill_counts_of_arrays()"
    )
    op.alter_column("session_arrays", "counts", server_default=sa.text("'[]'"))
    op.create_table(
        "array_count_changes",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("array_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("result", sa.String(length=20), nullable=True),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_array_count_changes")),
    )
    op.create_index("ix_array_count_changes_array_id", "array_count_changes", ["array_id"], unique=False)
    op.execute(_CREATED)
    op.execute(_CHANGED)
    op.execute(
        "CREATE TRIGGER count_created_in_arrays AFTER INSERT ON sessions REFERENCING NEW TABLE AS created "
        "FOR EACH STATEMENT EXECUTE FUNCTION count_created_in_arrays()"
    )
    op.execute(
        "CREATE TRIGGER count_changed_in_arrays AFTER UPDATE OF array_id, state, result ON sessions FOR EACH ROW "
        "WHEN (coalesce(OLD.array_id, NEW.array_id) IS NOT NULL AND (OLD.array_id, OLD.state, OLD.result) "
        "IS DISTINCT FROM (NEW.array_id, NEW.state, NEW.result)) EXECUTE FUNCTION count_changed_in_arrays()"
    )
    # After the triggers, which have locked the table: else what changes in between would be in neither.
    op.execute(_COUNTS)


def downgrade() -> None:
    for name in ("count_created_in_arrays", "count_changed_in_arrays"):
        op.execute(f"DROP TRIGGER {name} ON sessions")
        op.execute(f"DROP FUNCTION {name}")
    op.execute("DROP TRIGGER fill_counts_of_arrays ON session_arrays")
    op.execute("DROP FUNCTION fill_counts_of_arrays")
    op.alter_column("session_arrays", "counts", server_default=None)
    op.execute(_FORGET)
    op.drop_table("array_count_changes")
