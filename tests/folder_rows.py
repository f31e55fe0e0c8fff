"""Storage hosts and folders on record, without the storage behind them."""

from typing import Any

import psycopg


def add_host(
    connection: psycopg.Connection[Any], id: str, root: object, *, name: str = "", kind: str = "posix"
) -> None:
    """A storage host that is in order; its name is its id unless there is another."""
    connection.execute(
        "INSERT INTO storage_hosts (id, name, backend, root, state, created_at) VALUES (%s, %s, %s, %s, 'ok', now())",
        (id, name or id, kind, str(root)),
    )


def add_folder(
    connection: psycopg.Connection[Any], id: str, host: str, *, owner: str, domain: str, scope: str, name: str
) -> None:
    """A folder that is ready, of somebody who made it."""
    connection.execute(
        "INSERT INTO vfolders (id, name, host_id, owner_id, domain_id, scope, state, created_by, created_at)"
        " VALUES (%(id)s, %(name)s, %(host)s, %(owner)s, %(domain)s, %(scope)s, 'READY', %(owner)s, now())",
        {"id": id, "name": name, "host": host, "owner": owner, "domain": domain, "scope": scope},
    )
