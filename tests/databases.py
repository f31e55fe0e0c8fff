"""Databases for tests. One that a test leaves with the catalogue it was made with is emptied and lent again."""

import itertools
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from alembic import command
from people import People
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import create_engine, text

from carrel.db import revision
from carrel.db.connecting import driver_url
from carrel.db.database import Database
from carrel.db.migrate import configuration

TEMPLATE = "template_carrel"


async def sql(database: Database, statement: str, **bound: object) -> list[tuple]:  # type: ignore[type-arg]
    """Run one statement in a transaction of its own, past every rule; its rows."""
    async with database.transaction() as tx:
        result = await tx.execute(text(statement), bound)
        return [tuple(row) for row in result] if result.returns_rows else []


async def scalar(database: Database, statement: str, **bound: object) -> Any:
    """The one value that a statement gives."""
    [[value]] = await sql(database, statement, **bound)
    return value


# Foreign keys and triggers (an audit trail that nothing leaves) rest while this goes on. What many tests have written
# to is truncated: rows that were deleted take space until somebody cleans up.
_EMPTY = """
DO $$
DECLARE one record;
BEGIN
  SET LOCAL session_replication_role = replica;
  FOR one IN SELECT oid, oid::regclass AS name, pg_relation_size(oid) AS bytes FROM pg_class
             WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'
             ORDER BY pg_relation_size(oid) DESC LOOP
    IF one.bytes > 131072 THEN EXECUTE format('TRUNCATE %s CASCADE', one.name);
    ELSIF one.bytes > 0 THEN EXECUTE format('DELETE FROM %s', one.name);
    END IF;
  END LOOP;
END $$
"""
_KEEP = """
DO $$
DECLARE one record;
BEGIN
  CREATE SCHEMA {0};
  FOR one IN SELECT relname AS name FROM pg_class
             WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'
             AND pg_relation_size(oid) > 0 LOOP
    EXECUTE format('CREATE TABLE {0}.%I AS TABLE public.%I', one.name, one.name);
  END LOOP;
  CREATE TABLE {0}._counters AS SELECT sequencename, start_value, last_value FROM pg_sequences
    WHERE schemaname = 'public';
END $$
"""
_RESTORE = """
DO $$
DECLARE one record;
BEGIN
  SET LOCAL session_replication_role = replica;
  FOR one IN SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ') AS columns
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = ('public.' || quote_ident(c.relname))::regclass
             WHERE c.relkind = 'r' AND c.relnamespace = '{0}'::regnamespace AND c.relname <> '_counters'
             AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' GROUP BY 1 LOOP
    EXECUTE format('INSERT INTO public.%I (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM {0}.%I',
                   one.name, one.columns, one.columns, one.name);
  END LOOP;
  PERFORM setval(('public.' || quote_ident(sequencename))::regclass, coalesce(last_value, start_value),
                 last_value IS NOT NULL) FROM {0}._counters;
END $$
"""
# What a test may have changed besides rows: tables, columns, constraints, triggers, settings, statistics.
_CATALOGUE = """
SELECT md5(concat_ws(';',
  (SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
  (SELECT count(*) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
   WHERE relnamespace = 'public'::regnamespace AND NOT attisdropped),
  (SELECT string_agg(conname, ',' ORDER BY conname) FROM pg_constraint WHERE connamespace = 'public'::regnamespace),
  (SELECT string_agg(tgname || tgenabled::text, ',' ORDER BY tgname) FROM pg_trigger WHERE NOT tgisinternal),
  (SELECT string_agg(setconfig::text, ',') FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase
   WHERE datname = current_database()),
  (SELECT count(*) FROM pg_stats WHERE schemaname = 'public')))
"""
_END_CONNECTIONS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def in_database(url: str, name: str) -> str:
    """The same server, another database."""
    head, _, query = url.partition("?")
    base = head.rsplit("/", 1)[0]
    return f"{base}/{name}?{query}" if query else f"{base}/{name}"


@asynccontextmanager
async def no_connections(database: Database) -> AsyncIterator[None]:
    """Its server ends all connections to the database, and accepts no more while the block lasts."""
    name = conninfo_to_dict(database.url)["dbname"]
    server = in_database(database.url, "postgres")
    async with await psycopg.AsyncConnection.connect(server, autocommit=True) as admin:
        await admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        await admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
        )
        try:
            yield
        finally:
            await admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


def bring_to(url: str, schema: str) -> None:
    """Bring a database to an earlier schema, from before or after it."""
    engine = create_engine(driver_url(url))
    try:
        with engine.begin() as connection:
            config = configuration()
            config.attributes["connection"] = connection
            behind = (revision.current(url) or "") > schema
            (command.downgrade if behind else command.upgrade)(config, schema)
    finally:
        engine.dispose()


@dataclass
class Lent:
    """A migrated database without rows other than those of the migrations."""

    url: str
    catalogue: str
    people: People | None = None
    """Who is in the rows that `keep_people` kept."""

    def keep_people(self, people: People) -> None:
        """They are in these rows; `restore("people")` brings them back."""
        self._run(_KEEP.format("people"))
        self.people = people

    def restore(self, rows: str) -> None:
        """rows: `migrated`, those of the migrations; or `people`, those that were kept."""
        self._run(_EMPTY, _RESTORE.format(rows))

    def is_as_made(self) -> bool:
        """Nobody is connected any more, and nothing but rows has changed."""
        try:
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute(_END_CONNECTIONS)
                return catalogue(connection) == self.catalogue
        except psycopg.OperationalError:  # a test forbade connections, or dropped it
            return False

    def _run(self, *statements: str) -> None:
        with psycopg.connect(self.url) as connection:
            for statement in statements:
                connection.execute(statement)


def catalogue(connection: psycopg.Connection) -> str:
    [description] = connection.execute(_CATALOGUE).fetchone() or ("",)
    return str(description)


@dataclass
class Databases:
    """Those of one server, whose template has been migrated."""

    server: str
    _free: list[Lent] = field(default_factory=list)
    _serial: itertools.count = field(default_factory=itertools.count)  # type: ignore[type-arg]

    def lend(self) -> Lent:
        if self._free:
            lent = self._free.pop()
            lent.restore("migrated")
            return lent
        name = f"test_{os.getpid()}_{next(self._serial)}"
        self._administer(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
        url = in_database(self.server, name)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_KEEP.format("migrated"))
            return Lent(url, catalogue(connection))

    def take_back(self, lent: Lent) -> None:
        if lent.is_as_made():
            self._free.append(lent)
        else:
            name = lent.url.partition("?")[0].rsplit("/", 1)[1]
            self._administer(f"DROP DATABASE {name} WITH (FORCE)")

    def _administer(self, statement: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(statement)
