"""kinds of slots

What accelerators may be asked for as was a rule before: FAMILY.device and FAMILY.shares.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_DEVICES = """
    UPDATE nodes SET devices = (
        SELECT jsonb_agg(device || jsonb_build_object('slots', jsonb_build_object(
            device ->> 'family' || '.device', 1000, device ->> 'family' || '.shares', 1)) ORDER BY place)
        FROM jsonb_array_elements(devices) WITH ORDINALITY AS d(device, place)
    ) WHERE devices <> '[]'
"""
_KINDS = """
    INSERT INTO slot_kinds (name, family, type, quantum, allowed, title, unit)
    SELECT family || ending, family, type, 1, '{}', '', ''
    FROM (SELECT DISTINCT device ->> 'family' AS family FROM nodes, jsonb_array_elements(devices) device) f,
        (VALUES ('.device', 'count'), ('.shares', 'shares')) k(ending, type)
"""


def upgrade() -> None:
    op.create_table(
        "slot_kinds",
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("family", sa.String(length=60), nullable=False),
        sa.Column("type", sa.String(length=10), nullable=False),
        sa.Column("quantum", sa.BigInteger(), nullable=False),
        sa.Column("allowed", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("unit", sa.String(length=60), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_slot_kinds")),
    )
    op.execute(_DEVICES)
    op.execute(_KINDS)


def downgrade() -> None:
    op.drop_table("slot_kinds")
    op.execute("""
        UPDATE nodes SET devices = (
            SELECT jsonb_agg(device - 'slots' ORDER BY place)
            FROM jsonb_array_elements(devices) WITH ORDINALITY AS d(device, place)
        ) WHERE devices <> '[]'
    """)
