"""What a command works with: the client of the chosen profile, and how to answer."""

from __future__ import annotations

import sys
from collections.abc import Callable

from carrel_client.cli import output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client.cli.progress import Progress
    from carrel_client.client import Carrel

_PATIENCE_S = 2.0


class Context:
    """The surroundings of one run of a command."""

    def __init__(self, *, profile: str | None, as_json: bool) -> None:
        self.profile = profile
        self.as_json = as_json
        self._client: Carrel | None = None

    @property
    def client(self) -> Carrel:
        """The client, made when it is first needed.

        Raises: CarrelError when nobody is signed in.
        """
        if self._client is None:
            from carrel_client.client import Carrel  # help does not need it

            self._client = Carrel.from_environment(self.profile)
            if sys.stderr.isatty():
                self._client.transport.waiting = self._waiting
        return self._client

    def _waiting(self) -> Progress:
        from carrel_client.cli.progress import Progress

        line = Progress(after_s=_PATIENCE_S)
        line.update(f"Waiting for {self.client.transport.target.url}")
        return line

    def answer(self, answer: object, show: Callable[[], None]) -> None:
        """Print the API's JSON when that was asked for, else what a person wants to see."""
        if self.as_json:
            output.print_json(answer)
        else:
            show()
