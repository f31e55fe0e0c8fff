"""All controllers of one leader, wired together."""

from collections.abc import Sequence

from carrel.controllers.audit_sealing import Seal
from carrel.controllers.drain import Vacate
from carrel.controllers.folder_tasks import Folders
from carrel.controllers.housekeeping import Housekeeping
from carrel.controllers.idle import Idle
from carrel.controllers.launch import Launch
from carrel.controllers.loop import Controller, Tools
from carrel.controllers.mail_delivery import Post
from carrel.controllers.observe import Observe
from carrel.controllers.reap import Reap
from carrel.controllers.schedule import Schedule
from carrel.controllers.storage_monitor import Storage
from carrel.controllers.usage_sampling import Usage


def controllers(tools: Tools) -> Sequence[Controller]:
    """In an order that a simulation can step through."""
    launch = Launch(tools)
    return (
        Observe(tools),
        Schedule(tools),
        Vacate(tools),
        launch,
        Reap(tools, launch),
        Usage(tools),
        Idle(tools),
        Storage(tools),
        Folders(tools),
        Seal(tools),
        Post(tools),
        Housekeeping(tools),
    )
