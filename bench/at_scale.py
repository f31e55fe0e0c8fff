"""Lists of users and of the audit trail with 100,000 users and 5,000,000 entries, against a small database.

Both contain enough rows to fill the same pages; they are measured alternately, each over one connection.
"""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx2
import psycopg

from bench.control_plane import ControlPlane, control_plane
from bench.load import load, median, request
from bench.table import Line
from carrel.core.clock import SystemClock
from carrel.signin.keypairs import service as keypairs
from carrel.tenancy import service as tenancy

_ROUNDS = 5
_SECONDS = 0.4
_GOAL = 1.5


@dataclass(frozen=True)
class _Size:
    domains: int
    projects: int
    users: int
    entries: int


_SMALL = _Size(domains=2, projects=40, users=100, entries=4000)
_LARGE = _Size(domains=20, projects=2000, users=100_000, entries=5_000_000)

_ID = "'{0}' || translate(lpad(to_hex({1}), 11, '0'), '0189', 'ghij')"
_DOMAIN, _PROJECT, _USER = (_ID.format(letter, "{}") for letter in "dpu")
_USERS = (
    f"""INSERT INTO domains (id, name) SELECT {_DOMAIN.format("n")}, 'place-' || n
        FROM generate_series(0, %(domains)s - 1) n""",  # noqa: S608 - no input in any of these
    f"""INSERT INTO projects (id, domain_id, name)
        SELECT {_PROJECT.format("n")}, {_DOMAIN.format("n %% %(domains)s")}, 'work-' || n
        FROM generate_series(0, %(projects)s - 1) n""",  # noqa: S608
    f"""INSERT INTO users (id, domain_id, email, name, role, state, created_at, last_seen_at)
        SELECT {_USER.format("n")}, {_DOMAIN.format("n %% %(domains)s")}, 'person' || n || '@example.org',
            CASE WHEN n %% (%(users)s / 40) = 0 THEN 'Zeta ' ELSE 'Person ' END || n,
            CASE n WHEN 0 THEN 'domain_admin' ELSE 'user' END, 'active',
            now() - n * interval '5 min', now() - n * interval '1 min'
        FROM generate_series(0, %(users)s - 1) n""",  # noqa: S608
    f"""INSERT INTO memberships (project_id, user_id, admin)
        SELECT {_PROJECT.format("(n / %(domains)s) %% (%(projects)s / %(domains)s) * %(domains)s + n %% %(domains)s")},
            {_USER.format("n")}, false FROM generate_series(0, %(users)s - 1) n""",  # noqa: S608
)
_ENTRIES = f"""
    INSERT INTO audit (at, actor_id, actor_email, action, object_kind, object_id, object_name, owner_id,
        domain_id, outcome, reason, credential, address, request_id, details, position, hash)
    SELECT now() - (%(entries)s - n) * (interval '1 year' / %(entries)s),
        {_USER.format("who")}, 'person' || who || '@example.org', what, split_part(what, '.', 1),
        's' || n / 10, CASE WHEN n %% (%(entries)s / 40) = 7 THEN 'thesis-' ELSE 'desk-' END || n,
        {_USER.format("who")}, {_DOMAIN.format("who %% %(domains)s")},
        CASE WHEN n %% 50 = 0 THEN 'refused' ELSE 'done' END, '', 'cookie',
        '10.0.' || who / 250 %% 250 || '.' || who %% 250,
        'a1b2c3d4e5f60718', '{{"after": {{"image": "debian:12"}}}}', n, sha256(n::text::bytea)
    FROM (SELECT n, abs(hashint8(n)::bigint) %% %(users)s AS who,
        CASE WHEN n %% (%(entries)s / 40) = 3 THEN 'site.update' WHEN n %% 20 = 0 THEN 'auth.login'
            WHEN n %% 7 = 0 THEN 'session.exec' ELSE 'session.create' END AS what
        FROM generate_series(1, %(entries)s) n) each
"""  # noqa: S608 - no input in it


@dataclass(frozen=True)
class _Query:
    """One request. who: superadmin, domain admin or user."""

    name: str
    who: str
    path: str


def _queries() -> Sequence[_Query]:
    begin = datetime.now(UTC) - timedelta(days=200)
    month = f"from={begin:%Y-%m-%d}&to={begin + timedelta(days=30):%Y-%m-%d}"
    lists = (
        ("users", "superadmin", "/users?limit=20"),
        ("users by e-mail", "superadmin", "/users?limit=20&sort=email"),
        ("users, part of a name", "superadmin", "/users?limit=20&q=zeta"),
        ("users of a domain", "domain admin", "/users?limit=20"),
        ("projects", "superadmin", "/projects?limit=20"),
        ("projects, part of a name", "superadmin", "/projects?limit=20&q=ork-"),
        ("audit", "superadmin", "/audit?limit=20"),
        ("audit of a domain", "domain admin", "/audit?limit=20"),
        ("my activity", "user", "/audit?limit=20"),
        ("audit, part of a name", "superadmin", "/audit?limit=20&q=thesis"),
        ("audit, a rare action", "superadmin", "/audit?limit=20&action=site.update"),
        ("audit, a kind of actions", "superadmin", "/audit?limit=20&action=auth.*"),
        ("audit of one person", "superadmin", "/audit?limit=20&actor=person1@example.org"),
        ("audit of one object", "superadmin", "/audit?limit=10&object_id=s100"),
        ("audit, refused", "superadmin", "/audit?limit=20&outcome=refused"),
        ("audit, refused in a domain", "domain admin", "/audit?limit=20&outcome=refused"),
        ("audit, a month of last year", "superadmin", f"/audit?limit=20&{month}"),
    )
    return [_Query(*each) for each in lists]


async def measure() -> list[Line]:
    async with AsyncExitStack() as stack:
        small = await stack.enter_async_context(control_plane(controllers=False))
        large = await stack.enter_async_context(control_plane(controllers=False))
        _fill(small, _SMALL)
        began = time.perf_counter()
        _fill(large, _LARGE)
        sys.stderr.write(f"filled in {time.perf_counter() - began:.0f} s\n")
        ask_small, ask_large = await _asking(small), await _asking(large)
        return [await _compared(query, ask_small, ask_large) for query in _queries()]


_Ask = Callable[[_Query], bytes]


async def _compared(
    query: _Query, small: tuple[ControlPlane, _Ask], large: tuple[ControlPlane, _Ask]
) -> Line:
    times: dict[str, list[float]] = {"small": [], "large": []}
    for _ in range(_ROUNDS):
        for name, (own, ask) in (("small", small), ("large", large)):
            result = await load(ask(query), own.port, seconds=_SECONDS, connections=1)
            times[name].append(result.percentile(50))
    ours, floor = median(times["large"]), median(times["small"])
    return Line(
        f"{query.name}, 100,000 users, 5,000,000 entries",
        f"{ours:.1f} ms",
        f"GET {query.path.split('?')[0]} as {query.who}; floor: 100 users, 4,000 entries",
        ratio=ours / floor,
        floor=f"{floor:.1f} ms",
        goal=_GOAL,
    )


async def _asking(own: ControlPlane) -> tuple[ControlPlane, _Ask]:
    """The raw requests, each of which has been sent once."""
    basic = {"superadmin": own.basic}
    for who, email in (("domain admin", "person0@example.org"), ("user", "person2@example.org")):
        async with own.database.transaction() as tx:
            user = await tenancy.user_by_email(tx, email)
            assert user is not None
            actor = await tenancy.actor_of(tx, user, credential="bench", address="")
            pair = await keypairs.create(tx, SystemClock(), actor)
        basic[who] = str(httpx2.BasicAuth(pair.access_key, pair.secret_key)._auth_header)

    def ask(query: _Query) -> bytes:
        return request(f"{own.url}/api/v1{query.path}", Authorization=basic[query.who])

    async with httpx2.AsyncClient(base_url=f"{own.url}/api/v1", timeout=60) as client:
        for query in _queries():
            answer = await client.get(query.path, headers={"Authorization": basic[query.who]})
            count, expected = len(answer.json()["items"]), int(query.path.split("limit=")[1].split("&")[0])
            assert count == expected, f"{query.name}: {count} rows instead of {expected}: {answer.text[:300]}"
    return own, ask


def _fill(own: ControlPlane, size: _Size) -> None:
    """Insert rows before creating indexes, which takes a tenth of the time."""
    with psycopg.connect(own.database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET maintenance_work_mem = '512MB'")
        for statement in _USERS:
            connection.execute(statement, vars(size))
        indexes = connection.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'audit' AND indexname <> 'pk_audit'"
        ).fetchall()
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        connection.execute(_ENTRIES, vars(size))
        for _, definition in indexes:
            connection.execute(definition)
        connection.execute("VACUUM ANALYZE")
