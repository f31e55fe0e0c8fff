"""Settings of storage hosts besides their roots; the database stores them sealed with the installation's key."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg

from carrel.core.ids import StorageHostId
from carrel.db.encryption import SecretBox
from carrel.folders.hosts.storages import opened

HostSettings = Mapping[str, Mapping[str, Any]]
"""By host name; a missing host has no settings."""

# Older schemas lack this column.
_SEALED = """
    SELECT name, id, sealed FROM (
        SELECT name, id, to_jsonb(storage_hosts) ->> 'settings' AS sealed FROM storage_hosts
    ) hosts WHERE sealed IS NOT NULL
"""


def read(connection: "psycopg.Connection[tuple[Any, ...]]", data_dir: Path) -> HostSettings:
    """The settings of all hosts. data_dir: contains the key. Raises: Unavailable if the key does not match."""
    rows = connection.execute(_SEALED).fetchall()
    if not rows:
        return {}
    seal = SecretBox((data_dir / "key").read_bytes())
    # bytea in JSON is hexadecimal with prefix \\x.
    return {
        name: opened(seal, StorageHostId(id_), bytes.fromhex(sealed.removeprefix("\\x")))
        for name, id_, sealed in rows
    }
