"""A session whose app is a process of the benchmark, with a grant to open it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import orjson
from sqlalchemy import text

from bench.control_plane import EMAIL, ControlPlane
from bench.helper_process import helper
from carrel.apps import service as apps
from carrel.core.clock import SystemClock
from carrel.core.ids import SessionId, new_id
from carrel.tenancy import service as tenancy

_SESSION = """
    WITH made AS (
        INSERT INTO sessions (id, name, kind, owner_id, project_id, domain_id, image, apps, slots, spec, state,
            warnings, attempts, restarts, created_at, started_at)
        SELECT :id, 'app', 'interactive', u.id, p.id, u.domain_id, 'app', CAST(:apps AS jsonb),
            '{"cpu": 1, "mem": 1}', '{}', 'RUNNING', '[]', 0, 0, now(), now()
        FROM users u, projects p RETURNING *
    )
    INSERT INTO containers (id, session_id, role, index, host, image, slots, state, address, started_at)
    SELECT id, id, 'main', 0, 'main1', image, slots, 'RUNNING', '127.0.0.1', started_at FROM made
"""


@dataclass(frozen=True)
class OpenedApp:
    """port: the app's own. host, cookie: headers that the gateway requires."""

    port: int
    host: str
    cookie: str


@asynccontextmanager
async def app(own: ControlPlane) -> AsyncIterator[OpenedApp]:
    """An app that the gateway of this control plane proxies."""
    async with helper("bench.app_upstream") as port:
        session = SessionId(new_id())
        templates = [{"name": "web", "title": "Web", "protocol": "http", "port": port}]
        now = SystemClock().now()
        async with own.database.transaction() as tx:
            bound = {"id": session, "apps": orjson.dumps(templates).decode()}
            await tx.execute(text(_SESSION), bound)
            user = await tenancy.user_by_email(tx, EMAIL)
            assert user is not None
            owner = await tenancy.actor_of(tx, user, credential=f"keypair:{own.auth[0]}", address="")
            ticket = await apps.issue_ticket(tx, owner, session=session, app="web", now=now)
            await tx.flush()
            grant = await apps.redeem(tx, ticket=ticket.token, session=session, app="web", now=now)
        assert grant is not None
        gateway_port = own.settings.effective_gateway_port
        yield OpenedApp(
            port, f"web-{session}.localhost:{gateway_port}", f"carrel_app_web-{session}={grant.token}"
        )
