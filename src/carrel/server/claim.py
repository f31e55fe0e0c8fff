"""The installation's label in its engines, and its identity there."""

import hashlib
import socket
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from carrel.core.host_names import is_this_machine
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.engines.port import Claimant
from carrel.server.settings import Settings

_MACHINE_ID = Path("/etc/machine-id")


def claimant(settings: Settings) -> Claimant:
    """The location of this installation's database: equal in all its processes, different in every copy.

    An embedded database is identified by its data directory on this machine; an external one by host, port and name in
    its URL, which must therefore be the same for all processes that share it.
    """
    data_dir = settings.data_dir.resolve()
    if settings.database_url in ("", Embedded(data_dir / "postgres").url):
        # The inode too: containers on one machine may use the same path for different directories.
        parts = [_machine(), str(data_dir), str(data_dir.stat().st_ino)]
        place = f"{data_dir} on {socket.gethostname()}"
    else:
        address = conninfo_to_dict(settings.database_url)
        host, port = str(address.get("host") or ""), str(address.get("port") or 5432)
        name = str(address.get("dbname") or address.get("user") or "")
        local = not host or host.startswith("/") or is_this_machine(host)
        parts = [_machine() if local else "", host.lower(), port, name]
        place = f"the database {name} at {host or 'localhost'}:{port}"
    return Claimant(hashlib.sha256("\0".join(parts).encode()).hexdigest(), place)


async def label(settings: Settings, database: Database) -> str:
    """The label of the installation's containers in the engine."""
    from carrel.site import service as site

    async with database.transaction() as tx:
        return settings.installation or await site.label(tx)


def _machine() -> str:
    try:
        return _MACHINE_ID.read_text().strip() or socket.gethostname()
    except OSError:
        return socket.gethostname()
