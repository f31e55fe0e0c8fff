"""What a command works with: the client of the chosen profile, and how to answer."""

from __future__ import annotations

from collections.abc import Callable

from carrel_client.cli import output
from carrel_client.client import Carrel


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
            self._client = Carrel.from_environment(self.profile)
        return self._client

    def answer(self, answer: object, show: Callable[[], None]) -> None:
        """Print the API's JSON when that was asked for, else what a person wants to see."""
        if self.as_json:
            output.print_json(answer)
        else:
            show()
