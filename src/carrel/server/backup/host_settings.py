"""What storage hosts are set up with besides their roots; the database has it sealed by the installation's key."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg

from carrel.core.ids import StorageHostId
from carrel.db.encryption import SecretBox
from carrel.folders.hosts.storages import opened

HostSettings = Mapping[str, Mapping[str, Any]]
"""By the name of the host; one that is not in it has none."""

# An older schema has no such column.
_SEALED = """
    SELECT name, id, sealed FROM (
        SELECT name, id, to_jsonb(storage_hosts) ->> 'settings' AS sealed FROM storage_hosts
    ) hosts WHERE sealed IS NOT NULL
"""


def read(connection: "psycopg.Connection[tuple[Any, ...]]", data_dir: Path) -> HostSettings:
    """data_dir: that of the key. Raises: Unavailable when the key is another one."""
    rows = connection.execute(_SEALED).fetchall()
    if not rows:
        return {}
    seal = SecretBox((data_dir / "key").read_bytes())
    # bytea in JSON is hexadecimal behind a \\x.
    return {
        name: opened(seal, StorageHostId(id_), bytes.fromhex(sealed.removeprefix("\\x")))
        for name, id_, sealed in rows
    }
