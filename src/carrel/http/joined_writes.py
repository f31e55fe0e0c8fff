"""Write the head of a response together with what follows: one system call, and the client is woken once."""

from asyncio import AbstractEventLoop, Handle, Transport

_START = b"HTTP/1."


class JoinedWrites:
    """A response's transport. A head is held back until the next write, at most until the loop's next turn."""

    def __init__(self, transport: Transport, loop: AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""
        self._due: Handle | None = None

    def write(self, data: bytes) -> None:
        head, self._head = self._head, b""
        if head:
            self._transport.writelines((head, data))
        elif data.startswith(_START):
            self._head = data
            if self._due is None:
                self._due = self._loop.call_soon(self._flush_when_due)
        else:
            self._transport.write(data)

    def flush(self) -> None:
        """Write a head that is held back."""
        head, self._head = self._head, b""
        if head:
            self._transport.write(head)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def _flush_when_due(self) -> None:
        self._due = None
        self.flush()
