"""what environments are made of"""

import json

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0105"
down_revision = "0104"
branch_labels = None
depends_on = None

_OWN = "localhost/carrel/environments/"
# References of the images of each version: those of its build, or that of the session, or what is written as its base.
_MADE_OF = sa.text("""
    SELECT v.id, v.reference, used.image, used.below,
        (SELECT min(coalesce(i.full_name, i.name)) FROM images i
         WHERE i.reference = used.image OR coalesce(i.full_name, i.name) = v.base AND used.below) AS name
    FROM environment_versions v LEFT JOIN environment_builds b ON b.version_id = v.id
        LEFT JOIN sessions s ON s.id = v.session_id
        CROSS JOIN LATERAL (
            SELECT value AS image, key = b.below AS below FROM jsonb_each_text(coalesce(b.images, '{}'))
            UNION ALL SELECT coalesce(s.image, (
                SELECT min(i.reference) FROM images i WHERE coalesce(i.full_name, i.name) = v.base
            ), v.base), true WHERE b.version_id IS NULL
        ) used
    ORDER BY v.created_at, v.id
""")


def upgrade() -> None:
    op.add_column(
        "environment_versions",
        sa.Column("origins", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False),
    )
    connection = op.get_bind()
    made_of: dict[str, list[dict[str, object]]] = {}
    versions: dict[str, str] = {}
    for row in connection.execute(_MADE_OF):
        versions[row.reference] = row.id
        origins = made_of.setdefault(row.reference, [])
        below = bool(row.below)
        if row.image.startswith(_OWN):
            inherited = made_of.get(row.image, [])
            origins += [one | {"below": below and one["below"]} for one in inherited]
        elif not row.image.startswith("env:"):
            origins.append({"reference": row.image, "name": row.name, "below": below})
    statement = sa.text("UPDATE environment_versions SET origins = CAST(:origins AS jsonb) WHERE id = :id")
    for reference, origins in made_of.items():
        connection.execute(statement, {"origins": json.dumps(origins), "id": versions[reference]})


def downgrade() -> None:
    op.drop_column("environment_versions", "origins")
