"""`--watch` beside a server that is away for a moment."""

import argparse
import threading
from collections.abc import Iterator

import pytest
from carrel_client.cli import watching
from carrel_client.cli.context import Context
from carrel_client.errors import CarrelError

_ENDED = 7


class _Events:
    """A connection that says hello and stays well."""

    def follow(self) -> Iterator[dict[str, str]]:
        yield {"kind": "hello"}
        threading.Event().wait()


class _Client:
    events = _Events()


def test_a_list_that_a_busy_server_refused_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_POLL_S", 0.0)
    context = Context(profile=None, output="json")
    context._client = _Client()  # type: ignore[assignment]
    answers = [CarrelError("database.unavailable", "Busy.", status=503), _ENDED]

    def run(_args: argparse.Namespace, _context: Context) -> int:
        answer = answers.pop(0)
        if isinstance(answer, CarrelError):
            raise answer
        return answer

    codes: list[int] = []
    thread = threading.Thread(
        target=lambda: codes.append(watching.watch(argparse.Namespace(), context, run, ("session",))),
        daemon=True,
    )
    thread.start()
    thread.join(20)
    assert codes == [_ENDED]
