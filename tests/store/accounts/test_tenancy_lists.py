"""Lists of people among many: by an index, whatever is asked for."""

from dataclasses import replace

import pytest
from databases import sql
from people import People
from query_plans import plans
from sqlalchemy import text

from carrel.accounts.users import queries
from carrel.accounts.users.schemas import UserQuery
from carrel.db.database import Database
from carrel.permissions.actions import Role

MANY = 20_000


@pytest.fixture
async def crowd(database: Database, people: People) -> Database:
    """A database of many users, each in a project."""
    async with database.transaction() as tx:
        await tx.execute(
            text("""INSERT INTO users (id, domain_id, email, name, role, created_at, last_seen_at)
                SELECT 'u' || n, :domain, 'u' || md5(n::text) || '@example.org', 'Name ' || md5('n' || n), 'user',
                    now() - n * interval '1 minute', CASE WHEN n % 3 > 0 THEN now() - n * interval '1 s' END
                FROM generate_series(1, :many) n"""),
            {"domain": people.domain, "many": MANY},
        )
        await tx.execute(
            text(
                "INSERT INTO memberships (project_id, user_id, admin) "
                "SELECT :p, id, false FROM users WHERE id ~ '^u[0-9]+$'"
            ),
            {"p": people.other_project},
        )
    await sql(database, "ANALYZE")
    return database


async def plan(database: Database, actor, **params: object) -> str:  # type: ignore[no-untyped-def]
    """How PostgreSQL answers the list."""
    return await plans(database, lambda tx: queries.page(tx, actor, UserQuery(**params)))  # type: ignore[arg-type]


BY_INDEX: list[tuple[dict[str, object], str]] = [
    ({"q": "a1b2c3"}, "ix_users_searched"),
    ({"q": "a1b2c3", "sort": "email"}, "ix_users_searched"),
    ({}, "created_at_id"),
    ({"sort": "email"}, "uq_users_email"),
    ({"sort": "-email"}, "uq_users_email"),
    ({"sort": "name"}, "ix_users_name_id"),
    ({"sort": "-last_seen_at"}, "ix_users_last_seen_at_id"),
    ({"sort": "last_seen_at"}, "ix_users_last_seen_at_id"),
]


async def test_a_page_is_found_by_an_index_and_begins_where_the_last_one_ended(
    crowd: Database, people: People
):
    for role in (Role.SUPERADMIN, Role.DOMAIN_ADMIN):
        for params, index in BY_INDEX:
            query_plan = await plan(crowd, replace(people.superadmin, role=role), **params)
            assert index in query_plan, (role, params, query_plan)
            assert "Seq Scan on users" not in query_plan, (role, params, query_plan)
    async with crowd.transaction() as tx:
        first = await queries.page(tx, people.superadmin, UserQuery(sort="name", limit=5))
    query_plan = await plan(crowd, people.superadmin, sort="name", limit=5, cursor=first.next_cursor)
    assert "Index Cond: (ROW(lower" in query_plan, query_plan


async def test_who_administers_a_project_gets_its_members_without_looking_at_everybody(
    crowd: Database, people: People
):
    lead = replace(people.user, administers=frozenset({people.project}))
    query_plan = await plan(crowd, lead)
    assert "Seq Scan on users" not in query_plan, query_plan
    async with crowd.transaction() as tx:
        page = await queries.page(tx, lead, UserQuery(limit=200))
    assert {user.email.split("@")[0] for user in page.items} == {"admin", "user", "colleague"}
