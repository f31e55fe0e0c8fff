"""The context of a command: the client of the selected profile, and the output format."""

from __future__ import annotations

import sys
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client.cli.formats import Writer
    from carrel_client.cli.progress import ProgressLine
    from carrel_client.client import ApiClient

_PATIENCE_S = 2.0


class Context:
    """The context of one command run. structured: the output is for programs, see `formats`."""

    def __init__(self, *, profile: str | None, output: str) -> None:
        self.profile = profile
        self.structured = output != "table"
        self.output = output
        self._client: ApiClient | None = None
        self._writer: Writer | None = None

    @property
    def client(self) -> ApiClient:
        """The client, created on first use.

        Raises: CarrelError when nobody is signed in.
        """
        if self._client is None:
            from carrel_client.client import ApiClient  # help does not need it

            self._client = ApiClient.from_environment(self.profile)
            if sys.stderr.isatty():
                self._client.transport.waiting = self._waiting
        return self._client

    @property
    def writer(self) -> Writer:
        """The writer of structured output."""
        if self._writer is None:
            from carrel_client.cli.formats import Writer  # a table does not need it

            self._writer = Writer(self.output)
        return self._writer

    def _waiting(self) -> ProgressLine:
        from carrel_client.cli.progress import ProgressLine

        line = ProgressLine(after_s=_PATIENCE_S)
        line.update(f"Waiting for {self.client.transport.target.url}")
        return line

    def answer(self, answer: object, show: Callable[[], None]) -> None:
        """Print the API's response in the selected format, or the human-readable output."""
        if self.structured:
            self.writer.write(answer)
        else:
            show()

    def stream(self, answer: object, show: Callable[[], None]) -> None:
        """Print one response of a stream immediately."""
        if self.structured:
            self.writer.write_line(answer)
        else:
            show()
            sys.stdout.flush()
