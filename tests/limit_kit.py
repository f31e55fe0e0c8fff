"""Limits, changed behind everybody's back: of default policies, and ceilings of projects."""

import json

from databases import sql

from carrel.core.ids import ProjectId
from carrel.db.database import Database
from carrel.tables.limits import DEFAULT_POLICIES


async def limit(database: Database, policy: str, **limits: object) -> None:
    """Change some limits of a policy: the default one of a kind ("keypair", "user" or "project"), or one by its id."""
    await sql(
        database,
        "UPDATE resource_policies SET limits = limits || CAST(:limits AS jsonb) WHERE id = :id",
        limits=json.dumps(limits),
        id=DEFAULT_POLICIES.get(policy, policy),
    )


async def set_ceilings(database: Database, project: ProjectId, **ceilings: int) -> None:
    """What a project may use at most, and nothing of what was said before."""
    await sql(
        database,
        "UPDATE projects SET ceilings = CAST(:ceilings AS jsonb) WHERE id = :id",
        ceilings=json.dumps(ceilings),
        id=project,
    )
