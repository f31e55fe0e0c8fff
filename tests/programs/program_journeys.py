"""What the journeys through programs share."""

from collections.abc import Callable

from e2e.running import Running
from playwright.sync_api import Page

SESSION = "desk"
FOLDER = "experiments"
"""Mounted in the session's home."""
STARTS_S = 120
STARTS_MS = STARTS_S * 1000
Opened = Callable[..., Page]
"""Opens an app in the tab: `opened("gradio", file="app.py")`."""


def begin(carrel: Running, image: str) -> None:
    """Start the session, with a folder mounted."""
    size = ("--cpu", "2", "--mem", "4g", "--mount", f"{FOLDER}:/home/work/{FOLDER}")
    for words in (
        ("vfolder", "create", FOLDER),
        ("session", "create", "--image", image, *size, "--name", SESSION, "--wait"),
    ):
        done = carrel.carrel(*words)
        assert done.returncode == 0, done.stderr
