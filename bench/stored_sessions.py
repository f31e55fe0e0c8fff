"""Sessions written straight to the database."""

import orjson
import psycopg
from sqlalchemy import text

from bench.control_plane import ControlPlane
from carrel.sessions import arrays
from carrel.sessions.spec import MountRequest, SessionSpec

_SPEC = SessionSpec(
    image="registry.example.org/team/image:1",
    slots={"cpu": 1000, "mem": 1 << 30},
    name="desk",
    env={"A": "b"},
    project="abcdefghijkl",
    group="default",
    priority=50,
    mounts=(MountRequest(folder="data"),),
)
_FILL = """
    WITH filled AS (
        INSERT INTO sessions (id, name, kind, owner_id, project_id, domain_id, image, image_name, apps, slots, spec,
            state, warnings, attempts, restarts, created_at, started_at, ended_at)
        SELECT 'a' || translate(lpad(to_hex(n), 11, '0'), '0189', 'ghij'), 'desk-' || n, 'interactive', u.id, p.id,
            u.domain_id, 'registry.example.org/team/image:1', 'starter', '[]',
            '{"cpu": 1000, "mem": 1073741824}', CAST(:spec AS jsonb), CAST(:state AS varchar), '[]', 0, 0,
            now() - n * interval '30 s', now() - n * interval '29 s',
            CASE WHEN :state = 'TERMINATED' THEN now() - n * interval '1 s' END
        FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) n, users u, projects p RETURNING *
    )
    INSERT INTO containers (id, session_id, role, index, host, image, slots, state, started_at, ended_at)
    SELECT id, id, 'main', 0, 'main1', image, slots, CASE state WHEN 'TERMINATED' THEN 'GONE' ELSE state END,
        started_at, ended_at
    FROM filled
"""


_MAKE_ARRAYS = """
    WITH first AS (
        SELECT id, min(id) OVER w AS array_id, row_number() OVER w AS number
        FROM sessions WINDOW w AS (PARTITION BY (substr(name, 6)::bigint - 1) / :size ORDER BY id)
    ), made AS (
        INSERT INTO session_arrays (id, name, first_index, last_index)
        SELECT id, id, 1, :size FROM first WHERE number = 1
    )
    UPDATE sessions s SET kind = 'batch', result = 'success', array_id = f.array_id, array_index = f.number
    FROM first f WHERE f.id = s.id
"""


async def make_arrays(own: ControlPlane, size: int) -> None:
    """Make arrays of all ended sessions `desk-1` and so on, in their order."""
    async with own.database.transaction() as tx:
        await tx.execute(text(_MAKE_ARRAYS), {"size": size})
        await arrays.add_up_counts(tx)
    # Every row has a dead version now, which autovacuum would remove at some time during the measurement.
    url = own.settings.database_url
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("VACUUM (ANALYZE) sessions, session_arrays, array_count_changes")


async def store(own: ControlPlane, first: int, last: int, *, state: str) -> None:
    """Sessions `desk-FIRST` to `desk-LAST`, the newest first. state: RUNNING or TERMINATED."""
    about = {"first": first, "last": last, "state": state, "spec": orjson.dumps(_SPEC.to_json()).decode()}
    async with own.database.transaction() as tx:
        await tx.execute(text(_FILL), about)
    async with own.database.transaction() as tx:
        await tx.execute(text("ANALYZE sessions, containers"))
