"""The WebSocket protocol of terminals and commands."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import orjson
from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from carrel.apps.denials import close_code, close_reason
from carrel.apps.schemas import CONTROL, ExecStart, HangUp, Resize
from carrel.apps.terminals import Terminal, TerminalAttachment, Terminals
from carrel.core.errors import CarrelError, Invalid
from carrel.engines.port import ExecStream, TerminalSize
from carrel.http.validation import refusal

_FIRST_MESSAGE_S = 30.0
_FAREWELL_S = 5.0
TRY_AGAIN_LATER = 1013


async def say(socket: WebSocket, **message: object) -> None:
    """Send a text message."""
    await socket.send_text(orjson.dumps(message).decode())


async def refuse(socket: WebSocket, error: CarrelError) -> None:
    """Close with the error as code and reason."""
    await close(socket, close_code(error), close_reason(error))


async def close(socket: WebSocket, code: int, reason: str = "") -> None:
    """Close. Closed already: no-op."""
    try:
        # A client that does not read misses the close frame; the transport is dropped after this.
        async with asyncio.timeout(_FAREWELL_S):
            await socket.close(code, reason)
    except (TimeoutError, WebSocketDisconnect, RuntimeError):
        pass


async def show_terminal(
    socket: WebSocket,
    terminals: Terminals,
    terminal: Terminal,
    record_activity: Callable[[], None],
    *,
    position: int | None,
) -> None:
    """Serve one client of a terminal until it leaves, is replaced, or the shell ends.

    record_activity: called for all input and output.
    """
    attachment = terminals.attach(terminal, position)
    try:
        await say(socket, type="ready", terminal=terminal.id, offset=attachment.position)
        await first_of(
            _send_output(socket, terminal, attachment, record_activity),
            _feed(socket, terminal.stream, record_activity, lambda: terminals.hang_up(terminal)),
            asyncio.shield(attachment.lost),
        )
        if attachment.lost.done():
            why = attachment.lost.result()
            await (refuse(socket, why) if why else close(socket, TRY_AGAIN_LATER))
    finally:
        terminals.detach(terminal, attachment)


async def _send_output(
    socket: WebSocket, terminal: Terminal, attachment: TerminalAttachment, record_activity: Callable[[], None]
) -> None:
    async for piece in attachment.pieces():
        record_activity()
        await socket.send_bytes(piece)
    if terminal.exit_code is not None:
        await say(socket, type="exit", code=terminal.exit_code)
        await close(socket, 1000)


async def receive_command(socket: WebSocket) -> ExecStart:
    """The first message of an exec. Raises: Invalid, WebSocketDisconnect."""
    try:
        async with asyncio.timeout(_FIRST_MESSAGE_S):
            message = await socket.receive()
    except TimeoutError:
        raise Invalid("invalid.command", "No command was sent.") from None
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))
    try:
        return ExecStart.model_validate_json(message.get("text") or message.get("bytes") or "")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Invalid("invalid.command", refusal(first, where), field=where) from None


async def carry_command(
    socket: WebSocket, stream: ExecStream, record_activity: Callable[[], None], lost: Awaitable[CarrelError]
) -> None:
    """Relay a command's streams until it ends, the client leaves or loses access. record_activity: called for all
    traffic.
    """

    async def send_output() -> None:
        async for number, chunk in stream.output():
            if chunk:
                record_activity()
                await socket.send_bytes(bytes((number,)) + chunk)
        await say(socket, type="exit", code=await stream.exit_code())
        await close(socket, 1000)

    async def refuse_once_lost() -> None:
        await refuse(socket, await lost)

    await first_of(send_output(), _feed(socket, stream, record_activity), refuse_once_lost())


async def _feed(
    socket: WebSocket,
    stream: ExecStream,
    record_activity: Callable[[], None],
    hang_up: Callable[[], None] | None = None,
) -> None:
    """Forward the client's messages until it leaves, with back pressure from the process. hang_up: of a terminal."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        record_activity()
        if content := message.get("bytes"):
            await stream.write(content)
        elif text := message.get("text"):
            await _control(stream, text, hang_up)


async def _control(stream: ExecStream, text: str, hang_up: Callable[[], None] | None) -> None:
    try:
        message = CONTROL.validate_json(text)
    except ValidationError:
        raise Invalid("invalid.message", "This text message is invalid.") from None
    if isinstance(message, Resize):
        await stream.resize(TerminalSize(message.cols, message.rows))
    elif isinstance(message, HangUp):
        if hang_up is None:
            raise Invalid("invalid.message", "Only terminals can be hung up.")
        hang_up()
    else:
        await stream.close_stdin()


async def first_of(*works: Awaitable[CarrelError | None]) -> None:
    """Wait for the first and cancel the others. Raises: the error of the first one."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await _cancel(tasks)
    for task in done:
        task.result()


async def _cancel(tasks: Iterable["asyncio.Future[CarrelError | None]"]) -> None:
    unfinished = [task for task in tasks if not task.done()]
    for task in unfinished:
        task.cancel()
    if unfinished:
        await asyncio.wait(unfinished)
