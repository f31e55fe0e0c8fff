"""Arrays of sessions: their names and counts, and waiting for their end."""

from __future__ import annotations

import time
from collections import Counter

from carrel_client.cli.context import Context
from carrel_client.cli.output import say
from carrel_client.cli.progress import ProgressLine
from carrel_client.client import ENDED
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_PAUSE_S = 1.0
_WORDS = {"success": "done", "failure": "failed", "timed_out": "timed out", "cancelled": "cancelled"}
_ORDER = ("pending", "starting", "running", "ending", *_WORDS.values())


def display_name(session: models.SessionView | models.SessionDetail | models.GraphNode) -> str:
    """The name of a session, or of the array that its row stands for: "train[1-100]"."""
    return array_name(session["array"]) if session["array"] else session["name"]


def array_name(array: models.ArrayView) -> str:
    """Its name with its indexes."""
    return f"{array['name']}[{array['first']}-{array['last']}]"


def is_array_name(session: models.SessionDetail, ref: str) -> bool:
    """True if the reference names the array of this session, not the session."""
    return session["array"] is not None and session["array"]["name"] == ref != session["name"]


def array_counts(array: models.ArrayView) -> str:
    """Its sessions by what they do and how they ended: "12 running, 80 done, 8 failed"."""
    counts: Counter[str] = Counter()
    for one in array["counts"]:
        counts[_word(one)] += one["count"]
    return ", ".join(f"{counts[word]} {word}" for word in _ORDER if counts[word])


def _word(one: models.ArrayCount) -> str:
    match one["state"]:
        case "PENDING" | "RUNNING":
            return one["state"].lower()
        case "SCHEDULED" | "PREPARING" | "STARTING":
            return "starting"
        case "TERMINATING":
            return "ending"
    return _WORDS[one["result"] or "cancelled"]


def wait_for_array(
    context: Context, session: models.SessionDetail, timeout_s: float | None = None
) -> models.SessionDetail:
    """Wait until all sessions of the array have ended, with their counts on stderr. Returns its first session.

    Raises: CarrelError with code client.wait_timeout.
    """
    ends_at = None if timeout_s is None else time.monotonic() + timeout_s
    name = display_name(session)
    try:
        with ProgressLine() as line:
            while True:
                session = context.client.sessions.show(session["id"])
                array = session["array"]
                assert array, "a session stays in its array"
                if all(one["state"] in ENDED for one in array["counts"]):
                    return session
                ended = sum(one["count"] for one in array["counts"] if one["state"] in ENDED)
                line.update(
                    f"{name}: {array_counts(array)}",
                    ended / (array["last"] - array["first"] + 1),
                    stage="array",
                )
                if ends_at is not None and time.monotonic() + _PAUSE_S > ends_at:
                    raise CarrelError(
                        "client.wait_timeout", f"{name} has not ended: {array_counts(array)}.", status=504
                    )
                time.sleep(_PAUSE_S)
    except KeyboardInterrupt:
        say(f"\n{name} continues; carrel session rm --array {session['id']} ends it")
        raise
