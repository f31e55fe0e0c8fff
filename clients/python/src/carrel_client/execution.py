"""Remote commands and terminals in sessions, over a channel."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from carrel_client.channel import Channel, ChannelBroken
from carrel_client.errors import CarrelError
from carrel_client.transport import Transport, segment

STDOUT, STDERR = 1, 2


class Output(NamedTuple):
    """A chunk of a command's output; stream is STDOUT or STDERR."""

    stream: int
    content: bytes


class Completed(NamedTuple):
    """The result of an ended command."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class Execution:
    """A command in a session. Feed input, call `step`, and read the exit code when it is no longer None."""

    def __init__(
        self,
        transport: Transport,
        ref: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        tty: tuple[int, int] | None = None,
        container: str | None = None,
    ) -> None:
        query = {"container": container} if container else {}
        self._channel = Channel(transport, f"/api/v1/sessions/{segment(ref)}/exec", query=query)
        self.exit_code: int | None = None
        cols, rows = tty or (80, 24)
        start = {
            "command": list(command),
            "env": dict(env or {}),
            "tty": tty is not None,
            "cols": cols,
            "rows": rows,
        }
        self._channel.send(json.dumps(start))

    @property
    def backlog(self) -> int:
        """How many bytes of input wait to be sent."""
        return self._channel.backlog

    def send(self, content: bytes) -> None:
        """Queue input for the command."""
        self._channel.send(content)

    def end_input(self) -> None:
        """Close the command's standard input."""
        self._channel.send('{"type":"eof"}')

    def resize(self, cols: int, rows: int) -> None:
        """Tell the command's terminal its new size."""
        self._channel.send(resize_message(cols, rows))

    def step(
        self, watched: tuple[int, ...] = (), *, timeout_s: float | None = None
    ) -> tuple[list[Output], set[int]]:
        """Wait for output or for input on a watched descriptor; both may be empty.

        Raises: CarrelError, also when the connection breaks, because a command cannot be joined again.
        """
        try:
            messages, readable = self._channel.step(watched, timeout_s=timeout_s)
        except ChannelBroken as broken:
            raise _lost(broken) from broken
        outputs = []
        for message in messages:
            if isinstance(message, bytes):
                if message:
                    outputs.append(Output(message[0], message[1:]))
            else:
                self._note(json.loads(message))
        if self._channel.ended and self.exit_code is None and not messages:
            raise _lost(ChannelBroken("the server closed it"))
        return outputs, readable

    def __iter__(self) -> Iterator[Output]:
        """The output until the command ends."""
        while self.exit_code is None:
            yield from self.step()[0]

    def close(self) -> None:
        """Disconnect; a running command sees the end of its input and output."""
        self._channel.close()

    def __enter__(self) -> Execution:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _note(self, message: dict[str, object]) -> None:
        if message.get("type") == "exit":
            self.exit_code = _code(message)


class RemoteTerminal:
    """A terminal in a session that survives network failures.

    `step` gives output; after ChannelBroken call `rejoin`, which continues where the output stopped.
    fresh: whether the shell is a new one since the last `rejoin` (the old one was gone).
    """

    def __init__(
        self,
        transport: Transport,
        ref: str,
        *,
        cols: int,
        rows: int,
        terminal_id: str | None = None,
        container: str | None = None,
    ) -> None:
        self._transport = transport
        self._container = container
        self._path = f"/api/v1/sessions/{segment(ref)}/terminal"
        self._size = (cols, rows)
        self.id = terminal_id
        self._offset = 0
        self.fresh = False
        self.exit_code: int | None = None
        self._channel = self._join()

    @property
    def backlog(self) -> int:
        """How many bytes of input wait to be sent."""
        return self._channel.backlog

    def send(self, content: bytes) -> None:
        """Queue keystrokes."""
        self._channel.send(content)

    def end_input(self) -> None:
        """Type the key that ends input."""
        self.send(b"\x04")

    def resize(self, cols: int, rows: int) -> None:
        """Tell the terminal its new size."""
        self._size = (cols, rows)
        self._channel.send(resize_message(cols, rows))

    def step(
        self, watched: tuple[int, ...] = (), *, timeout_s: float | None = None
    ) -> tuple[list[Output], set[int]]:
        """Wait for output or for input on a watched descriptor; a terminal has only one stream, STDOUT.

        Raises: ChannelBroken when the connection is lost, CarrelError when the server ends it.
        """
        messages, readable = self._channel.step(watched, timeout_s=timeout_s)
        outputs = []
        for message in messages:
            if isinstance(message, bytes):
                outputs.append(Output(STDOUT, message))
                self._offset += len(message)
            else:
                self._note(json.loads(message))
        if self._channel.ended and self.exit_code is None and not messages:
            raise ChannelBroken("the server closed it")
        return outputs, readable

    def rejoin(self) -> None:
        """Connect again; the server replays what was missed.

        Raises: CarrelError, with status 503 or 504 while there is still no connection.
        """
        self._channel.close()
        self.fresh = False
        self._channel = self._join()

    def close(self) -> None:
        """Leave; the shell keeps running for a while, see `id`."""
        self._channel.close()

    def _join(self) -> Channel:
        cols, rows = self._size
        query: dict[str, object] = {"cols": cols, "rows": rows}
        if self._container:
            query["container"] = self._container
        if self.id:
            query |= {"terminal": self.id, "offset": self._offset}
        return Channel(self._transport, self._path, query=query)

    def _note(self, message: dict[str, object]) -> None:
        kind = message.get("type")
        if kind == "ready":
            self.id = str(message.get("terminal"))
            self._offset = int(str(message.get("offset", 0)))
        elif kind == "gone":
            self.fresh = True
        elif kind == "exit":
            self.exit_code = _code(message)


def run(
    transport: Transport,
    ref: str,
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None,
    stdin: bytes,
    container: str | None = None,
) -> Completed:
    """The command's exit code and all of its output, after it got all of stdin."""
    outputs: dict[int, list[bytes]] = {STDOUT: [], STDERR: []}
    with Execution(transport, ref, command, env=env, container=container) as execution:
        for start in range(0, len(stdin), 65536):
            execution.send(stdin[start : start + 65536])
        execution.end_input()
        for output in execution:
            outputs[output.stream].append(output.content)
        return Completed(execution.exit_code or 0, b"".join(outputs[STDOUT]), b"".join(outputs[STDERR]))


def resize_message(cols: int, rows: int) -> str:
    """The message that tells a terminal its size."""
    return json.dumps({"type": "resize", "cols": cols, "rows": rows})


def _code(message: dict[str, object]) -> int:
    code = message.get("code")
    return code if isinstance(code, int) else 1


def _lost(broken: ChannelBroken) -> CarrelError:
    return CarrelError(
        "client.connection_lost",
        f"The connection to the command was lost: {broken}.",
        status=503,
        hint="The command may still run; use a terminal for work that must survive a bad network.",
    )
