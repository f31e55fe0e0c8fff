"""Environments: made by requests, or without an engine, as rows of one that is ready."""

from typing import Any

from databases import sql
from installation import Caller
from people import eventually

from carrel.db.database import Database
from carrel.permissions.decide import Actor


async def add_environment(database: Database, environment: str, owner: Actor, name: str = "torch") -> None:
    """An environment of the owner with the versions 1 and 2, of which there are recipes."""
    await sql(
        database,
        f"""
        INSERT INTO environments (id, name, description, owner_id, domain_id, created_by, created_at, updated_at)
        VALUES ('{environment}', '{name}', '', '{owner.user_id}', '{owner.domain_id}', '{owner.user_id}', now(), now());
        INSERT INTO environment_versions (id, environment_id, name, note, state, reference, engine_id, session_name,
            container_id, base, apps, min_slots, created_at)
        SELECT 'v' || n || '{environment}', '{environment}', n, '', 'ready',
            'localhost/carrel/environments/v' || n || '{environment}:' || n, 'local', 'desk', 'c', 'debian:12', '[]',
            '{{"cpu": 10, "mem": 1}}', now()
        FROM generate_series(1, 2) n;
        INSERT INTO environment_builds (version_id, kind, dockerfile, files, added, images)
        SELECT id, 'dockerfile', 'FROM scratch', '{{}}', '{{}}', '{{}}' FROM environment_versions
        WHERE environment_id = '{environment}'
        """,
    )


async def made(caller: Caller, path: str, **body: Any) -> None:
    """Have a version saved or built, and wait until it is ready."""

    async def accepted() -> dict[str, Any] | None:
        answer = await caller.post(path, body)
        assert answer.status_code == 202 or answer.json()["code"] == "build.no_engine", answer.text
        return answer.json() if answer.status_code == 202 else None

    environment = await eventually(accepted)

    async def ready() -> bool:
        version = (await caller.get(f"/environments/{environment['id']}")).json()["versions"][0]
        assert version["state"] not in ("failed", "cancelled"), version
        return bool(version["state"] == "ready")

    await eventually(ready)
