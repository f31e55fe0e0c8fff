"""What controllers work with, where a test has one of them step by hand."""

from directories import directory
from installation import only

from carrel.controllers.loop import Tools
from carrel.core.clock import Clock, SystemClock
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.leader import Leader
from carrel.engines.fake import FakeEngine
from carrel.folders.hosts.storages import Storages
from carrel.sessions.logs.store import LogStore

_LOGS = directory("carrel-logs-")
"""Of all of them: containers have ids of their own."""


def tools(
    database: Database, leader: Leader, *, clock: Clock | None = None, storages: Storages | None = None
) -> Tools:
    """Over a fake engine with one node."""
    engines = only(database, FakeEngine())
    seal = SecretBox(b"0" * 32)
    logs = LogStore(_LOGS)
    return Tools(
        database, engines, clock or SystemClock(), leader, seal, storages or Storages(database), logs
    )
