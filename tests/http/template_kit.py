"""Templates for the tests of the API."""

from typing import Any

from installation import Caller
from session_kit import SMALL

PARAMETERS = [
    {"name": "epochs", "type": "integer", "min": 1, "max": 100, "description": "Passes over the data."},
    {"name": "tag", "type": "choice", "choices": ["red", "blue"], "default": "red"},
]
TRAINING = {
    "image": "debian:12",
    "kind": "batch",
    "slots": SMALL,
    "command": ["train", "--epochs", "${epochs}", "$HOME"],
    "env": {"TOKEN": "secret", "TAG": "${tag}"},
}


async def saved(caller: Caller, name: str = "training", **fields: object) -> dict[str, Any]:
    """A template as the API shows it right after it was saved."""
    body = {"name": name, "parameters": PARAMETERS, "session": TRAINING, **fields}
    answer = await caller.post("/templates", body)
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def started(caller: Caller, ref: str, **body: object) -> dict[str, Any]:
    """A session of a template as the API shows it right after the start."""
    answer = await caller.post(f"/templates/{ref}/start", body)
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]
