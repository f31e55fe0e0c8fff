"""Commands that fail to start: the error message and exit code, instead of the runtime's own."""

from collections.abc import AsyncIterator

from carrel.engines.port import TerminalSize

_MAY_NOT_RUN = 126
_NOT_THERE = 127


class RefusedProcess:
    """An ended `ExecStream` with the error on stderr."""

    def __init__(self, code: int, sentence: str, *, with_terminal: bool = False) -> None:
        self.code = code
        self.sentence = sentence
        self._with_terminal = with_terminal

    async def output(self) -> AsyncIterator[tuple[int, bytes]]:
        if self._with_terminal:
            yield 1, f"{self.sentence}\r\n".encode()
        else:
            yield 2, f"{self.sentence}\n".encode()

    async def write(self, chunk: bytes) -> None:
        """Ignore input."""

    async def close_stdin(self) -> None: ...

    async def resize(self, size: TerminalSize) -> None: ...

    async def exit_code(self) -> int:
        return self.code


def missing(name: str, *, with_terminal: bool = False) -> RefusedProcess:
    """The process of a missing command."""
    return RefusedProcess(
        _NOT_THERE, f"There is no command {name} in this session.", with_terminal=with_terminal
    )


def forbidden(name: str, *, with_terminal: bool = False) -> RefusedProcess:
    """The process of a file that the session's user cannot execute."""
    return RefusedProcess(
        _MAY_NOT_RUN, f"{name} may not be run as a command in this session.", with_terminal=with_terminal
    )


def unstartable(name: str, why: str, *, with_terminal: bool = False) -> RefusedProcess:
    """The process of a command that failed to start for another reason."""
    return RefusedProcess(
        _MAY_NOT_RUN, f"The command {name} could not be started: {why}.", with_terminal=with_terminal
    )
