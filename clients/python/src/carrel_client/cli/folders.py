"""Shared code of folder commands: FOLDER:PATH arguments, and waiting for tasks."""

from __future__ import annotations

import re
import time

from carrel_client.cli.context import Context
from carrel_client.cli.output import counted
from carrel_client.cli.parser import Arguments
from carrel_client.cli.progress import ProgressLine
from carrel_client.errors import CarrelError
from carrel_client.units import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_FOLDER = re.compile(r"(\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*):(.*)", re.DOTALL)
_FASTEST_S, _SLOWEST_S = 0.1, 1.0
_DOING = {
    "clone": "copying {}",
    "move": "moving {}",
    "remove": "deleting {}",
    "copy": "copying files of {}",
    "clean": "making room in {}",
}


class FolderPath:
    """A path in a folder, as FOLDER:PATH. path: as written, without a leading slash; "" is the whole folder."""

    __slots__ = ("folder", "path")

    def __init__(self, folder: str, path: str) -> None:
        self.folder = folder
        self.path = path.lstrip("/") or ("/" if path else "")

    @property
    def inner(self) -> str:
        """The path without leading and trailing slashes."""
        return self.path.strip("/")


def place(text: str) -> FolderPath | None:
    """The parsed FOLDER:PATH; None for other text, such as ./a:b."""
    match = _FOLDER.fullmatch(text)
    return FolderPath(*match.groups()) if match else None


def inside(text: str) -> FolderPath:
    """The parsed FOLDER:PATH. Raises: CarrelError for other text."""
    match = place(text)
    if match is None:
        raise CarrelError(
            "usage", f"{text} is not a path in a folder.", status=422, hint=f"Write FOLDER:PATH, as {text}:."
        )
    return match


def of_one_folder(texts: list[str]) -> tuple[str, list[FolderPath]]:
    """The paths, which must be in one folder. Raises: CarrelError if they are not."""
    places = [inside(text) for text in texts]
    if len({each.folder for each in places}) > 1:
        raise CarrelError(
            "usage", "These are in several folders.", status=422, hint="Give paths of one folder at a time."
        )
    return places[0].folder, places


def waiting_arguments(parser: Arguments) -> None:
    parser.add_argument(
        "--no-wait", action="store_true", help="do not wait; see carrel vfolder tasks for the progress"
    )


def until_done(context: Context, task: models.TaskView) -> models.TaskView:
    """Wait for the task to end, with its progress on stderr.

    Raises: CarrelError if the task failed.
    """
    pause_s = _FASTEST_S
    with ProgressLine(after_s=1.0) as line:
        while task["ended_at"] is None:
            line.update(f"{_DOING[task['kind']].format(task['folder_name'])}: {amount(task)}", fraction(task))
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _SLOWEST_S)
            task = context.client.vfolder_tasks.show(task["id"])
    if task["state"] != "done":
        raise CarrelError(
            f"client.task_{task['state']}",
            task["problem"] or f"This was {task['state']}.",
            status=409,
            hint=f"carrel vfolder tasks --folder {task['folder_id'] or task['folder_name']}",
        )
    return task


def fraction(task: models.TaskView) -> float | None:
    """The completed fraction; None if unknown."""
    for done, total in (
        (task["done_bytes"], task["total_bytes"]),
        (task["done_files"], task["total_files"]),
    ):
        if total:
            return done / total
    return None


def amount(task: models.TaskView) -> str:
    """ "12 of 80 files, 1.2 GiB of 4 GiB"."""
    done, total = task["done_files"], task["total_files"]
    files = counted(done, "file") if total is None else f"{done:,} of {counted(total, 'file')}"
    size = format_size(task["done_bytes"])
    if task["total_bytes"] is not None:
        size += f" of {format_size(task['total_bytes'])}"
    return f"{files}, {size}"
