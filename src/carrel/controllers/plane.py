"""All controllers of one leader, wired together."""

from collections.abc import Sequence

from carrel.controllers.folders import Folders
from carrel.controllers.housekeeping import Housekeeping
from carrel.controllers.idle import Idle
from carrel.controllers.launch import Launch
from carrel.controllers.loop import Controller, Tools
from carrel.controllers.observe import Observe
from carrel.controllers.post import Post
from carrel.controllers.reap import Reap
from carrel.controllers.schedule import Schedule
from carrel.controllers.seal import Seal
from carrel.controllers.storage import Storage
from carrel.controllers.usage import Usage
from carrel.controllers.vacate import Vacate


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
